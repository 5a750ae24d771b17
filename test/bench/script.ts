/** What every row is asked to do: the same turns, the same calls, the same words, by a model that needs no time. */

/** `turns` answers that call tools, then one that says `words` words, a delta each. */
export type Load = { turns: number; toolsPerTurn: number; words: number };

export const INSTRUCTIONS = "Answer briefly.";
export const PROMPT = "Begin.";
export const WORD = "steadily ";
export const TOOL = "stamp";

export type StampArgs = { turn: number; place: number; note: string };
export type PlannedCall = { id: string; name: string; args: StampArgs };
export type Answer = { calls: PlannedCall[]; words: 0 } | { calls: []; words: number };

/** Plays a load to a row, run after run, and knows whether the row really did all of it. */
export class Script {
  readonly load: Load;
  /** When each answer was asked for, in milliseconds, when that is wanted. */
  asked: number[] | null = null;
  #answers = 0;
  #executed = 0;
  #heard = 0;

  constructor(load: Partial<Load>) {
    this.load = { turns: 0, toolsPerTurn: 1, words: 1, ...load };
  }

  /** The model's next answer. */
  next(): Answer {
    const { turns, toolsPerTurn, words } = this.load;
    const turn = this.#answers++ % (turns + 1);
    this.asked?.push(performance.now());
    if (turn === turns) return { calls: [], words };
    const calls: PlannedCall[] = [];
    for (let place = 0; place < toolsPerTurn; place++)
      calls.push({ id: `c${turn}-${place}`, name: TOOL, args: { turn, place, note: "as asked" } });
    return { calls, words: 0 };
  }

  /** The one tool: as little work as a tool can be, and asynchronous. */
  async stamp({ turn, place }: StampArgs): Promise<string> {
    this.#executed++;
    return `stamped ${turn}.${place}`;
  }

  /** Text reached whoever watches. */
  hear(text: string): void {
    this.#heard += text.length;
  }

  /** @throws Error when less, or more, happened than `runs` runs are made of */
  verify(runs: number, watched: boolean): void {
    const { turns, toolsPerTurn, words } = this.load;
    const facts: [string, number, number][] = [
      ["answers", this.#answers, runs * (turns + 1)],
      ["tool calls", this.#executed, runs * turns * toolsPerTurn],
    ];
    if (watched) facts.push(["characters watched", this.#heard, runs * words * WORD.length]);
    for (const [what, found, due] of facts)
      if (found !== due) throw new Error(`${found} ${what} instead of ${due}: this measurement means nothing`);
  }
}
