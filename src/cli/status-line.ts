/** Says what a run is doing while it does it: phase, turn, tokens, pressure, time. */
import type { SessionEvent } from "../core/event.ts";
import { addUsage, type Usage } from "../core/usage.ts";
import type { BottomLine } from "./bottom-line.ts";

/** How full the model's context is. */
export type Pressure = { tokens: number; window: number; share: number };
/** The session that is looked at. */
type Source = { pressure(): Pressure; readonly stateValue: string };
type Paint = (text: string) => string;
type Time = () => number;

/** How often it is drawn anew while nothing happens, for the time on it. */
const REDRAW_MS = 1_000;

/** Follows the events of one run and keeps the bottom line up to date. */
export class StatusLine {
  readonly #line: BottomLine;
  readonly #session: Source;
  readonly #paint: Paint;
  readonly #now: Time;
  readonly #since: number;
  readonly #timer: NodeJS.Timeout;
  readonly #running = new Map<string, string>();
  #turn = 0;
  #usage: Usage = {};

  constructor(line: BottomLine, session: Source, paint: Paint = (text) => text, now: Time = Date.now) {
    this.#line = line;
    this.#session = session;
    this.#paint = paint;
    this.#now = now;
    this.#since = now();
    this.#timer = setInterval(() => this.draw(), REDRAW_MS).unref();
  }

  /** Takes in what happened, and shows it. */
  see(event: SessionEvent): void {
    switch (event.type) {
      case "phase.started":
      case "run.waiting":
      case "approval.requested":
        break;
      case "turn.started":
        this.#turn = event.turn;
        break;
      case "model.completed":
      case "model.failed":
        this.#usage = addUsage(this.#usage, event.usage);
        break;
      case "tool.started":
        this.#running.set(event.callId, event.name);
        break;
      case "tool.settled":
        this.#running.delete(event.callId);
        break;
      case "exchange.committed":
        this.#running.clear();
        break;
      default:
        return;
    }
    this.draw();
  }

  /** Shows how things stand. */
  draw(): void {
    const { input = 0, output = 0 } = this.#usage;
    const tokens = input + output;
    const { share } = this.#session.pressure();
    const parts = [
      [doing(this.#session.stateValue), ...new Set(this.#running.values())].join(" "),
      this.#turn ? `turn ${this.#turn}` : "",
      tokens ? `${short(tokens)} tokens` : "",
      share > 0 ? `${percent(share)} of the window` : "",
      duration(this.#now() - this.#since),
    ];
    this.#line.draw(`… ${parts.filter(Boolean).join(" · ")}`, this.#paint);
  }

  /** Takes the line away for good. */
  end(): void {
    clearInterval(this.#timer);
    this.#line.clear();
  }
}

/** What the machine's state means to somebody who waits: mostly the name of the phase. */
function doing(stateValue: string): string {
  switch (stateValue) {
    case "act.approving":
      return "waiting for a decision";
    case "receive.waiting":
      return "waiting for background work";
    case "reason.backingOff":
      return "waiting to try again";
    default:
      return stateValue.split(".", 1)[0]!;
  }
}

/** 950, 12.3k, 1.2M. */
export function short(n: number): string {
  if (n < 1_000) return String(n);
  return n < 999_950 ? `${(n / 1_000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

const percent = (share: number): string => (share < 0.01 ? "<1 %" : `${Math.round(share * 100)} %`);

/** 0:07, 12:30, 1:02:03. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (n: number) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}
