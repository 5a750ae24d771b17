/**
 * The same loop as a plain XState machine, written as its documentation would: promise actors, `onDone`, the conversation
 * in the context and copied when it grows. No validation, no journal, no limits.
 */
import { assign, createActor, emit, fromPromise, setup, type ActorSystem } from "xstate";
import { INSTRUCTIONS, PROMPT, WORD, type PlannedCall, type Script } from "../script.ts";
import type { Row } from "./row.ts";

type Said = { text: string; calls: PlannedCall[] };
type Result = { id: string; output: string };
type Message = { role: "system" | "user"; text: string } | ({ role: "assistant" } & Said) | ({ role: "tool" } & Result);
type Context = { messages: Message[]; calls: PlannedCall[]; owed: boolean };

/** What an actor system plays: beside the machine, so that the context stays data. */
const plays = new WeakMap<ActorSystem<any>, { script: Script; deltas: number }>();

async function* say(words: number): AsyncGenerator<string, void, void> {
  for (let i = 0; i < words; i++) yield WORD;
}

const reason = fromPromise<Said, Message[]>(async ({ system }) => {
  const play = plays.get(system)!;
  const { calls, words } = play.script.next();
  let text = "";
  for await (const word of say(words)) {
    text += word;
    play.deltas++;
    play.script.hear(word);
  }
  return { text, calls };
});

const act = fromPromise<Result[], PlannedCall[]>(({ input, system }) => {
  const { script } = plays.get(system)!;
  return Promise.all(input.map(async (call) => ({ id: call.id, output: await script.stamp(call.args) })));
});

const loop = setup({
  types: {
    context: {} as Context,
    events: {} as { type: "prompt"; text: string },
    emitted: {} as { type: "rested" },
  },
  actors: { reason, act },
  guards: {
    owes: ({ context }) => context.owed,
    calls: ({ context }) => context.calls.length > 0,
  },
}).createMachine({
  context: { messages: [{ role: "system", text: INSTRUCTIONS }], calls: [], owed: false },
  initial: "idle",
  states: {
    idle: {
      on: {
        prompt: {
          target: "receive",
          actions: assign({
            messages: ({ context, event }) => [...context.messages, { role: "user", text: event.text }],
            owed: true,
          }),
        },
      },
    },
    receive: {
      always: [
        { guard: "owes", target: "compact" },
        { target: "idle", actions: emit({ type: "rested" }) },
      ],
    },
    compact: { always: "reason" },
    reason: {
      invoke: {
        src: "reason",
        input: ({ context }) => context.messages,
        onDone: {
          target: "judge",
          actions: assign({
            messages: ({ context, event }) => [...context.messages, { role: "assistant", ...event.output }],
            calls: ({ event }) => event.output.calls,
            owed: ({ event }) => event.output.calls.length > 0,
          }),
        },
      },
    },
    judge: { always: [{ guard: "calls", target: "act" }, { target: "receive" }] },
    act: {
      invoke: {
        src: "act",
        input: ({ context }) => context.calls,
        onDone: {
          target: "receive",
          actions: assign({
            messages: ({ context, event }) => [
              ...context.messages,
              ...event.output.map((result) => ({ role: "tool" as const, ...result })),
            ],
          }),
        },
      },
    },
  },
});

export const bareXstate: Row = (script) => ({
  async open() {
    const actor = createActor(loop);
    const play = { script, deltas: 0 };
    plays.set(actor.system, play);
    actor.start();
    const run = () =>
      new Promise<void>((resolve) => {
        const rested = actor.on("rested", () => {
          rested.unsubscribe();
          resolve();
        });
        actor.send({ type: "prompt", text: PROMPT });
      });
    return {
      run,
      async watch() {
        play.deltas = 0;
        await run();
        return play.deltas;
      },
      snapshot: () => JSON.stringify(actor.getPersistedSnapshot()),
    };
  },
  async close() {},
});
