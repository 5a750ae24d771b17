/** How many tokens something costs, estimated without a tokenizer: within a quarter of o200k on prose, Chinese, code and JSON. */
import type { Message, Part } from "./message.ts";

/** Tokens of a text. The default is {@link estimateText}; a tokenizer counts exactly. */
export type Count = (text: string) => number;

/** Tokens charged for an image, a file or a sound, whatever its size: providers scale media down to about this. */
export const MEDIA_TOKENS = 1_000;
/** Role, separators and ids of one message, or of one call or result in it. */
export const MESSAGE_TOKENS = 4;
/** The marker around a message that the runtime writes. */
export const MARKER_TOKENS = 12;

/*
 * One pass over the characters. A word is one token up to seven letters, a capital after a small letter begins another
 * word, three digits are one token, a space belongs to the word behind it, signs join in part, and every character of a
 * script without spaces counts by itself. Prices are hundredths of a token, measured on o200k. What a character costs depends
 * on how the run before it stands; `next` and `price` hold that for each pair, so that the loop does not branch.
 */
const SPACE = 0;
const SPACES = 1;
const SIGN = 2;
const DIGIT = 3;
const OTHER = 6;
const WIDE = 7;
const LOWER = 8;
const UPPER = 16;
const STATES = 24;
const LETTERS = 7;
const next = new Uint8Array(STATES * 128);
const price = new Uint8Array(STATES * 128);

const isLower = (code: number) => code >= 97 && code <= 122;
const isUpper = (code: number) => code >= 65 && code <= 90;
const isDigit = (code: number) => code >= 48 && code <= 57;
const inWord = (state: number) => state >= LOWER;

function step(state: number, code: number): [next: number, price: number] {
  if (isLower(code) || isUpper(code)) {
    const kind = isLower(code) ? LOWER : UPPER;
    const goesOn = inWord(state) && !(kind === UPPER && state < UPPER);
    if (!goesOn) return [kind + 1, 100];
    const length = Math.min((state % 8) + 1, LETTERS);
    return [kind + length, state % 8 === LETTERS ? 25 : 0];
  }
  if (isDigit(code)) {
    const place = state >= DIGIT && state < OTHER ? (state - DIGIT + 1) % 3 : 0;
    return [DIGIT + place, place === 0 ? 100 : 0];
  }
  if (code <= 32 || code === 127) {
    if (state === SPACES) return [SPACES, 0];
    return code === 32 && state !== SPACE ? [SPACE, 0] : [SPACES, 70];
  }
  return [SIGN, state === SIGN ? 45 : 85];
}
for (let state = 0; state < STATES; state++)
  for (let code = 0; code < 128; code++) {
    const [to, cost] = step(state, code);
    next[state * 128 + code] = to;
    price[state * 128 + code] = cost;
  }

/** Estimated tokens of a text. */
export function estimateText(text: string): number {
  let hundredths = 0;
  let state = SPACES;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 128) {
      const at = state * 128 + code;
      hundredths += price[at]!;
      state = next[at]!;
    } else if (code >= 0x2e80 && (code < 0xd800 || code >= 0xe000)) {
      hundredths += 72;
      state = WIDE;
    } else {
      // Half of a pair: an emoji, or a rare letter.
      hundredths += code >= 0xd800 ? 85 : state === OTHER ? 38 : inWord(state) ? 50 : 60;
      state = OTHER;
    }
  }
  return Math.ceil(hundredths / 100);
}

/** Tokens of some parts, media at a fixed price. */
export function estimateParts(parts: readonly Part[], count: Count = estimateText): number {
  let sum = 0;
  for (const part of parts) sum += estimatePart(part, count);
  return sum;
}

function estimatePart(part: Part, count: Count): number {
  switch (part.type) {
    case "text":
    case "thinking":
      return count(part.text);
    case "image":
    case "file":
    case "audio":
      return MEDIA_TOKENS;
    case "tool-call":
      return count(part.name) + count(part.raw ?? JSON.stringify(part.args ?? {})) + MESSAGE_TOKENS;
    case "tool-result":
      return estimateParts(part.output, count) + MESSAGE_TOKENS;
    default:
      return part satisfies never;
  }
}

/** What messages were found to cost, by who counted: messages are never changed, and most are asked about again. */
const known = new WeakMap<Count, WeakMap<Message, number>>();

/** Tokens of one message. */
export function estimateMessage(message: Message, count: Count = estimateText): number {
  let costs = known.get(count);
  if (!costs) known.set(count, (costs = new WeakMap()));
  let cost = costs.get(message);
  if (cost === undefined) costs.set(message, (cost = MESSAGE_TOKENS + estimateParts(message.parts, count)));
  return cost;
}

/** Tokens of whole messages. */
export function estimateMessages(messages: readonly Message[], count: Count = estimateText): number {
  let sum = 0;
  for (const message of messages) sum += estimateMessage(message, count);
  return sum;
}
