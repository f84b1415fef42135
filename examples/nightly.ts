/**
 * What a timer runs every night: fetches into the clones below a folder, indexes them in one run,
 * and takes out of the index what is gone from the disk.
 *
 *     npx tsx examples/nightly.ts /srv/repositories
 *
 * A clone of any kind (ordinary, bare, mirror) is indexed at the default branch of its remote
 * origin, as a revision origin/main or the like: a fetch moves neither the branches of an ordinary
 * clone nor its files. A repository without a remote is indexed at the branch HEAD is on.
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
      await bringUpToDate(path);
    } catch (error) {
      console.error(`${name} is indexed as it is: ${String(error)}`);
    }
    const branch = await remoteBranch(path);
    yield git(path, { name, ...(branch !== undefined && { revisions: [branch] }) });
  }
}

/** A bare clone is not told where to fetch to, so every one is. */
async function bringUpToDate(path: string): Promise<void> {
  const branches = "+refs/heads/*:refs/remotes/origin/*";
  await run("git", ["-C", path, "fetch", "--quiet", "--prune", "origin", branches]);
  await run("git", ["-C", path, "remote", "set-head", "origin", "--auto"]);
}

/** Such as origin/main; undefined where nothing was ever fetched. */
async function remoteBranch(path: string): Promise<string | undefined> {
  try {
    const head = ["symbolic-ref", "--short", "refs/remotes/origin/HEAD"];
    const { stdout } = await run("git", ["-C", path, ...head]);
    return stdout.trim();
  } catch {
    return undefined;
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
