/** Several models as one: the next one is asked when one cannot be reached, lets nobody in, or fails for good. */
import { AgentError } from "../../core/errors.ts";
import type { FailureClass } from "../../core/failure.ts";
import type { ModelPort } from "../../ports.ts";

/** Failures that another model may not have. A malformed stream is tried again with the same one. */
const passedOn: ReadonlySet<FailureClass> = new Set<FailureClass>(["timeout", "auth", "fatal"]);

/**
 * A {@link ModelPort} that asks the first model, and after a `timeout`, `auth` or `fatal` failure the next one, within the
 * same turn and without waiting; the rest of the run stays with the one that answered. Each attempt is in the journal,
 * with the model that stood in. What one provider wants back of its own (signatures, encrypted reasoning) is never sent to
 * another. The window is the smallest one; prices and enforced output shapes count only when all models have them.
 * @throws AgentError `invalid_options` for anything but a list of models
 */
export function fallback(models: readonly ModelPort[]): ModelPort {
  if (!Array.isArray(models) || models.length === 0 || models.some((m) => typeof m?.stream !== "function"))
    throw new AgentError(
      "invalid_options",
      "fallback(): expected a list of models, such as [openai({ … }), openai({ … })]",
    );
  const names = models.map((m, i) => (models.findIndex((o) => o.id === m.id) === i ? m.id : `${m.id}#${i + 1}`));
  const place = (prefer: string | undefined) => Math.max(0, prefer === undefined ? 0 : names.indexOf(prefer));
  const windows = models.flatMap((m) => m.window ?? []);
  return {
    id: names.join(" | "),
    ...(windows.length > 0 && { window: Math.min(...windows) }),
    priced: models.every((m) => m.priced === true),
    structured: models.every((m) => m.structured === true),
    standIn: (failure, failed) => (passedOn.has(failure.class) ? names[place(failed) + 1] : undefined),
    stream({ prefer, ...request }, options) {
      return models[place(prefer)]!.stream(request, options);
    },
  };
}
