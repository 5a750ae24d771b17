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

/** A schema that is made when it is first used, and is like any other to whoever uses it. */
export function lazily<T extends object>(make: () => T): T {
  let made: T | undefined;
  const real = () => (made ??= make());
  return new Proxy(Object.create(null) as T, {
    get: (_, key) => Reflect.get(real(), key),
    has: (_, key) => key in real(),
    getPrototypeOf: () => Object.getPrototypeOf(real()),
  });
}
