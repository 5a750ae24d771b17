/** Keeps keys out of everything that is written down or shown. */

const LONGEST = 500;
const MASK = "[key]";
/** Fewer shared characters than this are a coincidence, not an echoed part of a key. */
const PART = 6;

const keyLike = [
  /\bBearer\s+\S+/gi,
  /\b(?:sk|pk|rk|gsk|xai|sess)[-_][\w.…-]{8,}/gi,
  // What providers echo of a key they refuse: `ab****yz`.
  /\S*\*{3,}\S*/g,
  /([?&](?:api[-_]?key|key|token|access_token)=)[^&\s]+/gi,
  /(\/\/)[^/\s:@]+:[^/\s@]+@/g,
];

/**
 * A provider's words, fit for a failure message: no given secret, no part of one, nothing that looks like one; markup and
 * runs of space taken out; at most 500 characters.
 */
export function scrub(text: string, secrets: readonly string[]): string {
  let clean = /<(!doctype|html|head|body|h1|p)\b/i.test(text)
    ? text.replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]*>/gi, " ")
    : text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, MASK);
  for (const pattern of keyLike)
    clean = clean.replace(pattern, (_, prefix: unknown) => (typeof prefix === "string" ? `${prefix}${MASK}` : MASK));
  clean = clean.replace(/\S+/g, (word) => (secrets.some((s) => partOf(word, s)) ? MASK : word));
  clean = clean.replace(/\s+/g, " ").trim();
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST - 1)}…` : clean;
}

/** The values of headers that carry credentials, by the look of their names. */
export const secretHeaders = (headers: { [name: string]: string }): string[] =>
  Object.entries(headers).flatMap(([name, value]) => (/auth|key|token|secret|cookie|passw/i.test(name) ? [value] : []));

/** Whether a word shows the beginning or the end of a secret. */
function partOf(word: string, secret: string): boolean {
  if (secret.length < 2 * PART || word.length < PART) return false;
  return word.includes(secret.slice(0, PART)) || word.includes(secret.slice(-PART));
}
