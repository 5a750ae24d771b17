/** Provisional; replaced by the full helper. */
import { text, type ContentPart } from "./core/message.ts";
import type { ToolDefinition } from "./ports.ts";
import { z } from "zod";
export function toContent(value: unknown): ContentPart[] {
  return [text(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))];
}
export function tool(o: any): ToolDefinition {
  return {
    readOnly: false,
    ...o,
    parameters: z.toJSONSchema(o.input, { io: "input" }) as never,
    parse: (args: any) => {
      const r = o.input.safeParse(args);
      return r.success ? { ok: true, value: r.data } : { ok: false, error: z.prettifyError(r.error) };
    },
  };
}
