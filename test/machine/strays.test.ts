/** Outcomes that come twice, in part, or about something else do not lead the machine astray. */
import { describe, expect, test } from "vitest";
import * as e from "./events.ts";
import { answered, asking, begun, executing, reach, requesting, suspended } from "./reach.ts";
import { results, told } from "./transitions/scenario.ts";
import { Walk } from "./walk.ts";

describe("verdicts", () => {
  test("about some of the calls, they leave the batch in review until the others have theirs", () => {
    const walk = answered(["c1", "c2"]).feed(e.allowed("c1"));
    expect([walk.state, walk.started]).toEqual(["act.reviewing", []]);
    walk.feed(e.allowed("c2"));
    expect([walk.state, walk.started]).toEqual(["act.executing", ["c1", "c2"]]);
  });

  test.each([
    ["about no call", e.allowed()],
    ["about calls of another answer", e.allowed("c7")],
  ])("%s, they change nothing", (_, event) => {
    const walk = answered(["c1"]).feed(event);
    expect([walk.state, walk.started]).toEqual(["act.reviewing", []]);
  });

  test("that come later do not overrule an ask: nothing runs before the last of a batch is decided", () => {
    const walk = answered(["c1", "c2"]).feed(e.asks("c1"), e.allowed("c1", "c2"));
    expect([walk.state, walk.started]).toEqual(["act.approving", ["askApproval"]]);
  });
});

describe("results", () => {
  test("of a call that has one already are not taken", () => {
    const walk = executing().feed(e.settled("c1", "ok"), e.settled("c1", "failed"), e.settled("c2"));
    expect(results(walk)).toEqual({ c1: "ok", c2: "ok" });
  });

  test("of foreign calls are not taken", () => {
    const walk = executing().feed(e.settled("c7"));
    expect([walk.state, walk.said]).toEqual(["act.executing", []]);
  });
});

describe("decisions", () => {
  test("about other arguments are void", () => {
    const walk = asking().feed(e.decided(e.decisionOn("c1", "allow", { hash: "other" }), e.decisionOn("c2")));
    expect(walk.context.draft?.calls.map((c) => c.stage)).toEqual(["asked", "ready"]);
  });

  test("that come twice count once", () => {
    const walk = asking().feed(e.decided(e.decisionOn("c1", "deny")), e.decided(e.decisionOn("c1", "allow")));
    walk.feed(e.decided(e.decisionOn("c2")), e.settled("c2"));
    expect(results(walk)).toEqual({ c1: "denied", c2: "ok" });
  });
});

describe("compaction", () => {
  test("that frees nothing is not asked for again in the same lap", () => {
    const walk = reach["compact.summarizing"]!().feed(e.compacted());
    expect([walk.state, walk.said]).toEqual(["receive.idle", ["phase.ended compact"]]);
  });

  test("by hand that meets a journal that cannot be written leaves a suspended run suspended", () => {
    const walk = suspended().feed(e.compaction("discard"), e.storeFailed);
    expect([walk.state, walk.context.ending]).toEqual(["receive.idle", null]);
    expect(walk.feed(e.goOn("r2", { approvals: { mode: "wait" } })).state).toBe("act.approving");
  });
});

describe("inputs", () => {
  test("that arrive twice while they wait are queued once", () => {
    const walk = new Walk().feed(e.prompt("p1"), e.prompt("p1"));
    expect(walk.context.inbox.map((i) => i.id)).toEqual(["p1"]);
    expect(told(walk.feed(e.run()), "turn.started").inputs).toEqual(["p1"]);
  });

  test("that are refused do not wake a waiting run", () => {
    const walk = reach["receive.waiting"]!().feed(e.defer("d1", "another run"));
    expect(walk.said).toEqual(["input.refused"]);
  });

  test("that are refused deny nothing", () => {
    const walk = asking(undefined, { limits: { inbox: 1 } }).feed(e.notice(), e.prompt("p2", { steering: true }));
    expect([walk.state, walk.said]).toEqual(["act.approving", ["input.refused"]]);
  });

  test("that are refused leave no notice behind", () => {
    const walk = reach["receive.admitting"]!().feed(e.admitted({ id: "p1", refused: "no", info: ["aside"] }));
    expect(walk.transcript.waiting("p1.info0")).toBeUndefined();
  });
});

describe("a cancel", () => {
  test("of another run has no effect", () => {
    const walk = requesting().feed(e.cancel({ runId: "another" }));
    expect([walk.context.ending, walk.aborted]).toEqual([null, []]);
  });

  test("that comes twice is the first one", () => {
    const walk = executing().feed(e.cancel({ reason: "first" }), e.cancel(), e.settled("c1"), e.settled("c2"));
    expect(told(walk, "run.ended")).toMatchObject({ status: "cancelled", reason: "first" });
  });

  test("after the run is over changes nothing", () => {
    const walk = begun().feed(e.cancel(), e.cancel());
    expect([walk.state, walk.said]).toEqual(["receive.idle", []]);
  });
});
