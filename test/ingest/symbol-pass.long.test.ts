/** If a file kills a thread, only that file loses its symbols. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { findSymbols } from "../../src/ingest/symbols/symbol-pass.ts";
import type { FoundSymbols, SymbolsInput } from "../../src/ingest/symbols/symbol-task.ts";
import { INGEST_TASKS } from "../../src/ingest/tasks.ts";
import { loadCatalog } from "../../src/store/catalog/catalog.ts";
import type { Environment } from "../../src/store/lmdb/environment.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import { openSymbols } from "../../src/store/symbols/symbols.ts";
import { createPool, type Pool } from "../../src/threads/pool.ts";

const BLOBS = 9;
const DEADLY = 5;

/** Makes a store whose files have no symbols yet. */
async function indexed(contentOf: (i: number) => string): Promise<Environment> {
  const path = mkdtempSync(join(tmpdir(), "quern-pass-"));
  const engine = await open(path, { workers: 0 });
  const files = Array.from({ length: BLOBS }, (_, i) => ({
    path: `f${i}.ts`,
    content: contentOf(i),
  }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  await engine.close();
  const environment = await openStore(path, { readOnly: false });
  onTestFinished(async () => {
    await environment.close();
    rmSync(path, { recursive: true, force: true });
  });
  return environment;
}

async function newestCatalog(environment: Environment) {
  const snapshot = environment.snapshot();
  const catalog = await loadCatalog(snapshot, undefined, () => undefined);
  snapshot.close();
  return catalog;
}

/** Resolves to how many definitions were found, and to the outcome of each blob. */
async function pass(
  environment: Environment,
  pool: Pool,
  { maxSilentMs, memoryBudget = 2 ** 28 }: { maxSilentMs?: number; memoryBudget?: number } = {},
) {
  const { signal } = new AbortController();
  const lease = await acquireLease(environment, { timeoutMs: 0, signal });
  const found = await findSymbols({
    environment,
    pool,
    memoryBudget,
    catalog: await newestCatalog(environment),
    owner: lease.owner,
    throwIfStopped: () => undefined,
    onProgress: () => undefined,
    onWarning: ({ message }) => expect.fail(message),
    ...(maxSilentMs !== undefined && { maxSilentMs }),
  });
  await lease.release();
  await pool.close();
  const [segment] = (await newestCatalog(environment)).manifest.segments;
  expect(segment).toMatchObject({ symbols: 1, hasSymbols: true });
  const snapshot = environment.snapshot();
  const symbols = openSymbols(snapshot, segment!.segment, 1)!;
  const outcomes = Array.from({ length: BLOBS }, (_, blob) => symbols.origin(blob)!.outcome);
  snapshot.close();
  const [all] = [...found.values()] as [FoundSymbols];
  const given = all.withoutSymbols.map(({ path, reason }) => `${path} ${reason}`);
  return { symbols: all.symbols, outcomes, given };
}

const outcomes = (...deadly: number[]) =>
  Array.from({ length: BLOBS }, (_, blob) => (deadly.includes(blob) ? "gave-up" : "symbols"));

/** Returns a pool that dies of every range with the deadly blob, unless it is told not to parse that blob. */
function mortal(pool: Pool, saysWhere: boolean): { pool: Pool; deaths: () => number } {
  let deaths = 0;
  const dying: Pool = {
    lanes: pool.lanes,
    inline: pool.inline,
    stop: () => pool.stop(),
    close: () => pool.close(),
    run(task, input, options) {
      const { from, to, isDeadly, parsing } = input as SymbolsInput;
      if (task !== "ingest.symbols" || isDeadly || from > DEADLY || to <= DEADLY)
        return pool.run(task, input, options);
      deaths++;
      if (saysWhere) parsing[0] = DEADLY;
      return Promise.reject(new QuernError("INTERNAL", "worker 0 died"));
    },
  };
  return { pool: dying, deaths: () => deaths };
}

test.each([
  ["by halving", false, 4], // ranges of 9 blobs, 5, 3 or 2, 1
  ["by what the dead thread was at", true, 2],
])("a deadly blob is found %s, and is given up", async (_, saysWhere, expectedDeaths) => {
  const environment = await indexed((i) => `function f${i}() {}`);
  const real = createPool({
    size: 0,
    entry: new URL("none:"),
    tasks: INGEST_TASKS,
    environment: { path: environment.path, readOnly: false, opened: environment },
  });
  const { pool, deaths } = mortal(real, saysWhere);
  expect(await pass(environment, pool)).toEqual({
    symbols: BLOBS - 1,
    outcomes: outcomes(DEADLY),
    given: [`f${DEADLY}.ts killed-thread`],
  });
  expect(deaths()).toBe(expectedDeaths);
});

test.each([
  [64, 2, 1],
  [256, 2, 2],
  [256, 8, 6],
])("with %i MiB and %i threads, %i parse", async (mebibytes, lanes, expected) => {
  const environment = await indexed((i) => `function f${i}() {}\n//${"x".repeat(2 ** 20)}`);
  const real = createPool({
    size: 0,
    entry: new URL("none:"),
    tasks: INGEST_TASKS,
    environment: { path: environment.path, readOnly: false, opened: environment },
  });
  const used = new Set<number | undefined>();
  const pool: Pool = {
    lanes,
    inline: false,
    stop: () => real.stop(),
    close: () => real.close(),
    async run(task, input, { worker, ...options }) {
      used.add(worker);
      return await real.run(task, input, options);
    },
  };
  await pass(environment, pool, { memoryBudget: mebibytes * 2 ** 20 });
  expect([...used]).toEqual(
    expected === lanes ? [undefined] : Array.from({ length: expected }, (_, worker) => worker),
  );
});

let deadlyWorker: URL;
beforeAll(async () => {
  const folder = fileURLToPath(new URL("../../build", import.meta.url)); // the packages are next to it
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, "deadly-worker.js");
  await build({
    entryPoints: [fileURLToPath(new URL("deadly-worker.ts", import.meta.url))],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
  });
  deadlyWorker = pathToFileURL(outfile);
});

test("threads that loop for ever and threads that die are replaced", async () => {
  const texts = ["a", "b", "loop", "c", "exit", "d", "e", "loop too", "f"];
  const environment = await indexed((i) => `function f${i}() {} // ${texts[i]}`);
  const warnings: string[] = [];
  const pool = createPool({
    size: 2,
    entry: deadlyWorker,
    tasks: {},
    environment: { path: environment.path, readOnly: false },
    onWarning: ({ message }) => void warnings.push(message.replace(/^worker \d /, "")),
  });
  expect(await pass(environment, pool, { maxSilentMs: 1_000 })).toEqual({
    symbols: BLOBS - 3,
    outcomes: outcomes(2, 4, 7),
    given: [2, 4, 7].map((i) => `f${i}.ts killed-thread`),
  });
  // each is met once among others, and once alone
  const silent = "died: ingest.symbols did not respond for 1 s";
  const loops = Array.from({ length: 4 }, () => silent);
  expect(warnings.sort()).toEqual(["died: exit code 7", "died: exit code 7", ...loops]);
});
