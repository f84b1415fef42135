/** The entry quern/mcp. */

export { createMcpHandler, type McpOptions } from "./handler.ts";
