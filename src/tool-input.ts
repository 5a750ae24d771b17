/** The schemas that a tool's input may be given in, each turned into a JSON Schema and a way to validate. */
import { z } from "zod";
import type { Json } from "./core/message.ts";
import type { JsonSchema, ParsedArgs } from "./ports.ts";
import {
  fromStandard,
  fromZod,
  messageOf,
  refused,
  toZod,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
} from "./tool-schema.ts";

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
 * Compiles a schema. `parameters` is the JSON Schema to show instead of what the schema would give; `heading` stands above
 * what is wrong with a value.
 * @throws AgentError `invalid_options` for what a model cannot be told in JSON Schema, with the place
 */
export function compileInput(
  input: unknown,
  parameters: JsonSchema | undefined,
  heading = "Invalid arguments",
): CompiledInput {
  if (isZod(input))
    return { parameters: asObject(parameters ?? fromZod(input)), parse: (args) => parseZod(input, args, heading) };
  if (isStandard(input))
    return {
      parameters: asObject(parameters ?? fromStandard(input)),
      parse: (args) => parseStandard(input, args, heading),
    };
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw refused("", "expected a zod schema, a Standard Schema or a JSON Schema");
  const schema = asObject(input as JsonSchema);
  const validator = toZod("$schema" in input ? { ...schema, $schema: input.$schema as string } : schema);
  return { parameters: parameters ?? schema, parse: (args) => parseZod(validator, args, heading) };
}

const isZod = (input: unknown): input is z.ZodType => typeof input === "object" && input !== null && "_zod" in input;

/** Some libraries make their schemas functions. */
const isStandard = (input: unknown): input is StandardSchema =>
  ((typeof input === "object" && input !== null) || typeof input === "function") && "~standard" in input;

/** Arguments of a call are an object; a schema that says anything else could never be met. */
function asObject(schema: JsonSchema): JsonSchema {
  const { $schema: _, ...rest } = schema;
  if (rest.type === undefined && rest.properties !== undefined) return { ...rest, type: "object" };
  if (rest.type !== "object") throw refused("", "must describe an object; put it into a property of one");
  return rest;
}

/**
 * Runs the schema once, whether it checks at once or takes its time. (`safeParse` throws on the latter, having begun: a
 * second run would check twice, and the first one's failure would be nobody's.)
 */
function parseZod(schema: z.ZodType, args: Json, heading: string): ParsedArgs | Promise<ParsedArgs> {
  const read = ({ value, issues }: z.core.ParsePayload): ParsedArgs => {
    if (issues.length === 0) return { ok: true, value };
    const final = issues.map((issue) => z.core.util.finalizeIssue(issue, {}, z.core.config()));
    return { ok: false, error: sentences(heading, final.flatMap(flat)) };
  };
  try {
    const payload = schema._zod.run({ value: args, issues: [] }, {});
    return payload instanceof Promise ? payload.then(read, broken(heading)) : read(payload);
  } catch (error) {
    return broken(heading)(error);
  }
}

/** A union says only that nothing fits; the alternative that fits best is what was meant. */
function flat(issue: z.core.$ZodIssue): StandardIssue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const nearest = issue.errors.reduce((a, b) => (distance(b) < distance(a) ? b : a));
  return nearest.flatMap((inner) => flat({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** A mistake inside is nearer than being something else altogether. */
const distance = (issues: readonly z.core.$ZodIssue[]): number =>
  issues.length + (issues.some(({ path }) => path.length === 0) ? 1_000 : 0);

function parseStandard(schema: StandardSchema, args: Json, heading: string): ParsedArgs | Promise<ParsedArgs> {
  const read = (result: StandardResult): ParsedArgs =>
    result.issues ? { ok: false, error: sentences(heading, result.issues) } : { ok: true, value: result.value };
  try {
    const result = schema["~standard"].validate(args);
    return result instanceof Promise ? result.then(read, broken(heading)) : read(result);
  } catch (error) {
    return broken(heading)(error);
  }
}

/** A check of the schema's own threw: what cannot be checked is not used. */
const broken =
  (heading: string) =>
  (error: unknown): ParsedArgs => ({
    ok: false,
    error: `${heading}: they could not be checked (${messageOf(error)}).`,
  });

/** All mistakes in one text that a model can act on: one line each, with the place. */
function sentences(heading: string, issues: readonly StandardIssue[]): string {
  const lines = issues.map(({ path = [], message }) => {
    const place = path.map((p) => (typeof p === "object" ? p.key : p)).reduce<string>(joinPlace, "");
    return place ? `- ${place}: ${message}` : `- ${message}`;
  });
  return `${heading}:\n${[...new Set(lines)].join("\n")}`;
}

const joinPlace = (place: string, key: PropertyKey): string =>
  typeof key === "number" ? `${place}[${key}]` : place ? `${place}.${String(key)}` : String(key);
