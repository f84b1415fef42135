/** Searches that would take hours end when their time is up, on any thread, with what they have found. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { openEngine } from "../engine/opened.ts";
import { HARD, hardText } from "./hard.ts";
import { tellFigure } from "../figures.ts";
import { someOf } from "../runs.ts";

const EARLY = 5_000;
/** Text whose complete search takes six seconds. */
const hard = documents({
  name: "hard",
  files: [{ path: "x.txt", content: hardText(1_900_000, EARLY) }],
});

const THREADS = [0, 1, 2];

/** Resolves to the ms of processor time of the whole process. */
async function workOf(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Searches with the first time-out, or with a longer one if other processes occupied the cores so long that nothing was
 * found.
 */
async function askInTime(
  [timeoutMs, ...later]: readonly number[],
  ask: (timeoutMs: number) => Promise<{ hasFound: boolean }>,
): Promise<void> {
  let hasFound = false;
  const work = await workOf(async () => ({ hasFound } = await ask(timeoutMs!)));
  expect(work).toBeLessThan(timeoutMs! + 2_000);
  if (later.length > 0 && !hasFound) await askInTime(later, ask);
  else expect(hasFound).toBe(true);
}

const rangesOf = (files: readonly FileResult[]) =>
  files.flatMap(({ fileName, chunks }) => [
    ...fileName.matchRanges,
    ...chunks.flatMap(({ matchRanges }) => matchRanges),
  ]);

test.each(someOf(THREADS, 2))(
  "search: a partial answer that shows what was found, %i threads",
  async (workers) => {
    const engine = await openEngine({ workers });
    await engine.index(hard, { symbols: "skip" });
    await engine.search({ query: "nothing here", matches: 1 });
    await askInTime([800, 2_000, 5_000, 20_000], async (timeoutMs) => {
      const request = { ...HARD, matches: 10_000 };
      const { stats, files, isSearchExhaustive } = await engine.search(request, { timeoutMs });
      expect(stats.flushReason).toBe("FLUSH_REASON_TIMER_EXPIRED");
      expect(isSearchExhaustive).toBe(false);
      const ranges = rangesOf(files);
      expect(ranges).toHaveLength(stats.actualMatchCount);
      const hasFound = stats.actualMatchCount > 0.5 * stats.totalMatchCount; // showing is timed too
      if (hasFound) {
        expect(stats.totalMatchCount).toBeGreaterThanOrEqual(EARLY);
        expect(ranges[1]).toMatchObject({ start: { byteOffset: 2 }, end: { byteOffset: 3 } });
      }
      return { hasFound };
    });
  },
);

test.each(someOf(THREADS, 2))("stream: the same, %i threads", async (workers) => {
  const engine = await openEngine({ workers });
  await engine.index(hard, { symbols: "skip" });
  await engine.search({ query: "nothing here", matches: 1 }); // starts the threads
  await askInTime([400, 2_000, 5_000, 20_000], async (timeoutMs) => {
    let shown = 0;
    for await (const event of engine.stream({ ...HARD, matches: 10_000 }, { timeoutMs }))
      if (event.type === "chunk") shown += rangesOf(event.files).length;
      else {
        expect(event.accumulatedStats.flushReason).toBe("FLUSH_REASON_TIMER_EXPIRED");
        expect(event.accumulatedStats.actualMatchCount).toBe(shown);
        expect(event.isSearchExhaustive).toBe(false);
      }
    return { hasFound: shown > 1 };
  });
});

test("the first matches of a file are shown without reading the rest of it again", async () => {
  const engine = await openEngine({ workers: 1 });
  const content = hardText(30_000, 50);
  await engine.index(documents({ name: "hard", files: [{ path: "x.txt", content }] }));
  const ask = async (matches: number) => {
    const before = process.cpuUsage();
    const { stats } = await engine.search({ ...HARD, matches });
    expect(stats.totalMatchCount).toBeGreaterThan(20_000);
    expect(stats.actualMatchCount).toBe(matches);
    return process.cpuUsage(before).user;
  };
  const counting = [await ask(0), await ask(0)];
  const showing = [await ask(10), await ask(10)];
  expect(Math.min(...showing)).toBeLessThan(1.6 * Math.max(...counting));
});

test.each(someOf(THREADS, 2))("paths that take seconds to try, %i threads", async (workers) => {
  const engine = await openEngine({ workers });
  const name = hardText(3_000, 0);
  const files = Array.from({ length: 3_000 }, (_, i) => ({
    path: `${i}/${name}`,
    content: "needle",
  }));
  await engine.index(documents({ name: "hard", files }), { symbols: "skip" });
  const request = { ...HARD, matches: 1, query: `needle file:${HARD.query}` };
  const before = process.cpuUsage();
  const partial = await engine.search(request, { timeoutMs: 100 });
  expect(process.cpuUsage(before).user).toBeLessThan(700_000); // µs; to the end it takes 2 s
  expect(partial.isSearchExhaustive).toBe(false);
  expect(partial.stats).toMatchObject({
    totalMatchCount: 0,
    shardsScanned: 0,
    shardsSkippedFilter: 0,
  });
  const soon = await engine.search({ ...request, query: "needle file:^1/" });
  expect(soon).toMatchObject({ isSearchExhaustive: true, stats: { totalMatchCount: 1 } });
});

test("an abort ends the threads that show, too", async () => {
  const engine = await openEngine({ workers: 1 });
  const content = hardText(40_000, 0);
  await engine.index(documents({ name: "hard", files: [{ path: "x.txt", content }] }));
  const slow = { ...HARD, query: `${HARD.query} or nothing`, matches: 2_000 };
  const began = performance.now();
  const counting = await workOf(() => engine.search({ ...slow, matches: 0 }));
  const controller = new AbortController();
  const aborted = engine.search(slow, { signal: controller.signal });
  setTimeout(() => controller.abort(), 1.3 * (performance.now() - began)); // in the midst of showing
  await aborted.catch((error: unknown) => expect(error).toMatchObject({ code: "ABORTED" }));
  const left = await workOf(() => engine.search({ query: "xxx", matches: 0 }));
  tellFigure(`${left.toFixed()} ms of work are left, of ${counting.toFixed()}`);
  expect(left).toBeLessThan(Math.max(100, 0.25 * counting));
});
