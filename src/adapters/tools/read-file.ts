/** `read_file`: lines of a text file, numbered. */
import { z } from "zod";
import { lazily } from "../../core/lazy.ts";
import type { ToolContext } from "../../ports.ts";
import { isBinary, openFile, placeIn, type Place } from "./workspace-paths.ts";

const CHUNK_BYTES = 64 * 1024;
const DEFAULT_LINES = 2_000;
const LONGEST_LINE = 2_000;
/** Beyond this, reading goes on with the next call. */
const MOST_CHARACTERS = 200_000;

const input = lazily(() =>
  z.object({
    path: z.string().min(1).describe("Path of the file, relative to the workspace"),
    offset: z.number().int().min(1).optional().describe("First line to read, counted from 1"),
    limit: z.number().int().min(1).optional().describe(`Most lines to read, ${DEFAULT_LINES} by default`),
  }),
);

/** Options of the tool, with the workspace of the session or a fixed one. */
export const readFileTool = (root?: string) => ({
  description:
    "Reads a text file of the workspace and returns its lines with their numbers. For long files, read parts with offset and limit.",
  input,
  readOnly: true,
  reads: (args: z.output<typeof input>) => args.path,
  onUnknown: "retry" as const,
  execute: async (args: z.output<typeof input>, { signal, session }: ToolContext) => {
    const place = placeIn(root ?? session.workspace, args.path);
    const page = new Page(args.offset ?? 1, args.limit ?? DEFAULT_LINES);
    await readInto(page, place, signal);
    return page.text();
  },
});

async function readInto(page: Page, place: Place, signal: AbortSignal): Promise<void> {
  const { file, size } = await openFile(place);
  try {
    const decoder = new TextDecoder();
    const bytes = Buffer.alloc(CHUNK_BYTES);
    for (let position = 0; !page.full;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(bytes, 0, bytes.length, position);
      const chunk = bytes.subarray(0, bytesRead);
      if (position === 0 && isBinary(chunk))
        throw new Error(`${place.shown} is not a text file (${size} bytes of binary data).`);
      page.add(decoder.decode(chunk, { stream: bytesRead > 0 }));
      if (bytesRead === 0) return page.end();
      position += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/** Picks lines out of text that comes in pieces, keeping only what will be shown. */
class Page {
  full = false;
  readonly #first: number;
  readonly #limit: number;
  #line = 1;
  /** What there is so far of the current line, cut to what is shown, and its whole length. */
  #current = "";
  #length = 0;
  #shown: string[] = [];
  #characters = 0;
  #ended = false;

  constructor(first: number, limit: number) {
    this.#first = first;
    this.#limit = limit;
  }

  add(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0 && !this.full; end = text.indexOf("\n", start)) {
      this.#extend(text, start, end);
      this.#finishLine();
      start = end + 1;
    }
    if (!this.full) this.#extend(text, start, text.length);
  }

  end(): void {
    if (this.#length > 0) this.#finishLine();
    this.#ended = true;
  }

  text(): string {
    const lines = this.#line - 1;
    if (this.#ended && lines === 0) return "[the file is empty]";
    if (this.#ended && this.#shown.length === 0) return `[the file has only ${lines} lines]`;
    if (this.#ended) return this.#shown.join("\n");
    return `${this.#shown.join("\n")}\n[there is more: read on with offset ${this.#line}]`;
  }

  #extend(text: string, start: number, end: number): void {
    this.#length += end - start;
    const room = LONGEST_LINE - this.#current.length;
    if (room > 0 && this.#line >= this.#first) this.#current += text.slice(start, Math.min(end, start + room));
  }

  #finishLine(): void {
    if (this.#line >= this.#first) {
      const more = this.#length - this.#current.length;
      const rest = more > 0 ? ` [and ${more} more characters]` : "";
      this.#shown.push(`${String(this.#line).padStart(4)}\t${this.#current}${rest}`);
      this.#characters += this.#current.length;
    }
    this.#line += 1;
    this.#current = "";
    this.#length = 0;
    this.full = this.#shown.length >= this.#limit || this.#characters > MOST_CHARACTERS;
  }
}
