/** What a run is asked: the words of the command line, what is piped in, and files that go with it. */
import type { Input } from "../session/options.ts";
import type { ContentInput } from "../tool-parts.ts";
import { readAttachments, type AttachmentFlags } from "./attachments.ts";
import { Problem } from "./problem.ts";
import { say } from "./say.ts";

/** Bytes of piped text that are read; more would fit into no model. */
const MAX_PIPED_BYTES = 10 * 1024 * 1024;
/** A pipe may be silent for long because its writer works, or for ever: after this it is said what is waited for. */
const SILENT_MS = 2_000;

type Flags = AttachmentFlags & { resume?: string };

/**
 * The input of a run; undefined for a session that goes on without one. Text that is piped in is the prompt, and with a
 * prompt on the command line it follows that as a part of its own. The word `-` alone asks for it, from a terminal too.
 * @throws Problem when there is nothing to do, and for files that cannot be sent
 */
export async function promptOf(words: readonly string[], flags: Flags): Promise<Input | undefined> {
  const media = readAttachments(flags);
  const asked = words.includes("-");
  const given = words.filter((word) => word !== "-").join(" ");
  const piped = asked || !process.stdin.isTTY ? await readPiped(given !== "" || flags.resume !== undefined) : "";
  if (asked && piped === "") throw new Problem("The prompt was to come from stdin (-), but that is empty.");
  // Parts of one message may be joined without anything between them.
  const texts = given && piped ? [given, `\n\n${piped}`] : [given || piped].filter(Boolean);
  if (texts.length || media.length)
    return media.length || texts.length > 1
      ? [...texts.map((text): ContentInput => ({ type: "text", text })), ...media]
      : texts[0];
  if (flags.resume !== undefined) return undefined;
  throw new Problem(
    `What should it do?${process.stdin.isTTY ? "" : " Nothing came from stdin."} rcra run "…", or pipe the prompt in; ` +
      "--resume ID goes on with a session.",
  );
}

/** Everything that comes from stdin, to its end. `optional`: there is something to do without it. */
async function readPiped(optional: boolean): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  const hint = setTimeout(
    () =>
      say(
        process.stdin.isTTY
          ? "reading the prompt from this terminal; Ctrl-D ends it."
          : `waiting for the end of stdin${optional ? "; to run without it, add </dev/null" : ""}.`,
      ),
    process.stdin.isTTY ? 0 : SILENT_MS,
  );
  try {
    for await (const piece of process.stdin as AsyncIterable<Buffer>) {
      clearTimeout(hint);
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_PIPED_BYTES)
        throw new Problem(
          "More than 10 MiB came from stdin. Name the file in the prompt instead: it can be read in parts.",
        );
    }
  } finally {
    clearTimeout(hint);
  }
  return decode(Buffer.concat(pieces)).trim();
}

function decode(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Said below.
  }
  throw new Problem("What came from stdin is not text. Pictures go with --image FILE, other files with --file FILE.");
}
