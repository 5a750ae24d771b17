/** The machine by itself: run it with your own effects, fold journals, draw it. */
export {
  sessionMachine,
  type SessionMachine,
  type SessionContext,
  type SessionInput,
  type Run,
  type Draft,
  type Ending,
  type Announcement,
} from "./session/index.ts";
export { describeMachine, type MachineGraph, type StateDescription, type TransitionDescription } from "./describe.ts";
export { toMermaid } from "./mermaid.ts";
export { foldTranscript, Transcript, type Entry } from "../src/core/transcript.ts";
export {
  inputEvents,
  outputEvents,
  noteEvents,
  type InputEvent,
  type OutputEvent,
  type JournalRecord,
} from "../src/core/event.ts";
export { limits, compactionSettings, type Limits, type CompactionSettings } from "../src/core/limits.ts";
