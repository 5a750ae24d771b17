/** Schemas translated: from zod and others to JSON Schema for the model, from JSON Schema to zod for validating. */
import { z } from "zod";
import { AgentError } from "./core/errors.ts";
import type { Json } from "./core/message.ts";
import type { JsonSchema } from "./ports.ts";

/** What this runtime needs of https://standardschema.dev, with the JSON Schema extension where a library has it. */
export type StandardSchema = {
  readonly "~standard": {
    readonly version: number;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: never }) => object } | undefined;
  };
};
/** What validating gives. */
export type StandardResult =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };
/** One mistake and its place. */
export type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** The error for an input schema that cannot be used; `path` says where in it. */
export const refused = (path: string, why: string, cause?: unknown): AgentError =>
  new AgentError("invalid_options", `input${path}: ${why}`, { cause });

/** What a zod schema takes, before conversion. @throws AgentError `invalid_options` with the place of what JSON lacks */
export function fromZod(schema: z.ZodType): JsonSchema {
  const unrepresentable = ({ path, message }: { path: (string | number)[]; message: string }): never => {
    throw refused(readablePath(path), `${message}; use a type that JSON has, and convert it`);
  };
  try {
    return z.toJSONSchema(schema, { io: "input", unrepresentable }) as JsonSchema;
  } catch (error) {
    throw error instanceof AgentError ? error : refused("", messageOf(error), error);
  }
}

/** What a Standard Schema says of itself. @throws AgentError `invalid_options` when it says nothing */
export function fromStandard(schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (!jsonSchema)
    throw refused("", `a schema of ${vendor} cannot give its JSON Schema: pass that beside it, as \`parameters\``);
  try {
    return jsonSchema.input({ target: "draft-2020-12" as never }) as JsonSchema;
  } catch (error) {
    throw refused("", `${vendor} cannot express it in JSON Schema: ${messageOf(error)}`, error);
  }
}

/** `["properties", "a", "items", "properties", "b"]` → `.a[].b`. */
function readablePath(path: readonly (string | number)[]): string {
  let readable = "";
  for (let i = 0; i < path.length; i++)
    switch (path[i]) {
      case "properties":
        readable += `.${path[++i]}`;
        break;
      case "items":
        readable += "[]";
        break;
      case "prefixItems":
        readable += `[${path[++i]}]`;
        break;
      default:
        readable += `.${path[i]}`;
    }
  return readable;
}

/** Older documents keep their parts under another name, and do not always say so. */
const dialect = (schema: JsonSchema) => (schema.definitions ? ({ defaultTarget: "draft-7" } as const) : {});

/** A JSON Schema as a validator. @throws AgentError `invalid_options` with the place of what cannot be used */
export function toZod(schema: JsonSchema): z.ZodType {
  const whole = typed(schema);
  try {
    return z.fromJSONSchema(whole as never, dialect(whole));
  } catch (error) {
    const { path, why } = offender(whole, whole, []) ?? { path: [], why: messageOf(error) };
    throw refused(readablePath(path), why, error);
  }
}

/**
 * Says `object` and `array` where a schema only has their parts. Strictly, such parts would bind nothing but objects and
 * arrays and let anything else through, which is never what was meant.
 */
function typed(schema: JsonSchema): JsonSchema {
  const whole: JsonSchema = { ...schema };
  if (schema.type === undefined && schema.properties) whole.type = "object";
  if (schema.type === undefined && (schema.items || schema.prefixItems)) whole.type = "array";
  for (const key of SCHEMAS_BY_NAME)
    if (asRecord(schema[key])) {
      const parts = Object.entries(asRecord(schema[key])!);
      whole[key] = Object.fromEntries(
        parts.map(([name, part]) => [name, asRecord(part) ? typed(part as JsonSchema) : part]),
      );
    }
  for (const key of SCHEMAS) if (asRecord(schema[key])) whole[key] = typed(schema[key] as JsonSchema);
  for (const key of LISTS_OF_SCHEMAS)
    if (Array.isArray(schema[key]))
      whole[key] = schema[key].map((part) => (asRecord(part) ? typed(part as JsonSchema) : part));
  return whole;
}

/** Where a schema has further schemas in it. */
const SCHEMAS_BY_NAME = ["properties", "patternProperties", "$defs", "definitions"] as const;
const SCHEMAS = ["items", "additionalProperties", "contains", "propertyNames"] as const;
const LISTS_OF_SCHEMAS = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;

/** The innermost part of a JSON Schema that cannot be used by itself either. */
function offender(
  schema: JsonSchema,
  root: JsonSchema,
  path: (string | number)[],
): { path: (string | number)[]; why: string } | undefined {
  for (const [way, part] of partsOf(schema)) {
    const found = offender(part, root, [...path, ...way]);
    if (found) return found;
  }
  const { $defs = {}, definitions } = root;
  try {
    z.fromJSONSchema({ $defs, ...(definitions ? { definitions } : {}), ...schema } as never, dialect(root));
    return undefined;
  } catch (error) {
    return { path, why: messageOf(error) };
  }
}

/** The schemas directly inside a schema, each with the way there. */
function* partsOf(schema: JsonSchema): Generator<[(string | number)[], JsonSchema]> {
  for (const key of SCHEMAS_BY_NAME)
    for (const [name, part] of Object.entries(asRecord(schema[key]) ?? {}))
      if (asRecord(part)) yield [[key, name], part as JsonSchema];
  for (const key of SCHEMAS) if (asRecord(schema[key])) yield [[key], schema[key] as JsonSchema];
  for (const key of LISTS_OF_SCHEMAS)
    for (const [i, part] of (Array.isArray(schema[key]) ? schema[key] : []).entries())
      if (asRecord(part)) yield [[key, i], part as JsonSchema];
}

const asRecord = (value: unknown): Record<string, Json> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, Json>) : undefined;

/** What an error says, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
