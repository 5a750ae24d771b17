/** Schemas written in other words than JSON Schema's: Python type names, OpenAPI 3.0, Gemini's capitals. */
import type { Json } from "./core/message.ts";
import { refused } from "./tool-schema.ts";
import type { JsonSchema } from "./ports.ts";

/** What other dialects call the types of JSON, beside their own names. */
const synonyms: { readonly [type: string]: string } = {
  object: "dict map hashmap struct",
  array: "list tuple set arraylist",
  string: "str char text date datetime",
  number: "float double decimal",
  integer: "int long short byte bigint",
  boolean: "bool",
  null: "none nonetype",
};
const types = new Map(
  Object.entries(synonyms).flatMap(([type, words]) => [type, ...words.split(" ")].map((word) => [word, type] as const)),
);

/**
 * A schema of another dialect as JSON Schema, for `tool({ input })`. Types are translated in any case (`dict`, `float`,
 * `tuple`, `STRING`, `any`); OpenAPI's `nullable` becomes a union with `null`; a property that says `required: true` of
 * itself is listed as required, one that says `optional: true` is not. Everything else stays as it is.
 * @throws AgentError `invalid_options` for a type that has no translation, with its place
 */
export function fromDialect(schema: { readonly [key: string]: unknown }): JsonSchema {
  return translate(schema as JsonSchema, "");
}

function translate(schema: JsonSchema, path: string): JsonSchema {
  const { type, nullable, required, optional: _, properties, items, ...rest } = schema;
  const made: JsonSchema = {};
  const named = type === undefined ? undefined : typeOf(type, path);
  if (named !== undefined) made.type = nullable === true ? [named, "null"].flat() : named;
  Object.assign(made, rest);
  if (isSchema(properties)) {
    made.properties = mapValues(properties, (part, name) => translate(part, `${path}.${name}`));
    const needed = requiredOf(properties, required);
    if (needed.length) made.required = needed;
  }
  if (Array.isArray(items)) made.prefixItems = items.map((part, i) => asSchema(part, `${path}[${i}]`));
  else if (items !== undefined) made.items = asSchema(items, `${path}[]`);
  for (const key of ["anyOf", "oneOf", "allOf"])
    if (Array.isArray(rest[key])) made[key] = rest[key].map((part) => asSchema(part, path));
  if (isSchema(rest.additionalProperties))
    made.additionalProperties = translate(rest.additionalProperties, `${path}.*`);
  return made;
}

const isSchema = (value: Json | undefined): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const asSchema = (value: Json, path: string): Json => (isSchema(value) ? translate(value, path) : value);

const mapValues = (record: JsonSchema, map: (part: JsonSchema, name: string) => Json): JsonSchema =>
  Object.fromEntries(Object.entries(record).map(([name, part]) => [name, isSchema(part) ? map(part, name) : part]));

/** Undefined for a type that binds nothing. */
function typeOf(type: Json, path: string): string | string[] | undefined {
  if (Array.isArray(type)) {
    const each = type.map((one) => typeOf(one, path));
    return each.includes(undefined) ? undefined : (each.flat() as string[]);
  }
  if (typeof type !== "string") throw refused(path, "a type must be a word");
  const word = type.toLowerCase();
  if (word === "any") return undefined;
  const known = types.get(word);
  if (known === undefined) throw refused(path, `the type "${type}" has no translation; say it in JSON Schema's words`);
  return known;
}

function requiredOf(properties: JsonSchema, listed: Json | undefined): string[] {
  const says = (name: string, what: string) => isSchema(properties[name]) && properties[name][what] === true;
  const names = new Set(Array.isArray(listed) ? listed.filter((n) => typeof n === "string") : []);
  for (const name of Object.keys(properties)) if (says(name, "required")) names.add(name);
  return [...names].filter((name) => !says(name, "optional"));
}
