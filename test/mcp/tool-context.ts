/** The context that a host gives to tools, for an engine without viewers. */

import { Cursors } from "../../src/mcp/cursors.ts";
import { tokenBound } from "../../src/mcp/token-bound.ts";
import type { ToolContext } from "../../src/mcp/tool.ts";

export const toolContext = (
  engine: ToolContext["engine"],
  behind: readonly string[] = [],
): ToolContext => ({
  engine,
  viewer: undefined,
  signal: new AbortController().signal,
  timeoutMs: undefined,
  cursors: new Cursors(),
  count: tokenBound,
  behind: () => behind,
  hidesSecrets: false,
});
