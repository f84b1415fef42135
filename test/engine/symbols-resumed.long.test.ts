/** Symbols that were found are kept when the process dies, and when other grammars change. */

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack, unpack } from "msgpackr";
import { afterAll, expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { findSymbols } from "../../src/ingest/symbols/symbol-pass.ts";
import { INGEST_TASKS } from "../../src/ingest/tasks.ts";
import { loadCatalog } from "../../src/store/catalog/catalog.ts";
import { openEnvironment, type Environment } from "../../src/store/lmdb/environment.ts";
import { PART, segmentKey } from "../../src/store/format/format.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import { editionRange } from "../../src/store/symbols/edition-key.ts";
import { readRanges, type SymbolColumns } from "../../src/store/symbols/symbol-columns.ts";
import type { SymbolsHeader } from "../../src/store/symbols/symbols.ts";
import { createPool } from "../../src/threads/pool.ts";
import { openEngine, temporaryFolder } from "./opened.ts";
import { RUNS } from "../runs.ts";
import { bundledPrograms } from "../programs.ts";
import { SHORT_LIVED } from "../short-lived.ts";

const SEGMENTS = 5;
const FILES = 6;
const [WRITER = ""] = await bundledPrograms(["test/engine/symbol-writer-process.ts"]);

const made = mkdtempSync(join(tmpdir(), "quern-test-"));
afterAll(() => rmSync(made, { recursive: true, force: true, maxRetries: 3 }));

/** Makes a directory at the first call, and copies it at each call. */
function copies(make: (path: string) => Promise<void>): () => Promise<string> {
  const first = mkdtempSync(join(made, "first-"));
  let once: Promise<void> | undefined;
  return async () => {
    await (once ??= make(first));
    const path = temporaryFolder();
    cpSync(first, path, { recursive: true });
    return path;
  };
}

/** Makes segments without symbols, whose files alternate between TypeScript and Python. A file has one symbol. */
const indexed = copies(async (path) => {
  const engine = await openEngine({}, path);
  for (let i = 0; i < SEGMENTS; i++) {
    const files = Array.from({ length: FILES }, (_, file) =>
      file % 2 === 0
        ? { path: `${file}.ts`, content: `function found${i}_${file}() {}\n` }
        : { path: `${file}.py`, content: `def found${i}_${file}(): pass\n` },
    );
    await engine.index(documents({ name: `r${i}`, files }), { symbols: "skip" });
  }
  await engine.close();
});

/** Finds the symbols that are missing. Resolves to how many files were parsed, which is one for each symbol. */
async function parsedBy(environment: Environment): Promise<number> {
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
  const found = await findSymbols({
    memoryBudget: 2 ** 28,
    environment,
    pool,
    catalog,
    owner: lease.owner,
    throwIfStopped: () => undefined,
    onProgress: () => undefined,
    onWarning: ({ message }) => expect.fail(message),
  });
  await lease.release();
  await pool.close();
  return [...found.values()].reduce((sum, { symbols }) => sum + symbols, 0);
}

async function checkAll(path: string): Promise<void> {
  const engine = await openEngine({}, path);
  expect((await engine.check()).problems).toEqual([]);
  const { stats } = await engine.search({ query: "sym:^found", matches: 0 });
  expect(stats.totalMatchCount).toBe(SEGMENTS * FILES);
  const { stats: text } = await engine.search({ query: "found", matches: 0 });
  expect(text.totalMatchCount).toBe(SEGMENTS * FILES);
  await engine.close();
}

test.each(Array.from({ length: RUNS > 1 ? SEGMENTS : 2 }, (_, i) => 2 * i + 1))(
  "after a kill in segment %i, the next run parses only the remaining files",
  async (segment) => {
    const path = await indexed();
    // a segment's files are reported before the segment has its symbols
    const args = [...SHORT_LIVED, WRITER, path, String(segment * FILES)];
    const { signal } = spawnSync(process.execPath, args, { stdio: "inherit" });
    expect(signal).toBe("SIGKILL");

    const engine = await openEngine({}, path);
    const done = (await engine.repositories()).reduce((sum, one) => sum + one.symbols.done, 0);
    expect(done).toBe((segment - 1) * FILES);
    const { stats } = await engine.search({ query: "sym:^found", matches: 0 });
    expect(stats.totalMatchCount).toBe(done);
    await engine.close();

    // reported symbols are kept, even though their segment is not published
    const environment = openEnvironment(path, { readOnly: false });
    expect(await parsedBy(environment)).toBe((SEGMENTS - segment) * FILES);
    expect(await parsedBy(environment)).toBe(0);
    await environment.close();
    await checkAll(path);
  },
);

const RANGES = 6;
const FOUND = 3;

/** A segment of so many ranges, which are symbols' unit of work; a run was killed when it had found those of some. */
const killedWithin = copies(async (path) => {
  const engine = await openEngine({}, path);
  const files = Array.from({ length: RANGES }, (_, i) => ({
    path: `${i}.ts`,
    content: `function found${i}() {}\n//${"x".repeat(2 ** 20)}\n`,
  }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  await engine.close();
  killedAfter(path, FOUND);
});

const killedAfter = (path: string, blobs: number): void => {
  const args = [...SHORT_LIVED, WRITER, path, String(blobs)];
  expect(spawnSync(process.execPath, args, { stdio: "inherit" }).signal).toBe("SIGKILL");
};

test("after two kills within one segment, the next run parses only the remaining ranges", async () => {
  const path = await killedWithin();
  killedAfter(path, 1); // some of the remaining files
  const environment = openEnvironment(path, { readOnly: false });
  expect(readRanges(environment.snapshot(), { segment: 1, edition: 1 }).length).toBe(FOUND + 1);
  expect(await parsedBy(environment)).toBe(RANGES - FOUND - 1);
  expect(readRanges(environment.snapshot(), { segment: 1, edition: 1 })).toEqual([]);
  await environment.close();
  const engine = await openEngine({}, path);
  const { stats } = await engine.search({ query: "sym:^found", matches: 0 });
  expect([stats.totalMatchCount, (await engine.check()).problems]).toEqual([RANGES, []]);
  await engine.close();
});

test("after a kill and merges by runs without symbols, the next run parses only the remaining files", async () => {
  const path = await indexed();
  killedAfter(path, 3 * FILES); // two segments have been published
  const engine = await openEngine({}, path);
  for (const name of ["a", "b", "c"]) {
    const files = [{ path: `${name}.ts`, content: `function found_${name}() {}\n` }];
    await engine.index(documents({ name, files }), { symbols: "skip" });
  }
  const done = (await engine.repositories()).map(({ symbols }) => symbols.done);
  expect(done.sort((a, b) => b - a)).toEqual([FILES, FILES, FILES, 0, 0, 0, 0, 0]);
  await engine.close();
  const environment = openEnvironment(path, { readOnly: false });
  expect(readManifest(environment.snapshot()).segments.length).toBe(1);
  expect(await parsedBy(environment)).toBe(2 * FILES + 3);
  await environment.close();
});

test.each([
  ["kept", 1, undefined],
  ["not trusted where a block is damaged", 2, (value: Uint8Array) => value.slice(1)],
])("if a segment is rewritten without garbage, its ranges are %s", async (_, parsed, change) => {
  const path = await killedWithin();
  const environment = openEnvironment(path, { readOnly: false });
  if (change)
    await environment.write((writer) => {
      const [key] = writer.keys(editionRange(1, PART.SYMBOLS, 1));
      writer.put(key!, change(writer.get(key!, "a block")!));
    });
  await environment.close();
  const engine = await openEngine({}, path);
  const changes = [1, 2, 3, 4].map((i) => ({ path: `${i}.ts`, removed: true as const }));
  await engine.index(documents({ name: "r", changes }), { symbols: "skip" });
  await engine.close();
  const again = openEnvironment(path, { readOnly: false });
  expect(readManifest(again.snapshot()).segments).toMatchObject([{ segment: 2, files: 2 }]);
  expect(await parsedBy(again)).toBe(parsed);
  await again.close();
  const checked = await openEngine({}, path);
  const { stats } = await checked.search({ query: "sym:^found", matches: 0 });
  expect([stats.totalMatchCount, (await checked.check()).problems]).toEqual([2, []]);
  await checked.close();
});

test.each([
  ["outdated", (value: Uint8Array) => aged(value)],
  ["damaged", (value: Uint8Array) => value.slice(1)],
])("ranges of an interrupted run that are %s are parsed again", async (_, change) => {
  const path = await killedWithin();
  const environment = openEnvironment(path, { readOnly: false });
  await environment.write((writer) => {
    const keys = [...writer.keys(editionRange(1, PART.RANGES, 1))];
    for (const key of keys) writer.put(key, change(writer.get(key, "a range")!));
  });
  expect(await parsedBy(environment)).toBe(RANGES);
  await environment.close();
});

function aged(value: Uint8Array): Uint8Array {
  const record = unpack(value) as SymbolColumns;
  return pack({
    ...record,
    origins: record.origins.map((one) => ({ ...one, version: "of before" })),
  });
}

test("a newer grammar parses only the files of its language", async () => {
  const path = await indexed();
  const environment = openEnvironment(path, { readOnly: false });
  expect(await parsedBy(environment)).toBe(SEGMENTS * FILES);
  await environment.write((writer) => {
    for (const { segment, symbols } of readManifest(writer).segments) {
      const key = segmentKey(segment, PART.SYMBOLS, symbols * 2 ** 24);
      const header = unpack(writer.get(key, "the header")!) as SymbolsHeader;
      const origins = header.origins.map((origin) =>
        origin.language === "Python" ? { ...origin, version: "of before" } : origin,
      );
      writer.put(key, pack({ ...header, origins }));
    }
  });
  expect(await parsedBy(environment)).toBe((SEGMENTS * FILES) / 2);
  expect(await parsedBy(environment)).toBe(0);
  await environment.close();
  await checkAll(path);
});
