/** What the demo model makes of a prompt: words to look for, how many files, which kind, and what to write where. */

/** A prompt, taken apart. */
export type DemoPrompt = {
  /** Words worth searching for, lower case, most telling first. */
  words: string[];
  /** Files it names, without the one to write. */
  files: string[];
  /** Extensions it asks for, without a dot. */
  extensions: string[];
  /** How many files it wants looked at, if it says so. */
  count: number | undefined;
  /** Whether it orders files by size. */
  bySize: "largest" | "smallest" | undefined;
  /** The folder it speaks of, without a slash at the end. */
  folder: string | undefined;
  /** The file it wants written. */
  target: string | undefined;
  /** Whether it is about files at all, without saying which. */
  aboutFiles: boolean;
  /** A command in backticks that it wants run. */
  command: string | undefined;
};

const FILE = String.raw`[\w@~.-]*(?:[\\/][\w@.-]+)*\.[a-z][a-z0-9]{0,5}\b`;
const WRITE = /\b(?:write|save|create|put|store|record|generate|draft|export)\b/i;
const numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
const MAX_FILES = 8;

const languages: { readonly [word: string]: readonly string[] } = {
  typescript: ["ts"],
  javascript: ["js"],
  python: ["py"],
  rust: ["rs"],
  golang: ["go"],
  java: ["java"],
  ruby: ["rb"],
  markdown: ["md"],
  json: ["json"],
  yaml: ["yaml", "yml"],
  csv: ["csv"],
  css: ["css"],
  html: ["html"],
  shell: ["sh"],
  sql: ["sql"],
};

/** Words that say how to work, or nothing at all, rather than what about. */
const stopWords = new Set(
  (
    "a about above after all also an and any are as at be been best between both but by can could did do does done each " +
    "every everything find for from get give had has have how i if in into is it its itself just let like look made make many me " +
    "mention mentioned mentions more most my no not now of on one only or our out over overview please quick quickly read say see short should show so some " +
    "still such summarise summarize summary tell than that the their them then there these they this those three to two under " +
    "up us use used uses using very was we were what when where which while who why will with would you your four five six " +
    "seven eight write save create put store record generate draft export run execute list search open explain describe " +
    "file files folder directory project code line lines longest largest biggest shortest smallest hello hi hey thanks"
  ).split(" "),
);

/** Takes a prompt apart by general rules; no prompt is known by heart. */
export function readPrompt(prompt: string): DemoPrompt {
  const target = targetOf(prompt);
  const folder = folderOf(prompt);
  const named = [...prompt.matchAll(new RegExp(FILE, "gi"))].map((m) => m[0]);
  const files = [...new Set(named)].filter((f) => f !== target && !/^(e\.g|i\.e|node\.js|vue\.js)$/i.test(f));
  const plain = prompt.replace(new RegExp(FILE, "gi"), " ").replace(/`[^`]*`/g, " ");
  const tokens = plain.match(/[\p{L}\p{N}_][\p{L}\p{N}_-]*/gu) ?? [];
  const lower = tokens.map((t) => t.toLowerCase());
  const isTelling = (word: string) =>
    word !== folder?.toLowerCase() && word.length > 2 && !stopWords.has(word) && !Object.hasOwn(languages, word);
  return {
    words: [...new Set(lower.filter(isTelling))].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)).slice(0, 6),
    files,
    extensions: [...new Set(lower.flatMap((word) => (Object.hasOwn(languages, word) ? languages[word]! : [])))],
    count: countOf(lower),
    bySize: sizeOrder(plain),
    folder,
    target,
    aboutFiles: /\b(?:files?|folder|directory|project|code|codebase|repo|repository)\b/i.test(plain),
    command: /\b(?:run|execute)\b[^`]*`([^`]+)`/i.exec(prompt)?.[1],
  };
}

/** The first number said of files. */
function countOf(words: readonly string[]): number | undefined {
  for (const [i, word] of words.entries()) {
    const number = /^\d$/.test(word) ? Number(word) : numbers.indexOf(word) + 1;
    const said = words.slice(i + 1, i + 5);
    const ofFiles = said.some((w) => /^(files?|modules?|documents?|scripts?|tests?|[a-z]+est|most)$/.test(w));
    if (number >= 1 && ofFiles) return Math.min(number, MAX_FILES);
  }
  return undefined;
}

function sizeOrder(prompt: string): DemoPrompt["bySize"] {
  if (/\b(?:longest|largest|biggest)\b/i.test(prompt)) return "largest";
  return /\b(?:shortest|smallest)\b/i.test(prompt) ? "smallest" : undefined;
}

/** The file after a verb of writing: the one it is written *to*, else the first one named. */
function targetOf(prompt: string): string | undefined {
  const verb = WRITE.exec(prompt);
  if (!verb) return undefined;
  const rest = prompt.slice(verb.index);
  const to = new RegExp(
    `\\b(?:to|into|in|as|called|named)\\s+(?:(?:an?|the|new|file|called|named)\\s+)*["'\`]?(${FILE})`,
    "i",
  );
  return to.exec(rest)?.[1] ?? new RegExp(FILE, "i").exec(rest)?.[0];
}

/** A name with a slash, one called a folder, or one that things are under or inside of. */
function folderOf(prompt: string): string | undefined {
  const said =
    /(?:^|\s)["'`]?([\w.-]+(?:\/[\w.-]+)*)\/(?=["'`]?(?:[\s,;:?!]|$))/.exec(prompt) ??
    /["'`]?([\w./-]+)["'`]?\s+(?:folder|directory)\b/i.exec(prompt) ??
    /\b(?:under|inside)\s+(?:the\s+)?["'`]?([\w./-]+)/i.exec(prompt);
  const folder = said?.[1]?.replace(/^\.\//, "");
  return folder === undefined || stopWords.has(folder.toLowerCase()) ? undefined : folder;
}
