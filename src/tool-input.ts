/** The schemas that a tool's input may be given in, each turned into a JSON Schema and a way to validate. */
import { z } from "zod";
import { AgentError } from "./core/errors.ts";
import type { Json } from "./core/message.ts";
import type { JsonSchema, ParsedArgs } from "./ports.ts";

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
type StandardResult =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };
type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** A zod schema, any Standard Schema, or a JSON Schema. */
export type ToolInput = z.ZodType | StandardSchema | { readonly [key: string]: unknown };

/** What `execute` gets: the output type of the schema; `any` for JSON Schema, which has no type to infer. */
export type ArgsOf<S> = S extends z.ZodType
  ? z.output<S>
  : S extends { readonly "~standard": { readonly types?: infer T } }
    ? NonNullable<T> extends { readonly output: infer O }
      ? O
      : any
    : any;

/** A schema ready for use. */
export type CompiledInput = { parameters: JsonSchema; parse: (args: Json) => ParsedArgs | Promise<ParsedArgs> };

/**
 * Compiles a schema. `parameters` is the JSON Schema to show instead of what the schema would give.
 * @throws AgentError `invalid_options` for what a model cannot be told in JSON Schema, with the place
 */
export function compileInput(input: unknown, parameters: JsonSchema | undefined): CompiledInput {
  if (isZod(input))
    return { parameters: asObject(parameters ?? fromZod(input)), parse: (args) => parseZod(input, args) };
  if (isStandard(input))
    return { parameters: asObject(parameters ?? fromStandard(input)), parse: (args) => parseStandard(input, args) };
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw refused("", "expected a zod schema, a Standard Schema or a JSON Schema");
  const schema = asObject(input as JsonSchema);
  const validator = toZod(schema);
  return { parameters: parameters ?? schema, parse: (args) => parseZod(validator, args) };
}

const isZod = (input: unknown): input is z.ZodType => typeof input === "object" && input !== null && "_zod" in input;

/** Some libraries make their schemas functions. */
const isStandard = (input: unknown): input is StandardSchema =>
  ((typeof input === "object" && input !== null) || typeof input === "function") && "~standard" in input;

const refused = (path: string, why: string, cause?: unknown): AgentError =>
  new AgentError("invalid_options", `input${path}: ${why}`, { cause });

/** Arguments of a call are an object; a schema that says anything else could never be met. */
function asObject(schema: JsonSchema): JsonSchema {
  const { $schema: _, ...rest } = schema;
  if (rest.type === undefined && rest.properties !== undefined) return { ...rest, type: "object" };
  if (rest.type !== "object") throw refused("", "must describe an object; put it into a property of one");
  return rest;
}

/* ---------------------------------------------------------------- to JSON Schema */

function fromZod(schema: z.ZodType): JsonSchema {
  const unrepresentable = ({ path, message }: { path: (string | number)[]; message: string }): never => {
    throw refused(readablePath(path), `${message}; use a type that JSON has, and convert it`);
  };
  try {
    return z.toJSONSchema(schema, { io: "input", unrepresentable }) as JsonSchema;
  } catch (error) {
    throw error instanceof AgentError ? error : refused("", messageOf(error), error);
  }
}

function fromStandard(schema: StandardSchema): JsonSchema {
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

/* ---------------------------------------------------------------- from JSON Schema */

/** Older documents keep their parts under another name, and do not always say so. */
const dialect = (schema: JsonSchema) => (schema.definitions ? ({ defaultTarget: "draft-7" } as const) : {});

function toZod(schema: JsonSchema): z.ZodType {
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

/* ---------------------------------------------------------------- validating */

function parseZod(schema: z.ZodType, args: Json): ParsedArgs | Promise<ParsedArgs> {
  try {
    return fromResult(schema.safeParse(args));
  } catch (error) {
    if (!(error instanceof z.core.$ZodAsyncError)) return broken(error);
    return schema.safeParseAsync(args).then(fromResult, broken);
  }
}

const fromResult = (result: z.ZodSafeParseResult<unknown>): ParsedArgs =>
  result.success
    ? { ok: true, value: result.data }
    : { ok: false, error: sentences(result.error.issues.flatMap(flat)) };

/** A union says only that nothing fits; the alternative that fits best is what was meant. */
function flat(issue: z.core.$ZodIssue): StandardIssue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const nearest = issue.errors.reduce((a, b) => (distance(b) < distance(a) ? b : a));
  return nearest.flatMap((inner) => flat({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** A mistake inside is nearer than being something else altogether. */
const distance = (issues: readonly z.core.$ZodIssue[]): number =>
  issues.length + (issues.some(({ path }) => path.length === 0) ? 1_000 : 0);

function parseStandard(schema: StandardSchema, args: Json): ParsedArgs | Promise<ParsedArgs> {
  try {
    const result = schema["~standard"].validate(args);
    return result instanceof Promise ? result.then(fromStandardResult, broken) : fromStandardResult(result);
  } catch (error) {
    return broken(error);
  }
}

const fromStandardResult = (result: StandardResult): ParsedArgs =>
  result.issues ? { ok: false, error: sentences(result.issues) } : { ok: true, value: result.value };

/** A check of the schema's own threw: arguments that cannot be checked are not used. */
const broken = (error: unknown): ParsedArgs => ({
  ok: false,
  error: `Invalid arguments: they could not be checked (${messageOf(error)}).`,
});

/** All mistakes in one text that a model can act on: one line each, with the place. */
function sentences(issues: readonly StandardIssue[]): string {
  const lines = issues.map(({ path = [], message }) => {
    const place = path.map((p) => (typeof p === "object" ? p.key : p)).reduce<string>(joinPlace, "");
    return place ? `- ${place}: ${message}` : `- ${message}`;
  });
  return `Invalid arguments:\n${[...new Set(lines)].join("\n")}`;
}

const joinPlace = (place: string, key: PropertyKey): string =>
  typeof key === "number" ? `${place}[${key}]` : place ? `${place}.${String(key)}` : String(key);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
