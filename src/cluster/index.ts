/** What hosts import as `quern/cluster`. */

export { migrateCluster, type PostgresPlace } from "./postgres/schema.ts";
export type {
  PostgresClient,
  PostgresPool,
  PostgresQueries,
  PostgresResult,
} from "./postgres/pool.ts";
export { postgresAuditStore } from "./postgres/audit-store.ts";
export { postgresTokenStore } from "./postgres/token-store.ts";
export { postgresUserStore } from "./postgres/user-store.ts";
