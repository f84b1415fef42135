/**
 * Searches that run while another engine merges and deletes the segments that they read. Here retired segments are
 * deleted at once, and all text is in files, of which a snapshot keeps nothing.
 */

import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { coreOf } from "../../src/core-of.ts";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { isLong } from "../../src/search/caller/long-answer.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { SearchEvent } from "../../src/search/messages/response.ts";
import { CatalogKeeper } from "../../src/store/catalog/catalog-keeper.ts";
import { LAYOUT } from "../../src/store/format/format.ts";
import type { Catalog } from "../../src/store/catalog/catalog.ts";
import { openEngine, temporaryFolder } from "./opened.ts";
import { RUNS } from "../runs.ts";
import { brokenInvariant } from "./invariants.ts";

const NOT_KEPT = { retireMs: 0, layout: { ...LAYOUT, fileBlocks: 1 } };

/** Returns text without the word, whose length depends on the number. */
const filler = (i: number) => "some other words\n".repeat(1 + ((i * 37) % 400));

test("a search answers correctly, whatever is merged away meanwhile", async () => {
  const path = temporaryFolder();
  const writer = await openEngine({ internals: NOT_KEPT }, path);
  const reader = await openEngine({}, path);
  const source = (name: string, i: number) =>
    documents({ name, files: [{ path: `${i}.txt`, content: `${filler(i)}needle ${i}\n` }] });
  await writer.index(source("r0", 0));
  let [isWriting, searches, merged] = [true, 0, 0];
  const search = async () => {
    for (let before = 0; isWriting; searches++) {
      const answer = await reader.search({ query: "needle", matches: 1e6 });
      const { stats, files, isSearchExhaustive } = answer;
      expect(brokenInvariant(answer, undefined)).toBeUndefined();
      expect(isSearchExhaustive).toBe(true);
      expect(new Set(files.map(({ repository }) => repository)).size).toBe(stats.fileCount);
      expect(stats.fileCount).toBeGreaterThanOrEqual(before);
      before = stats.fileCount;
      await turn();
    }
  };
  const searching = search();
  for (let i = 1; i <= 20 * RUNS; i++) {
    await writer.index(source(`r${i}`, i));
    if (i % 10 === 0) merged += (await writer.compact()).segmentsBefore;
  }
  isWriting = false;
  await searching;
  const { stats } = await reader.search({ query: "needle", matches: 0 });
  expect(stats.fileCount).toBe(20 * RUNS + 1);
  expect(searches).toBeGreaterThan(20);
  expect(merged).toBeGreaterThan(0);
});

const GONE = [
  { workers: 0, gone: "all" },
  { workers: 2, gone: "all" },
  { workers: 0, gone: "one" },
  { workers: 2, gone: "one" },
] as const;

test.each(GONE)(
  "searches an outdated list of segments, $gone of which are deleted, $workers workers",
  async (row) => {
    const { reader, beStale } = await mergedAway(row);
    const request = { query: "needle", matches: 10 };
    const left = row.gone === "all" ? ["r0", "r1", "r2"] : ["r0", "r2"];
    const segments = row.gone === "all" ? 1 : 2;

    let newest = beStale();
    const { stats, files, isSearchExhaustive } = await reader.search(request);
    expect(newest).toHaveBeenCalledTimes(2);
    expect(files.map(({ repository }) => repository).sort()).toEqual(left);
    expect([stats.fileCount, stats.crashes]).toEqual([left.length, 0]);
    expect([stats.shardsScanned, isSearchExhaustive]).toEqual([segments, true]);

    newest = beStale();
    const explained = await reader.explain(request);
    expect(newest).toHaveBeenCalledTimes(2);
    expect([explained.stats.fileCount, explained.stats.crashes]).toEqual([left.length, 0]);
    expect(explained.segments.map(({ outcome }) => outcome)).toEqual(
      Array(segments).fill("scanned"),
    );

    // delivered files cannot be taken back, so a stream does not start again
    newest = beStale();
    const { delivered, final } = await streamed(reader, request);
    expect(newest).toHaveBeenCalledTimes(1);
    const [crashes, others] = row.gone === "all" ? [3, []] : [1, left];
    expect(delivered.sort()).toEqual(others);
    const fileCount = others.length;
    const counted = { crashes, fileCount, actualMatchCount: fileCount, shardsScanned: 3 - crashes };
    expect(final?.accumulatedStats).toMatchObject(counted);
    expect(final?.isSearchExhaustive).toBe(false);
  },
);

