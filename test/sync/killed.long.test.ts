/**
 * `quern sync` is killed at any moment. After each kill, the index is intact and has each repository as it was at one
 * of its commits, never an older one than before. The next run that is not killed brings everything up to date.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { testSeed } from "../engine/seed.ts";
import { bundledPrograms } from "../programs.ts";
import { randomFrom } from "../regex/random.ts";
import { RUNS } from "../runs.ts";
import { commit, serveRemotes } from "./remotes.ts";

const NAMES = ["a", "b", "c", "d"];
const KILLS = 3 * RUNS;

let command: string;
beforeAll(async () => {
  [command] = (await bundledPrograms(["src/cli/bin.ts"])) as [string];
});

/** Starts a run of sync. */
function startSync(file: string, database: string) {
  const args = [command, "sync", file, "--db", database];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  return { child, said: text(child.stderr), over: once(child, "close") };
}

const writtenAt = (database: string): number =>
  statSync(join(database, "quern.mdb"), { throwIfNoEntry: false })?.mtimeMs ?? 0;

test("a killed sync loses nothing", async () => {
  const random = randomFrom(testSeed());
  const remotes = await serveRemotes();
  const folder = temporaryFolder();
  const [file, database] = [join(folder, "quern.json"), join(folder, "index")];
  const urls = NAMES.map((name) => `${remotes.url}/acme/${name}.git`);
  writeFileSync(file, JSON.stringify({ connections: { work: { type: "git", urls } } }));
  const versions = new Map(NAMES.map((name) => [name, 0]));
  const change = (name: string): void => {
    const version = versions.get(name)! + 1;
    versions.set(name, version);
    const content = `export function needle${version}() {}\n`.repeat(200 + version);
    commit(remotes.root, `acme/${name}`, { "a.ts": content });
  };
  NAMES.forEach(change);

  const seen = new Map(NAMES.map((name) => [name, 0]));
  /** Compares the index with the commits, and resolves to the newest version of each repository. */
  const look = async (): Promise<Map<string, number>> => {
    await using engine = await open(database, { workers: 0 });
    expect(await engine.check()).toMatchObject({ ok: true });
    for (const { name } of await engine.repositories()) {
      const short = name.slice(name.lastIndexOf("/") + 1);
      const { content } = (await engine.read({ repository: name, path: "a.ts" }))!;
      const version = Number(/needle(\d+)/.exec(content)![1]);
      expect(content).toBe(`export function needle${version}() {}\n`.repeat(200 + version));
      expect(version).toBeGreaterThanOrEqual(seen.get(short)!);
      expect(version).toBeLessThanOrEqual(versions.get(short)!);
      seen.set(short, version);
      const { stats } = await engine.search({
        query: `repo:^${name}$ needle${version}`,
        matches: 0,
      });
      expect(stats.totalMatchCount).toBe(200 + version);
    }
    return seen;
  };

  let killed = 0;
  for (let run = 0; run < KILLS; run++) {
    const { child, over } = startSync(file, database);
    const isRunning = (): boolean => child.exitCode === null;
    if (run % 2 === 0) {
      // while it asks and fetches: three requests for each repository that has changed, and one for each other
      const requests = remotes.requests.length + random(3 * NAMES.length);
      while (remotes.requests.length < requests && isRunning()) await sleep(1);
    } else {
      // while it indexes: at one of its transactions
      for (let left = 1 + random(2 * NAMES.length); left > 0 && isRunning(); left--) {
        const before = writtenAt(database);
        while (writtenAt(database) === before && isRunning()) await sleep(1);
      }
    }
    if (child.kill("SIGKILL")) killed++;
    await over;
    await look();
    const next = startSync(file, database);
    await next.over;
    expect(await next.said).not.toMatch(/failed/);
    expect(next.child.exitCode).toBe(0);
    expect(await look()).toEqual(versions);
    for (const name of NAMES) if (random(10) < 8) change(name);
  }
  expect(killed).toBeGreaterThan(0);
});
