/** What the demo model says of a file: its first words and its names, found by rules. */
import { plural } from "../../core/plural.ts";

/** Something that was read. `lines` are without line numbers, `last` is the highest of those: a long result lacks its middle. */
export type ReadFile = { path: string; lines: readonly string[]; last: number };

/** The lines of a `read_file` result; `undefined` when it is not one. */
export function numberedLines(output: string): string[] | undefined {
  const lines = output.split("\n").flatMap((line) => {
    const match = /^\s*\d+\t(.*)$/.exec(line);
    return match ? [match[1]!] : [];
  });
  return lines.length ? lines : undefined;
}

/** The number of the last line of a `read_file` result. */
export const lastLine = (output: string): number =>
  Number.parseInt(output.split("\n").findLast((line) => /^\s*\d+\t/.test(line)) ?? "0", 10);

/** One line about a file: how long, what it begins with, what it defines. */
export function gistOf(file: ReadFile): string {
  const names = definedNames(file.lines);
  const about = [opening(file.lines), names.length ? `defines ${names.join(", ")}` : ""].filter(Boolean);
  return `${file.path} (${plural(file.last, "line")})${about.length ? `: ${about.join("; ")}` : ""}`;
}

/** The first heading, comment or line that has words. */
function opening(lines: readonly string[]): string {
  for (const line of lines.slice(0, 40)) {
    const words = line.replace(/^[\s#/*"'<>!;-]+|[\s*/"'>-]+$/g, "");
    if (/\p{L}{3}/u.test(words) && !/^(import|use|package|from|require|include)\b/.test(words))
      return shorten(words, 120);
  }
  return "";
}

const definition =
  /^((?:(?:export|default|pub|public|static|async|abstract|declare)\s+)*)(?:function\*?|class|interface|type|const|def|fn|func|struct|enum|trait)\s+([A-Za-z_]\w*)/;

/** Names of the outermost level, those meant for others when there are such; of a document, its headings. */
function definedNames(lines: readonly string[]): string[] {
  const names = new Set<string>();
  const exported = new Set<string>();
  for (const line of lines) {
    const [, how, name] = definition.exec(line) ?? [];
    if (name) (/export|pub/.test(how ?? "") ? exported : names).add(name);
    const heading = /^#{2,3}\s+(.+)$/.exec(line)?.[1];
    if (heading) names.add(`"${shorten(heading, 40)}"`);
  }
  return [...(exported.size ? exported : names)].slice(0, 6);
}

/** A text on one line, cut after `most` characters. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