test.each(GONE)(
  "open segments whose text was not read, $gone gone, $workers workers",
  async (row) => {
    const before = (engine: Engine) => engine.search({ query: "file:a", matches: 0 });
    const { reader, beStale } = await mergedAway(row, { symbols: "skip", before });
    const newest = beStale();
    const { stats, isSearchExhaustive } = await reader.search({ query: "needle", matches: 10 });
    expect(newest).toHaveBeenCalledTimes(2);
    expect([stats.fileCount, stats.crashes]).toEqual([row.gone === "all" ? 3 : 2, 0]);
    expect(isSearchExhaustive).toBe(true);
  },
);

interface Before {
  readonly symbols?: "after" | "skip";
  /** The calls of the engine before the segments are deleted. */
  readonly before?: (reader: Engine) => Promise<unknown>;
}

/** Makes an engine that can be made to see three segments again, although one or all of them are deleted. */
async function mergedAway(
  { workers, gone }: (typeof GONE)[number],
  { symbols = "after", before = async () => {} }: Before = {},
) {
  const path = temporaryFolder();
  const writer = await openEngine({ internals: NOT_KEPT }, path);
  const reader = await openEngine({ workers }, path);
  for (let i = 0; i < 3; i++) {
    const files = [{ path: "a", content: `${filler(i)}needle ${i}\n` }];
    await writer.index(documents({ name: `r${i}`, files }), { symbols });
  }
  await before(reader);
  const newest = vi.spyOn(CatalogKeeper.prototype, "newest");
  onTestFinished(() => newest.mockRestore());
  await reader.repositories();
  const stale = (await newest.mock.results[0]!.value) as Catalog;
  if (gone === "all") expect((await writer.compact()).segmentsAfter).toBe(1);
  // the first call leaves a segment that is entirely garbage, and the second deletes it
  else for (const name of ["r1", "nothing"]) await writer.remove(name);
  return { reader, beStale: () => newest.mockClear().mockResolvedValueOnce(stale) };
}

const DELETERS = [
  { by: "another engine", rest: 0 },
  { by: "its own engine", rest: 40 },
] as const;

test.each(DELETERS)(
  "a long answer keeps its segments, which $by would delete",
  async ({ by, rest }) => {
    const path = temporaryFolder();
    const reader = await openEngine({ workers: 1, internals: NOT_KEPT }, path);
    const writer =
      by === "its own engine" ? reader : await openEngine({ internals: NOT_KEPT }, path);
    const content = (i: number) => `${"words ".repeat(10_000)}\nneedle ${i}\n`;
    const files = Array.from({ length: 40 }, (_, i) => ({ path: `${i}`, content: content(i) }));
    await writer.index(documents({ name: "r", files }));
    const asked = { query: "needle", matches: 100, whole: true };
    const answer = await coreOf(reader).view({}).begin(asked);
    if (!isLong(answer)) throw new Error("it is short");
    const first = (await answer.next())!.length;
    for (const name of ["r", "nothing"]) await writer.remove(name);
    let later = 0;
    for (let more = await answer.next(); more; more = await answer.next()) later += more.length;
    const { stats, isSearchExhaustive } = answer.end();
    answer.close();
    expect(first).toBeGreaterThan(10);
    expect(later).toBe(Math.max(0, rest - first));
    const crashes = rest === 0 ? 1 : 0;
    expect(stats).toMatchObject({ crashes, shardsScanned: 1 - crashes, totalMatchCount: 40 });
    expect([stats.actualMatchCount, isSearchExhaustive]).toEqual([first + later, crashes === 0]);
  },
);

async function streamed(engine: Engine, request: SearchRequest) {
  const delivered: string[] = [];
  let final: Extract<SearchEvent, { type: "final" }> | undefined;
  for await (const event of engine.stream(request)) {
    if (event.type === "final") final = event;
    else delivered.push(...event.files.map(({ repository }) => repository));
  }
  return { delivered, final };
}

test("two hundred small index calls leave few segments", async () => {
  const engine = await openEngine();
  const calls = 200;
  for (let i = 0; i < calls; i++)
    await engine.index(
      documents({
        name: "r",
        changes: [{ path: `${i % 100}.txt`, content: `call ${i} of many\n` }],
      }),
    );
  const { segments, ok } = await engine.check();
  expect(ok).toBe(true);
  expect(segments).toBeLessThanOrEqual(8);
  const { stats } = await engine.search({ query: "of many", matches: 0 });
  expect(stats.fileCount).toBe(100);
  for (const i of [calls - 1, calls - 100])
    expect((await engine.search({ query: `"call ${i} "`, matches: 0 })).stats.fileCount).toBe(1);
  const gone = await engine.search({ query: `"call ${calls - 101} "`, matches: 0 });
  expect(gone.stats.fileCount).toBe(0);
});
