/** How providers say that a prompt is too long. */

const codes =
  /^(context_length_exceeded|exceed_context_size(_error)?|request_too_large|model_max_prompt_tokens_exceeded|tokens_limit_reached)$/;

/** Real wordings, one family a line. */
const wordings = [
  // maximum context length is N · exceeds the context window · greater than the context length · available context size
  /context[ _](length|window|size).*(exceed|too (long|large|small)|greater|larger|beyond|limit|\d)/is,
  /(exceed|too (long|large)|greater than|beyond).*(context|prompt)[ _](length|window|size)/is,
  // prompt is too long: N tokens > M · input is too long for requested model · prompt contains N tokens …, too large
  /\b(prompt|input|request|conversation)\b.{0,60}\btoo (long|large)\b/is,
  // maximum prompt length is N · prompt exceeds max length
  /maximum (prompt|input) length|(prompt|input) .{0,20}exceeds? .{0,20}(max|limit)/is,
  // input token count (N) exceeds · prompt token count of N exceeds · exceeded model token limit
  /token count.{0,40}exceed|exceed.{0,40}\btoken (count|limit)|too many (input |prompt |total )?tokens/is,
  // reduce the length of the messages · `inputs` tokens + … must be <= N · range of input length should be
  /reduce the length of|\binputs`? tokens \+|range of input length/is,
];

/** Only these are about the prompt when the status says "slow down". */
const oneRequestTooLarge = /request too large|must be reduced in order to run/i;

/**
 * Whether an error means that a shorter prompt would have been taken. A limit on one field (`string too long`) or on
 * tokens per minute is not that.
 */
export function isTooLong(status: number | undefined, given: readonly string[], message: string): boolean {
  if (status === 401 || status === 403 || status === 404) return false;
  if (oneRequestTooLarge.test(message)) return true;
  if (status === 429 || given.some((c) => c.includes("rate_limit"))) return false;
  if (given.some((c) => codes.test(c)) || status === 413) return true;
  return !/(string|array) too long/i.test(message) && wordings.some((w) => w.test(message));
}
