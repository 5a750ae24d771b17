/** An output schema as OpenAI's APIs take it. */
import type { Json } from "../../core/message.ts";
import type { JsonSchema, OutputSpec } from "../../ports.ts";

/** `response_format` of Chat Completions. */
export const chatFormat = ({ name, schema }: OutputSpec): object => ({
  type: "json_schema",
  json_schema: { name, schema, strict: isStrict(schema) },
});

/** `text.format` of Responses. */
export const responsesFormat = ({ name, schema }: OutputSpec): object => ({
  type: "json_schema",
  name,
  schema,
  strict: isStrict(schema),
});

/** Keywords that strict mode knows; with any other one the provider refuses the schema. */
const KNOWN = new Set(
  (
    "type title description enum const properties required additionalProperties items anyOf $ref $defs definitions " +
    "pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems"
  ).split(" "),
);

/**
 * Whether the provider can enforce a schema to the letter: every object closed, every property required, no keyword
 * beyond its subset. Others are asked for without `strict`, and checked by the runtime all the same.
 */
export function isStrict(schema: Json | undefined): boolean {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema === undefined;
  if (Object.keys(schema).some((keyword) => !KNOWN.has(keyword))) return false;
  const { type, properties, required, additionalProperties, items, anyOf, $defs, definitions } = schema;
  if (type === "object" || properties !== undefined) {
    if (additionalProperties !== false) return false;
    const listed = Array.isArray(required) ? required : [];
    if (Object.keys((properties ?? {}) as JsonSchema).some((name) => !listed.includes(name))) return false;
  }
  const inside = [properties, $defs, definitions].flatMap((parts) => Object.values((parts ?? {}) as JsonSchema));
  return [...inside, items, ...((anyOf ?? []) as Json[])].every(isStrict);
}
