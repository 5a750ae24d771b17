import { expect, test } from "vitest";
import * as e from "./events.ts";
import { reach, requesting } from "./reach.ts";

test("an answer that does not fit the output schema is asked for again, as long as the limit allows", () => {
  const walk = reach["receive.closing"]!();
  for (const [i, id] of ["f1", "f2"].entries()) {
    walk.feed(e.unfit(id));
    expect(walk.last("turn.started")).toMatchObject({ turn: i + 2, inputs: [id] });
    walk.feed(e.prepared(), e.answer());
    expect(walk.state).toBe("receive.closing");
  }
  walk.feed(e.unfit());
  expect(walk.state).toBe("receive.idle");
  expect(walk.last("run.ended")).toMatchObject({ status: "failed", error: { code: "output_invalid" } });
});

test("a run with an output schema has its answer looked at, whether or not anybody reviews stops", () => {
  const output = { name: "answer", schema: { type: "object" } };
  expect(requesting({ output }).feed(e.answer()).state).toBe("receive.closing");
  expect(requesting().feed(e.answer()).state).toBe("receive.idle");
});

test("a model that stands by is asked in the same turn, at once, with retries of its own, and for the rest of the run", () => {
  const walk = requesting().feed(e.failedWith("timeout"), e.elapsed("backoff"), e.failedOver("auth", "second"));
  expect(walk.context.draft).toMatchObject({ tries: 0, waitMs: 0 });
  walk.feed(e.elapsed("backoff"));
  expect(walk.last("attempt.started")).toMatchObject({ turn: 1, attempt: 3, prefer: "second" });
  for (const waitMs of [250, 500]) {
    walk.feed(e.failedWith("timeout"));
    expect(walk.context.draft).toMatchObject({ waitMs });
    walk.feed(e.elapsed("backoff"));
  }
  walk.feed(e.answer(["c1"]), e.allowed("c1"), e.settled("c1"), e.prepared());
  expect(walk.last("attempt.started")).toMatchObject({ turn: 2, attempt: 1, prefer: "second" });
});

test("a failure that no model may mend ends the run, also after one stood in", () => {
  const walk = requesting().feed(e.failedOver("auth", "second"), e.elapsed("backoff"), e.failedWith("auth"));
  expect(walk.last("run.ended")).toMatchObject({ status: "failed", error: { code: "auth" } });
});
