/** Schemas that are made when they are first needed: most processes parse few of them, and all of them import this. */
import type { z } from "zod";

/** An object whose schemas are made once each, on first access. */
export function lazySchemas<T extends { [name: string]: () => z.ZodType }>(
  makers: T,
): { readonly [K in keyof T]: ReturnType<T[K]> } {
  const made = {} as { [K in keyof T]: ReturnType<T[K]> };
  for (const name of Object.keys(makers))
    Object.defineProperty(made, name, {
      enumerable: true,
      configurable: true,
      get() {
        const value = makers[name]!();
        Object.defineProperty(made, name, { value, enumerable: true });
        return value;
      },
    });
  return made;
}
