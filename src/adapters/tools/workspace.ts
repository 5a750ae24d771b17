/** Tools for the files of a workspace, confined to it. */
import type { ToolDefinition } from "../../ports.ts";
import { tool } from "../../tool.ts";
import { listFilesTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { runCommandTool } from "./run-command.ts";
import { searchTextTool } from "./search-text.ts";
import { writeFileTool } from "./write-file.ts";

/** Names of the tools that {@link workspaceTools} makes. */
export type WorkspaceTools = Record<
  "read_file" | "list_files" | "search_text" | "write_file" | "run_command",
  ToolDefinition
>;

/**
 * Makes the five workspace tools, for `createAgent({ tools: { ...workspaceTools() } })`. Without `root` they work in the
 * workspace of the session that calls them.
 *
 * Files are judged by where a path really leads; nothing outside of the workspace is read or written. `run_command` is a
 * shell with the rights of this process: it begins in the workspace and is not confined to it, so it asks, like
 * `write_file`, unless a policy allows it.
 */
export const workspaceTools = (root?: string): WorkspaceTools => ({
  read_file: tool(readFileTool(root)),
  list_files: tool(listFilesTool(root)),
  search_text: tool(searchTextTool(root)),
  write_file: tool(writeFileTool(root)),
  run_command: tool(runCommandTool(root)),
});
