/** Shows a run to a person, as it happens. */
import type { SessionEvent } from "../core/event.ts";
import { textOf } from "../core/message.ts";
import { plural, verb } from "../core/plural.ts";
import type { Usage } from "../core/usage.ts";
import type { RunResult } from "../session/run.ts";
import { oneLine, printable, type Style } from "./terminal.ts";

type Sink = { write(text: string): unknown };

/** Writes events of a run. Text goes out as it comes; everything else is a line of its own. */
export class Renderer {
  readonly #out: Sink;
  readonly #style: Style;
  #midLine = false;
  #thinking = false;
  readonly #seen = new Set<string>();

  constructor(out: Sink, style: Style) {
    this.#out = out;
    this.#style = style;
  }

  /** Shows one event; those that mean nothing to a person are passed over. */
  show(event: SessionEvent): void {
    const { dim, cyan, yellow, red } = this.#style;
    switch (event.type) {
      case "phase.started":
        return event.phase === "compact" ? undefined : this.line(dim(`· ${event.phase}`));
      case "part.started":
        this.#thinking = event.kind === "thinking";
        return;
      case "part.delta":
        return event.kind === "tool-call" ? undefined : this.#text(event.delta);
      case "part.ended":
        return this.#endLine();
      case "attempt.discarded":
        return this.line(yellow("  trying again"));
      case "compaction.started":
        return this.line(dim(`· compact: ${event.kind} (${event.reason})`));
      case "model.failed":
        return this.line(yellow(`  ${event.failure.class}: ${oneLine(event.failure.message, 200)}`));
      case "approval.requested":
        return this.line(
          yellow(`  ${plural(event.requests.length, "call")} ${verb(event.requests.length, "needs", "need")} approval`),
        );
      case "tool.started":
        return this.line(`${cyan(`→ ${printable(event.name)}`)} ${dim(oneLine(JSON.stringify(event.args), 140))}`);
      case "tool.settled":
        this.#seen.add(event.callId);
        return this.line(resultLine(event.name, event.status, textOf(event.output), this.#style));
      case "exchange.committed":
        for (const { callId, name, status, text } of event.results)
          if (!this.#seen.has(callId)) this.line(resultLine(name, status, text ?? "", this.#style));
        return;
      case "run.waiting":
        return this.line(dim(`· waiting for ${plural(event.tasks.length, "background task")}`));
      case "input.refused":
        return this.line(red(`  refused: ${oneLine(event.reason)}`));
      default:
        return;
    }
  }

  #text(delta: string): void {
    const text = printable(delta);
    this.#out.write(this.#thinking ? this.#style.dim(text) : text);
    this.#midLine = !delta.endsWith("\n");
  }

  #endLine(): void {
    if (this.#midLine) this.#out.write("\n");
    this.#midLine = false;
  }

  /** A line of its own, whatever stood there before. */
  line(text: string): void {
    this.#endLine();
    this.#out.write(`${text}\n`);
  }
}

/** How a call ended: its status unless all is well, the first line of its output, and how much more there is. */
export function resultLine(name: string, status: string, text: string, { green, red, dim }: Style): string {
  const first = text.split("\n", 1)[0]!;
  const shown = oneLine(first, 100);
  const size = text.trimEnd().length > shown.length ? ` (${plural(text.length, "character")})` : "";
  const state = status === "ok" ? green("✓") : red("✗");
  const output = shown || size ? ` ${dim(`${shown}${size}`)}` : "";
  return `${state} ${printable(name)}${status === "ok" ? "" : ` ${red(status)}`}${output}`;
}

/** How the run ended, after how many turns, and for how many tokens. */
export function endingLine({ status, turns, usage }: RunResult, { dim, red, yellow }: Style): string {
  const paint = { completed: dim, failed: red }[status as string] ?? yellow;
  return `${dim("·")} ${paint(status)} ${dim(`· ${plural(turns, "turn")} · ${usageLine(usage)}`)}`;
}

/** Usage in one line; what was not reported is left out. */
export function usageLine(usage: Usage): string {
  const parts = [
    usage.input === undefined ? "" : `${usage.input} in`,
    usage.cacheRead ? `${usage.cacheRead} cached` : "",
    usage.output === undefined ? "" : `${usage.output} out`,
    usage.reasoning ? `${usage.reasoning} reasoning` : "",
    usage.costUsd === undefined ? "" : `$${usage.costUsd.toFixed(4)}`,
  ].filter(Boolean);
  return parts.length ? `tokens: ${parts.join(", ")}` : "tokens: not reported";
}
