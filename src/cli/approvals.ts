/** Who approves calls that ask: flags say so, else the person at the terminal, else nobody. */
import type { RunOptions } from "../session/options.ts";
import { askOnTerminal } from "./approval-prompt.ts";
import { bottomLine } from "./bottom-line.ts";
import { Problem } from "./problem.ts";

export type ApprovalFlags = { yes?: boolean; deny?: boolean; approvals?: "deny" | "wait" | "suspend"; color?: boolean };

/** The options that make a run ask as the flags say. @throws Problem when they contradict each other */
export function approvalOptions({
  yes,
  deny,
  approvals,
  color,
}: ApprovalFlags): Pick<RunOptions, "approve" | "approvals"> {
  const said = [yes && "--yes", deny && "--deny", approvals && "--approvals"].filter(Boolean);
  if (said.length > 1) throw new Problem(`${said.join(" and ")} contradict each other: give one of them.`);
  if (yes) return { approve: "allow" };
  if (deny) return { approve: "deny" };
  if (approvals) return { approvals };
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return {};
  const ask = askOnTerminal({ input: stdin, output: stderr, color });
  return {
    approve: async (requests, context) => {
      const release = bottomLine.hold();
      try {
        return await ask(requests, context);
      } finally {
        release();
      }
    },
  };
}
