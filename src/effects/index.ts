/** Every effect the machine names, ready to be provided. */
import { askApproval } from "./ask-approval.ts";
import { callModel } from "./call-model.ts";
import { discard, elideResults, summarize } from "./compact.ts";
import { reviewCalls } from "./review-calls.ts";
import { runTool } from "./run-tool.ts";
import { prepareRequest, reviewInputs, reviewStop, sleep } from "./small.ts";

export const effects = {
  askApproval,
  callModel,
  discard,
  elideResults,
  prepareRequest,
  reviewCalls,
  reviewInputs,
  reviewStop,
  runTool,
  sleep,
  summarize,
};
