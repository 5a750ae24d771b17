/** JSON text of an object. */
import type { Json } from "../../core/message.ts";

/** The object that a text is, strictly: `undefined` for anything else. */
export function parseObject(text: string): { [key: string]: Json } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as { [key: string]: Json }) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text is one whole JSON object. */
export const parsesAsObject = (text: string): boolean => parseObject(text) !== undefined;
