/** Shows a run to a person, as it happens. */
import type { SessionEvent } from "../core/event.ts";
import { textOf } from "../core/message.ts";
import type { Usage } from "../core/usage.ts";
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
        return this.line(yellow("  the answer broke off; trying again"));
      case "compaction.started":
        return this.line(dim(`· compact: ${event.kind} (${event.reason})`));
      case "model.failed":
        return this.line(yellow(`  ${event.failure.class}: ${oneLine(event.failure.message, 200)}`));
      case "approval.requested":
        return this.line(yellow(`  ${event.requests.length} call(s) need approval`));
      case "tool.started":
        return this.line(`${cyan(`→ ${event.name}`)} ${dim(oneLine(JSON.stringify(event.args), 140))}`);
      case "tool.settled":
        this.#seen.add(event.callId);
        return this.#result(event.name, event.status, textOf(event.output));
      case "exchange.committed":
        for (const r of event.results) if (!this.#seen.has(r.callId)) this.#result(r.name, r.status, r.text ?? "");
        return;
      case "run.waiting":
        return this.line(dim(`· waiting for ${event.tasks.length} background task(s)`));
      case "input.refused":
        return this.line(red(`  refused: ${oneLine(event.reason)}`));
      default:
        return;
    }
  }

  #result(name: string, status: string, output: string): void {
    const { green, red, dim } = this.#style;
    const mark = status === "ok" ? green("✓") : red("✗");
    const size = output.length > 80 ? dim(` (${output.length} characters)`) : "";
    this.line(`${mark} ${name}${status === "ok" ? "" : ` ${red(status)}`} ${dim(oneLine(output, 80))}${size}`);
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

  line(text: string): void {
    this.#endLine();
    this.#out.write(`${text}\n`);
  }
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
