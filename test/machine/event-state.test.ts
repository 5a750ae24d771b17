/** Every event in every state: handled, deferred or refused, as the table says. */
import { describe, expect, test } from "vitest";
import { describeMachine, inputEvents, type InputEvent } from "../../machines/index.ts";
import { cell, places } from "./cell.ts";
import { columns, table, type Place, type Row } from "./event-state-table.ts";
import { reach, transient } from "./reach.ts";
import { samples } from "./samples.ts";

const types = Object.keys(inputEvents) as InputEvent["type"][];

/** What a row says of each place; a place that it names twice shows both. */
function spread({ elsewhere, ...outcomes }: Row): Record<string, string> {
  const said = (place: Place) => Object.keys(outcomes).filter((outcome) => outcomes[outcome]!.includes(place));
  return Object.fromEntries(columns.map((place) => [place, said(place).join(" and ") || elsewhere]));
}
const cells = (type: InputEvent["type"]) =>
  Object.fromEntries(Object.entries(places).map(([place, walk]) => [place, cell(walk(), samples[type])]));

describe("the table is exhaustive", () => {
  test("it has a row for every input event, and a sample to try", () => {
    expect(Object.keys(table).toSorted()).toEqual(types.toSorted());
    expect(Object.keys(samples).toSorted()).toEqual(types.toSorted());
  });

  test("it has a column for every state that can be rested in", () => {
    const leaves = describeMachine().states.filter((s) => s.initial === null && s.path !== "");
    expect([...Object.keys(reach), ...transient].toSorted()).toEqual(leaves.map((s) => s.path).toSorted());
    expect(Object.keys(places).toSorted()).toEqual([...columns].toSorted());
  });

  test.each(Object.entries(places))("a walk leads to %s", (place, walk) => {
    expect(walk().state).toBe(place.split(",")[0]);
  });

  test("every other state is left in the step that enters it", () => {
    const always = describeMachine().transitions.filter((t) => t.event === "always" && t.guard === undefined);
    expect(always.map((t) => t.from)).toEqual(expect.arrayContaining([...transient]));
  });
});

describe("every event in every state", () => {
  test.each(types)("%s", (type) => {
    const kinds = Object.fromEntries(Object.entries(cells(type)).map(([place, { kind }]) => [place, kind]));
    expect(kinds).toEqual(spread(table[type]));
  });
});

describe("where it is refused, nothing changes", () => {
  test.each(types)("%s", (type) => {
    for (const [place, { kind, contextKept, before, after }] of Object.entries(cells(type))) {
      if (kind !== "refused") continue;
      expect(contextKept, `the machine's memory in ${place}`).toBe(true);
      expect(after, `the transcript in ${place}`).toEqual(before);
    }
  });
});
