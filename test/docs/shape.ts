/** How a zod schema reads as a type, and which of them have a name. */
import type { z } from "zod";

type Def = {
  type: string;
  shape?: { [key: string]: z.ZodType };
  element?: z.ZodType;
  innerType?: z.ZodType;
  valueType?: z.ZodType;
  options?: readonly z.ZodType[];
  entries?: { [key: string]: string };
  values?: readonly unknown[];
  defaultValue?: unknown;
};
const defOf = (schema: z.ZodType): Def => schema.def as Def;

export type Field = { key: string; type: string; optional: boolean; preset: string | undefined };

/** The fields of an object schema, in its order. `names` are shown instead of what they stand for. */
export function fieldsOf(schema: z.ZodType, names: ReadonlyMap<z.ZodType, string>): Field[] {
  return Object.entries(defOf(schema).shape ?? {}).map(([key, field]) => {
    const { type, innerType, defaultValue } = defOf(field);
    const open = type === "optional" || type === "default";
    return {
      key,
      type: typeOf(open ? innerType! : field, names),
      optional: type === "optional",
      preset: type === "default" ? JSON.stringify(defaultValue) : undefined,
    };
  });
}

/** A schema as the type it stands for. */
export function typeOf(schema: z.ZodType, names: ReadonlyMap<z.ZodType, string>): string {
  return names.get(schema) ?? spell(schema, names);
}

/** A schema spelled out, even when it has a name. */
export function spell(schema: z.ZodType, names: ReadonlyMap<z.ZodType, string>): string {
  const def = defOf(schema);
  switch (def.type) {
    case "object": {
      const fields = fieldsOf(schema, names).map(fieldText);
      return fields.length ? `{ ${fields.join("; ")} }` : "{}";
    }
    case "array": {
      const element = typeOf(def.element!, names);
      return element.includes(" | ") && !element.startsWith("{") ? `(${element})[]` : `${element}[]`;
    }
    case "enum":
      return Object.values(def.entries!)
        .map((word) => JSON.stringify(word))
        .join(" | ");
    case "literal":
      return def.values!.map((value) => JSON.stringify(value)).join(" | ");
    case "union":
      return def.options!.map((option) => typeOf(option, names)).join(" | ");
    case "optional":
    case "default":
      return typeOf(def.innerType!, names);
    case "record":
      return `{ [name]: ${typeOf(def.valueType!, names)} }`;
    case "string":
    case "number":
    case "boolean":
    case "any":
      return def.type;
    default:
      throw new Error(`test/docs/shape.ts cannot spell a schema of type ${def.type}`);
  }
}

/** The parts of a union, or the schema alone. */
export const partsOf = (schema: z.ZodType, names: ReadonlyMap<z.ZodType, string>): string[] =>
  (defOf(schema).options ?? [schema]).map((option) => typeOf(option, names));

/** `key?: type`, with its default where it has one. */
export const fieldText = (f: Field): string =>
  `${f.key}${f.optional ? "?" : ""}: ${f.type}${f.preset === undefined ? "" : ` = ${f.preset}`}`;
