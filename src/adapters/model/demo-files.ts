/** Which files the demo model reads: by name, by size, or by how often the words were found in them. */
import type { DemoState } from "./demo-conversation.ts";
import type { DemoPrompt } from "./demo-prompt.ts";

/** Files read for a prompt that names none and no number. */
const DEFAULT_COUNT = 2;

type Found = { path: string; size: number; hits: number; words: number };

const unreadable =
  /\.(png|jpe?g|gif|webp|ico|pdf|zip|gz|tgz|woff2?|ttf|mp[34]|wasm|lock|map)$|(^|\/)(package-lock\.json|node_modules\/)/i;

/** Paths worth reading, most relevant first, as many as the prompt wants. */
export function rankFiles(state: DemoState, prompt: DemoPrompt): string[] {
  const everything = [...foundFiles(state, prompt).values()];
  const inside = everything.filter((f) => isInside(f.path, prompt.folder));
  const found = inside.length ? inside : everything;
  const named = prompt.files.map((name) => found.find((f) => isNamed(f.path, name))?.path ?? name);
  const { extensions, bySize, target } = prompt;
  const open = found.filter(
    (f) =>
      !named.includes(f.path) &&
      f.path !== target &&
      !unreadable.test(f.path) &&
      (!extensions.length || extensions.some((e) => f.path.endsWith(`.${e}`))),
  );
  const matches = open.filter((f) => (f.hits > 0 && prompt.words.length > 0) || nameScore(f, prompt) > 0);
  // The longest of those that were meant; of all, when no word says which were.
  const ranked = (matches.length || bySize === undefined ? matches : open).sort(
    (a, b) => order(a, b, prompt) || (a.path < b.path ? -1 : 1),
  );
  // Where only names speak for them, others that the prompt may mean come after.
  const more = prompt.aboutFiles && ranked.length > 0 && matches.every((f) => f.hits === 0) ? open : [];
  // Nothing speaks for any of them: then what introduces itself.
  const chosen =
    ranked.length || named.length
      ? [...ranked, ...more]
      : open.filter((f) => /(^|\/)(readme|index|main)\b/i.test(f.path));
  const paths = [...named, ...chosen.map((f) => f.path)];
  return [...new Set(paths)].slice(0, Math.max(prompt.count ?? (named.length || DEFAULT_COUNT), named.length));
}

function order(a: Found, b: Found, prompt: DemoPrompt): number {
  if (prompt.bySize === "largest") return b.size - a.size;
  if (prompt.bySize === "smallest") return a.size - b.size;
  return nameScore(b, prompt) + b.words - (nameScore(a, prompt) + a.words) || b.hits - a.hits;
}

/** A word in a path says more than one in the text. */
const nameScore = (file: Found, { words }: DemoPrompt): number =>
  words.filter((w) => file.path.toLowerCase().includes(w)).length * 2;

const isInside = (path: string, folder: string | undefined): boolean =>
  folder !== undefined && (path.startsWith(`${folder}/`) || path.includes(`/${folder}/`));

const isNamed = (path: string, name: string): boolean =>
  path === name || path.endsWith(`/${name.replace(/^\.\//, "")}`);

/** Files from `path<TAB>size` and `path:line: text` lines. */
function foundFiles(state: DemoState, prompt: DemoPrompt): Map<string, Found> {
  const files = new Map<string, Found>();
  const at = (path: string): Found => {
    const file = files.get(path) ?? { path, size: 0, hits: 0, words: 0 };
    files.set(path, file);
    return file;
  };
  const seen = new Set<string>();
  for (const call of state.calls) {
    if (call.denied || call.failed) continue;
    for (const line of call.output.split("\n")) {
      const listed = call.name === "list_files" && /^(\S.*)\t(\d+)/.exec(line);
      if (listed) at(listed[1]!).size = Number(listed[2]);
      const hit = call.name === "search_text" && /^(.+?):\d+:(.*)$/.exec(line);
      if (!hit) continue;
      const file = at(hit[1]!);
      file.hits++;
      for (const word of prompt.words) {
        const mark = `${file.path}\n${word}`;
        if (seen.has(mark) || !hit[2]!.toLowerCase().includes(word)) continue;
        seen.add(mark);
        file.words++;
      }
    }
  }
  return files;
}
