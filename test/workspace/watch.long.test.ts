/** Tests sources that are indexed again as they change. */

import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { directory } from "../../src/ingest/sources/directory.ts";
import type { FolderRules, Source } from "../../src/ingest/sources/source.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { watch } from "../../src/watch.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

function run(folder: string, ...args: string[]): void {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  execFileSync("git", ["-C", folder, ...who, ...args], { stdio: "ignore" });
}

function commit(folder: string, path: string, text: string): void {
  writeFileSync(join(folder, path), text);
  run(folder, "add", "-A");
  run(folder, "commit", "--quiet", "-m", path);
}

/** Resolves when the engine finds the text this often. */
async function finds(engine: Awaited<ReturnType<typeof openEngine>>, query: string, count: number) {
  for (;;) {
    const { stats } = await engine.search({ query, matches: 0 });
    if (stats.totalMatchCount === count) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("a folder is indexed again when a file is changed, added or deleted", async () => {
  const engine = await openEngine();
  const root = temporaryFolder();
  writeFileSync(join(root, "a.txt"), "needle");
  let runs = 0;
  const onIndexed = () => void runs++;
  await using _ = await watch(engine, [directory(root, { name: "notes" })], { onIndexed });
  await finds(engine, "needle", 1);
  mkdirSync(join(root, "new"));
  writeFileSync(join(root, "new/b.txt"), "needle needle");
  await finds(engine, "needle", 3);
  unlinkSync(join(root, "a.txt"));
  await finds(engine, "needle", 2);
  await expect.poll(() => runs).toBeGreaterThanOrEqual(3); // called after the change can be found
});

test("a repository is indexed again when its branch moves, even in a linked work tree", async () => {
  const engine = await openEngine();
  const root = temporaryFolder();
  run(root, "init", "--quiet", "-b", "main");
  commit(root, "a.txt", "needle");
  const linked = join(temporaryFolder(), "linked");
  run(root, "worktree", "add", "--quiet", "-b", "side", linked);
  const sources = [git(root, { name: "shop" }), git(linked, { name: "linked" })];
  await using _ = await watch(engine, sources);
  await finds(engine, "needle", 2);
  commit(root, "b.txt", "needle");
  await finds(engine, "needle", 3);
  commit(linked, "c.txt", "needle");
  await finds(engine, "needle", 4);
  run(root, "pack-refs", "--all");
  run(root, "reset", "--quiet", "--hard", "HEAD~1");
  await finds(engine, "needle", 3);
});

/**
 * Changes of files that a source leaves out do not start a run. Changes of files that it lists do, whatever other rules
 * say.
 */
const RULED: [
  what: string,
  make: (root: string) => Source,
  happens: (root: string) => void,
  found: number,
][] = [
  [
    "an ignored file, if the source ignores rules",
    (root) => directory(root, { gitignore: false }),
    (root) => writeFileSync(join(root, "x.log"), "needle"),
    1,
  ],
  [
    "a file that a pattern of the source includes",
    (root) => directory(root, { ignore: ["!x.log"] }),
    (root) => writeFileSync(join(root, "x.log"), "needle"),
    1,
  ],
  [
    "a tracked file that a rule excludes",
    (root) => directory(root, { git: true }),
    (root) => writeFileSync(join(root, "tracked.log"), "needle"),
    1,
  ],
  [
    "a file that git begins to track",
    (root) => directory(root, { git: true }),
    (root) => run(root, "add", "--force", "ignored.log"),
    1,
  ],
  [
    "rules of git outside the files",
    (root) => directory(root, { git: true }),
    (root) => writeFileSync(join(root, ".git/info/exclude"), "b.txt\n"),
    -1,
  ],
];

test.each(RULED)("a run starts on a change of %s", async (_, make, happens, change) => {
  const engine = await openEngine();
  const root = temporaryFolder();
  run(root, "init", "--quiet", "-b", "main");
  writeFileSync(join(root, "tracked.log"), "hay");
  run(root, "add", "tracked.log");
  run(root, "commit", "--quiet", "-m", "tracked");
  writeFileSync(join(root, ".gitignore"), "*.log\n");
  writeFileSync(join(root, "ignored.log"), "needle in ignored");
  writeFileSync(join(root, "b.txt"), "needle");
  await using _watching = await watch(engine, [make(root)]);
  const { stats } = await engine.search({ query: "needle", matches: 0 });
  happens(root);
  await finds(engine, "needle", stats.totalMatchCount + change);
});

/** A source as a host writes it, with walk() of its options if the engine has workers. */
const hostSource = (root: string, rules?: FolderRules): Source => ({
  name: "host",
  metadata: {},
  origin: { folder: root, ...(rules && { rules }) },
  open: async (_, { walk }) => ({
    revisions: [{ name: "HEAD" }],
    entries: () => walk!({ root, ignore: ["*.bak"], gitignore: true }),
    hasShortVersions: true,
    close: async () => {},
  }),
});

test.each([
  [undefined, true],
  [{ ignore: ["*.bak"], gitignore: true }, false],
])("a host's own source is followed by its rules %j", async (rules, runsOnIgnored) => {
  const engine = await openEngine({ workers: 1 });
  const root = realpathSync(temporaryFolder());
  writeFileSync(join(root, "a.txt"), "needle");
  await sleep(50); // a file this young has no version, and is indexed again
  let runs = 0;
  const onIndexed = () => void runs++;
  await using _ = await watch(engine, [hostSource(root, rules)], { onIndexed });
  await finds(engine, "needle", 1);
  const before = runs;
  writeFileSync(join(root, "b.bak"), "needle");
  await sleep(800); // four times as long as the wait for more changes
  expect(runs > before).toBe(runsOnIgnored);
  writeFileSync(join(root, "c.txt"), "needle");
  await finds(engine, "needle", 2);
  const [report] = await engine.index(hostSource(root, rules), { symbols: "skip" });
  expect(report!.unchanged).toBeGreaterThan(0);
});

test("a data directory in a watched folder starts no runs", async () => {
  const root = temporaryFolder();
  const engine = await openEngine({}, join(root, "index"));
  let runs = 0;
  const source = directory(root, { name: "notes" });
  await using _ = await watch(engine, [source], { onIndexed: () => void runs++ });
  writeFileSync(join(root, "a.txt"), "needle");
  await finds(engine, "needle", 1);
  const before = runs;
  await new Promise((resolve) => setTimeout(resolve, 800)); // four times as long as the wait for more changes
  expect(runs - before).toBeLessThanOrEqual(2); // the run that found the change may not be reported yet
});

test("symbols are skipped on request", async () => {
  const engine = await openEngine();
  const root = temporaryFolder();
  writeFileSync(join(root, "a.py"), "def needle(): pass\n");
  await using _ = await watch(engine, [directory(root, { name: "notes" })], { symbols: "skip" });
  const [repository] = await engine.repositories();
  expect(repository!.symbols.done).toBe(0);
});

test("a source without a folder is rejected, and an abort ends the watch", async () => {
  const engine = await openEngine();
  await expect(watch(engine, [documents({ name: "wiki", files: [] })])).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: "watch: wiki does not come from a folder; give git() or directory()",
  });
  const stop = new AbortController();
  const root = temporaryFolder();
  let runs = 0;
  const options = { signal: stop.signal, onIndexed: () => void runs++ };
  const watching = await watch(engine, [directory(root, { name: "notes" })], options);
  stop.abort();
  await watching[Symbol.asyncDispose]();
  writeFileSync(join(root, "a.txt"), "needle");
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(runs).toBe(1);
});
