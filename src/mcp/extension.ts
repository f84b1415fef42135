/**
 * Adds to what a mount serves, on the same wiring: the conformance suite of the protocol asks for tools, prompts
 * and resources by name that code search has no use for. Not a public option: a symbol is the key.
 */

import type { McpServer } from "@modelcontextprotocol/server";
import type { Tool } from "./tool.ts";

export const EXTENSION = Symbol("extension");

/** Registers a tool whose calls are guarded, told of and answered in words, as those of our own. */
export type AddTool = (tool: Tool) => void;

/** Registers more with the server of a request. */
export type Extension = (server: McpServer, add: AddTool) => void;

export interface Extends {
  readonly [EXTENSION]?: Extension;
}
