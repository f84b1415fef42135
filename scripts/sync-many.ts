/**
 * Syncs a great many repositories of a local code host over git's own `upload-pack`, and prints how long it takes:
 *
 *     node --import tsx scripts/sync-many.ts [COUNT]        default 1 000
 *
 * Exits with 1 if a run does anything but what it should.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../src/opened-engine.ts";
import { syncMany } from "../test/sync/many.ts";
import { startRemotes } from "../test/sync/remotes.ts";

const count = Number(process.argv[2] ?? 1_000);
const folder = mkdtempSync(join(tmpdir(), "quern-sync-many-"));
const remotes = await startRemotes();
const engine = await open(folder);
try {
  for (const { what, ms } of await syncMany(count, { remotes, engine }))
    console.log(`${count} repositories, ${what}: ${(ms / 1000).toFixed(1)} s`);
} finally {
  await engine.close();
  remotes.close();
  rmSync(folder, { recursive: true, force: true });
}
