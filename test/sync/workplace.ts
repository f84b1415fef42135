/** An engine in its own folder, and a run of sync over it. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { open, type Engine } from "../../src/index.ts";
import type { ConnectionConfig, SyncConfig, SyncReport } from "../../src/sync/index.ts";
import { syncConnections, type SyncOptions } from "../../src/sync/index.ts";

export interface Workplace {
  readonly engine: Engine;
  readonly folder: string;
  /** Runs sync once with one connection, called `work`. */
  readonly sync: (connection: ConnectionConfig, options?: SyncOptions) => Promise<SyncReport>;
  readonly syncAll: (config: SyncConfig, options?: SyncOptions) => Promise<SyncReport>;
  /** Resolves to the names of repositories with a file that contains the text. */
  readonly find: (text: string) => Promise<string[]>;
  readonly names: () => Promise<string[]>;
}

export async function openWorkplace(): Promise<Workplace> {
  const folder = mkdtempSync(join(tmpdir(), "quern-sync-"));
  const engine = await open(join(folder, "index"), { workers: 0 });
  onTestFinished(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const syncAll = (config: SyncConfig, options: SyncOptions = {}) =>
    syncConnections(engine, config, { env: {}, ...options });
  return {
    engine,
    folder,
    syncAll,
    sync: (connection, options) => syncAll({ connections: { work: connection } }, options),
    find: async (text) => {
      const { files } = await engine.search({ query: `"${text}"`, matches: 1_000 });
      return [...new Set(files.map(({ repository }) => repository))].sort();
    },
    names: async () => (await engine.repositories()).map(({ name }) => name).sort(),
  };
}
