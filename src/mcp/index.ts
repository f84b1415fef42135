/** What hosts import as `quern/mcp`. */

export { createMcpHandler, type McpOptions } from "./handler.ts";
