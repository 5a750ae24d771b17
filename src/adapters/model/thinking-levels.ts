/** How much a model shall think, in each provider's words. */

type Fields = { [field: string]: unknown };

const isOff = (level: string): boolean => level === "off" || level === "none";

/** Hosts whose chat servers do not take `reasoning_effort`; matched by the end of the name. */
const dialects: readonly [host: RegExp, fields: (level: string) => Fields][] = [
  [/(^|\.)openrouter\.ai$/, (level) => ({ reasoning: isOff(level) ? { enabled: false } : { effort: level } })],
  [
    /(^|\.)(deepseek\.com|bigmodel\.cn|z\.ai|moonshot\.(ai|cn)|volces\.com)$/,
    (level) => ({
      thinking: { type: isOff(level) ? "disabled" : "enabled" },
    }),
  ],
  [/(^|\.)(aliyuncs\.com|siliconflow\.(cn|com))$/, (level) => ({ enable_thinking: !isOff(level) })],
];

/**
 * The fields of a Chat Completions body for a thinking level. Levels are the provider's own words (`minimal`, `low`,
 * `medium`, `high`, `xhigh`, …); `off` is said as each host says it. Hosts that are not known get `reasoning_effort`; what
 * none of this fits goes into `settings.extra`.
 */
export function chatThinking(level: string, hostname: string): Fields {
  const dialect = dialects.find(([host]) => host.test(hostname));
  return dialect ? dialect[1](level) : { reasoning_effort: isOff(level) ? "none" : level };
}

/** The same for Responses, which also shows a summary of what was thought. */
export const responsesThinking = (level: string): Fields => ({
  reasoning: isOff(level) ? { effort: "none" } : { effort: level, summary: "auto" },
});
