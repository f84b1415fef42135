/** The entry point quern/http. It exports the HTTP interface, and the stores that say who may use it. */

export { createHandler, type Handler } from "./handler.ts";
export { toNodeListener } from "./node-listener.ts";
export { answerUnreadable } from "./unreadable.ts";
export type { AuditEvent, Connection, HandlerOptions, McpMount } from "./options.ts";
export { memoryAuditStore, type AuditRecord, type AuditStore } from "../auth/audit-store.ts";
export { lmdbAuditStore } from "../auth/lmdb-audit-store.ts";
export type { Principal } from "../auth/principal.ts";
export { createApiKey, type ApiKeyOptions, type TokenPrefixes } from "../auth/secrets.ts";
export { memoryTokenStore, type TokenRecord, type TokenStore } from "../auth/token-store.ts";
export { memoryUserStore, type User, type UserStore } from "../auth/user-store.ts";
export { lmdbTokenStore, lmdbUserStore } from "../auth/lmdb-stores.ts";
