/**
 * Lets the conformance suite of the protocol register the tools, prompts and resources that it asks for by
 * name, on the same wiring. Not a public option: a symbol is the key.
 */

import type { McpServer } from "@modelcontextprotocol/server";
import type { Tool } from "./tool.ts";

export const EXTENSION = Symbol("extension");

/** Registers a tool. Its calls are guarded, recorded and answered like those of our own tools. */
export type AddTool = (tool: Tool) => void;

/** Registers more with the server of a request. */
export type Extension = (server: McpServer, add: AddTool) => void;

export interface Extends {
  readonly [EXTENSION]?: Extension;
}
