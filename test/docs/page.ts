/** Small parts of a generated page. */
const escape = (cell: string): string => cell.replaceAll("|", "\\|").replaceAll("\n", " ");

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escape).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export const code = (word: string): string => `\`${word}\``;

/** Several names, or a dash. */
export const codes = (words: readonly string[]): string => words.map(code).join(" ") || "–";

/**
 * What is said about each of some names.
 * @throws Error for a name nobody says anything about, and for words about a name that is gone.
 */
export function saidAbout(
  kind: string,
  names: readonly string[],
  words: { [name: string]: string },
): Map<string, string> {
  const silent = names.filter((name) => !words[name]);
  const gone = Object.keys(words).filter((name) => !names.includes(name));
  if (silent.length) throw new Error(`test/docs/sentences.ts says nothing about the ${kind} ${silent.join(", ")}`);
  if (gone.length)
    throw new Error(`test/docs/sentences.ts still speaks of the ${kind} ${gone.join(", ")}, which is gone`);
  return new Map(Object.entries(words));
}
