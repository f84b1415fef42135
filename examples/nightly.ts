/**
 * What a timer runs every night: brings the clones below a folder up to date, indexes them in one
 * run, and takes out of the index what is gone from the disk.
 *
 *     npx tsx examples/nightly.ts /srv/repositories
 *
 * Servers that have the index open need not be told: their next search sees what is published.
 */

import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { git, open, type Engine, type Source } from "quern";

const run = promisify(execFile);
const [, , folder = "."] = process.argv;

/** One after the other: while one repository is indexed, the next is fetched. */
async function* sources(names: readonly string[]): AsyncGenerator<Source> {
  for (const name of names) {
    const path = join(folder, name);
    try {
      await run("git", ["-C", path, "fetch", "--quiet", "--all", "--prune"]);
    } catch (error) {
      console.error(`${name} is indexed as it is: ${String(error)}`);
    }
    yield git(path, { name });
  }
}

async function removeOthers(engine: Engine, names: ReadonlySet<string>): Promise<void> {
  for (const { name } of await engine.repositories())
    if (!names.has(name) && (await engine.remove(name))) console.log(`${name}: removed`);
}

const entries = await readdir(folder, { withFileTypes: true });
const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

// another night's run may still be writing: wait for it up to a minute
const engine = await open(process.env["QUERN_DB"] ?? "./.quern", { lockTimeoutMs: 60_000 });
try {
  for (const report of await engine.index(sources(names))) {
    const { repository, added, removed, skipped, durationMs } = report;
    console.log(
      `${repository}: +${added} -${removed}, ${skipped.length} skipped, ${Math.round(durationMs)} ms`,
    );
  }
  await removeOthers(engine, new Set(names));
} finally {
  await engine.close();
}
