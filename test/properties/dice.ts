/** Choices of a generated walk: drawn from a list of numbers, so that a walk shrinks with its list. */
export class Dice {
  readonly #rolls: readonly number[];
  #next = 0;
  readonly #prefix: string;
  #names = 0;

  /** `prefix` makes the names of this one different from those of others. */
  constructor(rolls: readonly number[], prefix: string) {
    this.#rolls = rolls;
    this.#prefix = prefix;
  }

  /** A number from 0 to `n - 1`; the first when the rolls are used up. */
  below(n: number): number {
    return (this.#rolls[this.#next++] ?? 0) % n;
  }
  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }
  /** True once in `n`, and not when the rolls are used up. */
  chance(n: number): boolean {
    return this.below(n) === 1;
  }
  id(kind: string): string {
    return `${kind}${this.#prefix}.${this.#names++}`;
  }
}
