/**
 * Lets tests add tools, prompts and resources to the server. The protocol's conformance suite requires some that
 * quern does not have. Hosts cannot use this option, because its key is a symbol that the package does not export.
 */

import type { McpServer } from "@modelcontextprotocol/server";
import type { Tool } from "./tool.ts";

export const EXTENSION = Symbol("extension");

/** Registers a tool. Its calls are guarded, recorded and answered like those of quern's own tools. */
export type AddTool = (tool: Tool) => void;

/** Registers tools, prompts and resources on the server of a request. `add` registers a tool. */
export type Extension = (server: McpServer, add: AddTool) => void;

export interface Extends {
  readonly [EXTENSION]?: Extension;
}
