/** The entry point quern/sync. */

export type {
  CommonConnectionConfig,
  ConnectionConfig,
  ConnectionType,
  SecretFromEnvironment,
  SyncConfig,
  SyncSettings,
} from "./config/config.ts";
export { syncConfigSchema } from "./config/config-schema.ts";
export { readSyncConfig } from "./config/read-config.ts";
export type { SyncedConnection, SyncedRepository, SyncProgress, SyncReport } from "./report.ts";
export { syncConnections, type SyncOptions } from "./sync.ts";
export { startSync, type SyncService, type SyncServiceOptions } from "./service.ts";
