/**
 * Adds sync to `quern serve`. With --sync, a sync service runs inside the server. Without it, the server only lists
 * the connections that `quern sync` recorded last.
 */

import { resolve } from "node:path";
import type { Engine } from "../engine.ts";
import type { SyncService } from "../sync/service.ts";
import type { Io } from "./io.ts";
import { show } from "./sync-command.ts";

interface Flags {
  readonly db: string;
  readonly sync?: string;
  readonly json?: true;
}

export type ServedConnections = Pick<SyncService, "connections"> &
  Partial<Pick<SyncService, "webhook">> &
  AsyncDisposable;

/** The time between runs if the configuration does not set it. */
const EVERY = "10m";

export async function connectionsFor(
  engine: Engine,
  { db, sync }: Flags,
  io: Io,
): Promise<ServedConnections> {
  const { startSync, storedConnections } = await import("../sync/service.ts");
  if (sync === undefined) {
    const { syncFolder } = await import("../sync/sync.ts");
    const connections = storedConnections(syncFolder(resolve(db)));
    return { connections, [Symbol.asyncDispose]: async () => {} };
  }
  const { readSyncConfig } = await import("../sync/config/read-config.ts");
  const config = await readSyncConfig(sync);
  const every = config.sync?.every ?? EVERY;
  const onlyTroubles: Io = { ...io, stdout: io.stderr }; // stdout carries only the address
  return startSync(
    engine,
    { ...config, sync: { ...config.sync, every } },
    {
      env: io.env,
      onReport: (report) => show(report, {}, onlyTroubles),
      onError: ({ message }) => io.stderr.write(`quern: ${message}\n`),
    },
  );
}
