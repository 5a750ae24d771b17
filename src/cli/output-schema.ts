/** `--output-schema`: the shape of the final answer, from a file. */
import { readFileSync } from "node:fs";
import { AgentError } from "../core/errors.ts";
import { outputOf } from "../session/run-options.ts";
import type { JsonSchema } from "../ports.ts";
import { Problem } from "./problem.ts";

/** The JSON Schema in a file. @throws Problem with the path and the reason when it is none of an object */
export function readOutputSchema(path: string): JsonSchema {
  const wrong = (why: string) => new Problem(`--output-schema ${path}: ${why}`);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw wrong(code === "ENOENT" ? "there is no such file." : `cannot be read (${code ?? message}).`);
  }
  let schema: unknown;
  try {
    schema = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw wrong(`is not JSON: ${(error as Error).message}.`);
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw wrong('is not a JSON Schema of an object, such as {"type":"object","properties":{…}}.');
  try {
    outputOf(schema as JsonSchema);
  } catch (error) {
    if (error instanceof AgentError)
      throw wrong(error.message.replace(/^run\.output(?=\.)/, "at ").replace(/^run\.output: /, ""));
    throw error;
  }
  return schema as JsonSchema;
}
