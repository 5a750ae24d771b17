/** What tests of agents need: a strict model without a provider, and fakes for time and names. */
export {
  scriptedModel,
  type Script,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedModel,
} from "./scripted-model.ts";
export { fakeClock, fakeIds, settled, type FakeClock } from "./fakes.ts";
