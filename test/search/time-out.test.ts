/** Searches that would take hours end when their time is up, on whatever thread they run, with what they found. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/documents.ts";
import { openEngine } from "../engine/opened.ts";
import { HARD, hardText } from "./hard.ts";

const EARLY = 5_000;
const megabyte = documents({
  name: "hard",
  files: [{ path: "x.txt", content: hardText(1_000_000, EARLY) }],
});

const THREADS = [0, 1, 2];

test.each(THREADS)(
  "search: a partial answer that shows what was found, %i threads",
  async (workers) => {
    const engine = await openEngine({ workers });
    await engine.index(megabyte, { symbols: "skip" });
    await engine.search({ query: "nothing here", matches: 1 });
    const start = performance.now();
    const { stats, files, isSearchExhaustive } = await engine.search(
      { ...HARD, matches: 10_000 },
      { timeoutMs: 1_000 },
    );
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(stats.flushReason).toBe("FLUSH_REASON_TIMER_EXPIRED");
    expect(isSearchExhaustive).toBe(false);
    expect(stats.totalMatchCount).toBeGreaterThanOrEqual(EARLY);
    expect(stats.actualMatchCount).toBeGreaterThan(0.5 * stats.totalMatchCount); // showing is timed too
    const ranges = files.flatMap(({ chunks }) => chunks.flatMap(({ matchRanges }) => matchRanges));
    expect(ranges).toHaveLength(stats.actualMatchCount);
    expect(ranges[1]).toMatchObject({ start: { byteOffset: 2 }, end: { byteOffset: 3 } });
  },
);

test.each(THREADS)("stream: the same, %i threads", async (workers) => {
  const engine = await openEngine({ workers });
  await engine.index(megabyte, { symbols: "skip" });
  await engine.search({ query: "nothing here", matches: 1 }); // starts the threads
  const start = performance.now();
  let ranges = 0;
  for await (const event of engine.stream({ ...HARD, matches: 10_000 }, { timeoutMs: 400 }))
    if (event.type === "chunk")
      for (const { chunks } of event.files)
        ranges += chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0);
    else {
      expect(event.accumulatedStats.flushReason).toBe("FLUSH_REASON_TIMER_EXPIRED");
      expect(event.accumulatedStats.actualMatchCount).toBe(ranges);
      expect(event.isSearchExhaustive).toBe(false);
    }
  expect(ranges).toBeGreaterThan(0);
  expect(performance.now() - start).toBeLessThan(5_000);
});

test("the first matches of a file are shown without reading the rest of it again", async () => {
  const engine = await openEngine({ workers: 1 });
  const content = hardText(60_000, 50);
  await engine.index(documents({ name: "hard", files: [{ path: "x.txt", content }] }));
  const ask = async (matches: number) => {
    const before = process.cpuUsage();
    const { stats } = await engine.search({ ...HARD, matches });
    expect(stats.totalMatchCount).toBeGreaterThan(40_000);
    expect(stats.actualMatchCount).toBe(matches);
    return process.cpuUsage(before).user;
  };
  const counting = [await ask(0), await ask(0)];
  const showing = [await ask(10), await ask(10)];
  expect(Math.min(...showing)).toBeLessThan(1.6 * Math.max(...counting));
});

test.each(THREADS)("paths that take seconds to try, %i threads", async (workers) => {
  const engine = await openEngine({ workers });
  const files = Array.from({ length: 3_000 }, (_, i) => ({
    path: `${i}/${hardText(3_000, 0)}`,
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
  const content = hardText(80_000, 0);
  await engine.index(documents({ name: "hard", files: [{ path: "x.txt", content }] }));
  const slow = { ...HARD, query: `${HARD.query} or nothing`, matches: 2_000 };
  const began = performance.now();
  await engine.search({ ...slow, matches: 0 });
  const counting = performance.now() - began;
  const controller = new AbortController();
  const aborted = engine.search(slow, { signal: controller.signal });
  setTimeout(() => controller.abort(), 1.3 * counting); // in the midst of showing
  await aborted.catch((error: unknown) => expect(error).toMatchObject({ code: "ABORTED" }));
  const start = performance.now();
  await engine.search({ query: "xxx", matches: 0 });
  expect(performance.now() - start).toBeLessThan(Math.max(500, 0.5 * counting));
});
