/** Lets the host watch an actor with XState's own observer shape. What it throws goes no further than the log. */
import type { InspectionEvent } from "xstate";
import type { Parts } from "./agent.ts";

export function observing({ inspect, logger }: Parts): { inspect?: (event: InspectionEvent) => void } {
  if (!inspect) return {};
  const observe = typeof inspect === "function" ? inspect : (event: InspectionEvent) => inspect.next?.(event);
  return {
    inspect: (event) => {
      try {
        observe(event);
      } catch (error) {
        logger.warn(`An inspector threw: ${String(error)}`);
      }
    },
  };
}
