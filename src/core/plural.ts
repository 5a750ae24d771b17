/** A number with its noun, for sentences. */
export const plural = (n: number, noun: string, nouns = `${noun}s`): string => `${n} ${n === 1 ? noun : nouns}`;

/** The form of a verb that goes with a number: `verb(1, "waits", "wait")`. */
export const verb = (n: number, one: string, many: string): string => (n === 1 ? one : many);
