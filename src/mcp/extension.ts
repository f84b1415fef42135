/**
 * Lets the protocol's conformance suite register the tools, prompts and resources that it requires, on the same server.
 * It is no public option: its key is a symbol.
 */

import type { McpServer } from "@modelcontextprotocol/server";
import type { Tool } from "./tool.ts";

export const EXTENSION = Symbol("extension");

/** Registers a tool. Its calls are guarded, recorded and answered like those of our own tools. */
export type AddTool = (tool: Tool) => void;

/** Registers prompts and resources with the server of a request. */
export type Extension = (server: McpServer, add: AddTool) => void;

export interface Extends {
  readonly [EXTENSION]?: Extension;
}
