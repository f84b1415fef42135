/** An error in the symbols of one file affects only that file. It is reported, and the file does not count as done. */

import { expect, onTestFinished, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { INGEST_TASKS } from "../../src/ingest/tasks.ts";
import { findSymbols } from "../../src/ingest/symbols/symbol-pass.ts";
import type { FoundSymbols } from "../../src/ingest/symbols/symbol-task.ts";
import { loadCatalog } from "../../src/store/catalog/catalog.ts";
import { BLOCK_BYTES, PART, segmentKey } from "../../src/store/format/format.ts";
import {
  openEnvironment,
  type Environment,
  type Writer,
} from "../../src/store/lmdb/environment.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { createPool, type Pool } from "../../src/threads/pool.ts";
import { openEngine, temporaryFolder } from "./opened.ts";

/** Texts that are too short, even together, for a second repository to borrow them. */
const BLOBS = 3;
const MIDDLE = "1.ts";
/** Padding longer than two text blocks, so that each file has a block of its own. */
const PADDING = `//${"x".repeat(2 * BLOCK_BYTES)}\n`;
const files = Array.from({ length: BLOBS }, (_, i) => ({
  path: `${i}.ts`,
  content: `function found${i}() {}\n${PADDING}`,
}));

async function namesFound(engine: Engine): Promise<string[]> {
  const { files } = await engine.search({ query: "sym:^found", matches: 100 });
  return files.map(({ fileName }) => fileName.text).sort();
}

async function change(path: string, work: (writer: Writer) => void): Promise<void> {
  const environment = openEnvironment(path, { readOnly: false });
  await environment.write(work);
  await environment.close();
}

/** Opens an engine and collects its warnings, because the test expects some. */
async function openWarned(path: string): Promise<{ engine: Engine; warnings: string[] }> {
  const warnings: string[] = [];
  const onWarning = ({ message }: { message: string }) => void warnings.push(message);
  const engine = await open(path, { workers: 0, onWarning });
  onTestFinished(() => engine.close());
  return { engine, warnings };
}

/** Removes the block in the middle of the middle file. */
const loseMiddleText = (segment: number) => (writer: Writer) => {
  const middle = (BLOBS * files[0]!.content.length) / 2;
  writer.remove(segmentKey(segment, PART.TEXT, Math.floor(middle / BLOCK_BYTES)));
};

test("a name that ends outside the text after a syntax error does not remove the file's symbols", async () => {
  const engine = await openEngine();
  const [report] = await engine.index(
    documents({
      name: "r",
      files: [
        { path: "a.mli", content: "val a : int\nmodule type" },
        { path: "b.py", content: "def found():\n    pass\nclass Bar:\n    def baz(self): pass\n" },
      ],
    }),
  );
  expect(report).toMatchObject({ symbols: 4, withoutSymbols: [] });
  const { stats, isSearchExhaustive } = await engine.search({ query: "sym:^.", matches: 100 });
  expect([stats.totalMatchCount, isSearchExhaustive]).toEqual([4, true]);
  expect(await namesFound(engine)).toEqual(["b.py"]);
});

test("a file with damaged text is reported, and the other files of its segment have their symbols", async () => {
  const path = temporaryFolder();
  const before = await openEngine({}, path);
  await before.index(documents({ name: "r", files }), { symbols: "skip" });
  await before.close();
  await change(path, loseMiddleText(1));
  const { engine } = await openWarned(path);
  const [report] = await engine.index(documents({ name: "other", files: [] }));
  expect(report).toMatchObject({ symbols: 0, withoutSymbols: [] }); // of that repository
  const [again] = await engine.index(documents({ name: "r", changes: [] }));
  expect(again).toMatchObject({ withoutSymbols: [{ path: MIDDLE, reason: "damaged" }] });
  expect(await namesFound(engine)).toEqual(["0.ts", "2.ts"]);
  const repository = (await engine.repositories()).find(({ name }) => name === "r");
  expect(repository?.symbols).toEqual({ done: BLOBS - 1, total: BLOBS });
});

test("a file with damaged text does not get the symbols of equal content, but other files do", async () => {
  const path = temporaryFolder();
  const before = await openEngine({}, path);
  await before.index(documents({ name: "r", files }));
  await before.index(documents({ name: "copy", files }), { symbols: "skip" });
  await before.close();
  await change(path, loseMiddleText(2));
  const { engine } = await openWarned(path);
  const [report] = await engine.index(documents({ name: "copy", changes: [] }));
  const withoutSymbols = [{ path: MIDDLE, reason: "damaged" }];
  expect(report).toMatchObject({ symbols: 0, withoutSymbols }); // parsed: none
  const { files: found } = await engine.search({ query: "sym:^found", matches: 100 });
  expect(found.length).toBe(2 * BLOBS - 1);
});

/** Runs a pass over the files that have no symbols yet, on a pool that the test alters. */
async function pass(environment: Environment, changed: (pool: Pool) => Pool) {
  const pool = createPool({
    size: 0,
    entry: new URL("none:"),
    tasks: INGEST_TASKS,
    environment: { path: environment.path, readOnly: false, opened: environment },
  });
  const snapshot = environment.snapshot();
  const catalog = await loadCatalog(snapshot, undefined, () => undefined);
  snapshot.close();
  const { signal } = new AbortController();
  const lease = await acquireLease(environment, { timeoutMs: 0, signal });
  const warnings: string[] = [];
  const found = await findSymbols({
    memoryBudget: 2 ** 28,
    environment,
    pool: changed(pool),
    catalog,
    owner: lease.owner,
    throwIfStopped: () => undefined,
    onProgress: () => undefined,
    onWarning: ({ message }) => void warnings.push(message),
  });
  await lease.release();
  await pool.close();
  return { found: [...found.values()] as FoundSymbols[], warnings };
}

test("symbols of an edition that cannot be published are not counted, and their files are reported", async () => {
  const path = temporaryFolder();
  const engine = await openEngine({}, path);
  await engine.index(documents({ name: "r", files: [...files, { path: "z.txt", content: "z" }] }), {
    symbols: "skip",
  });
  await engine.close();
  const environment = openEnvironment(path, { readOnly: false });
  onTestFinished(() => environment.close());
  const refusing = (pool: Pool): Pool => ({
    lanes: pool.lanes,
    inline: pool.inline,
    stop: () => pool.stop(),
    close: () => pool.close(),
    run: (task, input, options) =>
      task === "ingest.edition"
        ? Promise.reject(new QuernError("INDEX_CORRUPT", "a list is damaged"))
        : pool.run(task, input, options),
  });
  const { found, warnings } = await pass(environment, refusing);
  const withoutSymbols = files.map(({ path }) => ({ path, reason: "damaged" }));
  expect(found).toEqual([{ symbols: 0, withoutSymbols }]);
  expect(warnings).toEqual(["no symbols of a segment: a list is damaged"]);
  expect((await pass(environment, (pool) => pool)).found).toEqual([
    { symbols: BLOBS, withoutSymbols: [] },
  ]);
});
