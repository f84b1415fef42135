/** The entry point quern/mcp. */

export { createMcpHandler, type McpOptions } from "./handler.ts";
