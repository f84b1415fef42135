/** A search does not wait for a thread that begins when the other threads have claimed everything. */

import { Worker } from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { isComplete } from "../../src/search/caller/tally.ts";
import type { SearchOutput, SegmentPart } from "../../src/search/messages/messages.ts";
import { zeroTotals } from "../../src/search/messages/totals.ts";
import type { Request } from "../../src/threads/protocol.ts";
import { openEngine } from "../engine/opened.ts";

const SEGMENTS = 4;

afterEach(() => void vi.restoreAllMocks());

/** Keeps the second of every two searching tasks from its thread. Returns a function that delivers the kept tasks. */
function delayEverySecond(): () => number {
  const kept: (() => void)[] = [];
  let tasks = 0;
  const { value } = Object.getOwnPropertyDescriptor(Worker.prototype, "postMessage")!;
  const deliver = value as (...args: unknown[]) => void;
  vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, ...args) {
    const { task } = args[0] as Request;
    const isKept = task === "search.segments" && ++tasks % 2 === 0;
    if (isKept) kept.push(() => deliver.apply(this, args));
    else deliver.apply(this, args);
  });
  return () => kept.splice(0).map((send) => send()).length;
}

test("a search answers without the thread that has not begun, and the next one too", async () => {
  const engine = await openEngine({ workers: 2 });
  for (let segment = 0; segment < SEGMENTS; segment++) {
    const files = Array.from({ length: 9 }, (_, file) => ({
      path: `${file}.txt`,
      content: `${"needle\n".repeat(1 + file)}${"hay\n".repeat(100_000 * (file % 2))}`,
    }));
    await engine.index(documents({ name: `r${segment}`, files }), { symbols: "skip" });
  }
  const ask = async (query: string) => {
    const { stats, files, isSearchExhaustive } = await engine.search({
      query,
      matches: 1000,
      isRegexEnabled: true,
    });
    expect(stats.totalMatchCount).toBeGreaterThan(0);
    const { totalMatchCount, fileCount, shardsScanned, filesConsidered, contentBytesLoaded } =
      stats;
    const counters = [totalMatchCount, fileCount, shardsScanned, filesConsidered];
    return { counters, contentBytesLoaded, files, isSearchExhaustive };
  };
  const [one, other] = [await ask("ne+dle"), await ask("^ne*dle")];
  const deliver = delayEverySecond();
  expect(await ask("ne+dle")).toEqual(one);
  expect(deliver()).toBe(1);
  expect(await ask("^ne*dle")).toEqual(other);
  expect(deliver()).toBe(1);
});

const part = (position: number, steps: number | undefined, stepsDone: number): SegmentPart => ({
  position,
  ...(steps !== undefined && {
    plan: { steps, stats: {} as never, candidates: 0, undecided: 0, nanoseconds: 0 },
  }),
  stats: zeroTotals(),
  stepsDone,
  nanoseconds: 0,
});
const lost = { ...part(0, 1, 1), failure: { kind: "gone", message: "" } } as const;

test.each<[string, SegmentPart[][], boolean]>([
  ["no output", [], false],
  ["a segment without a plan", [[part(0, 3, 3)]], false],
  ["every step of every segment", [[part(0, 3, 3), part(1, 0, 0)]], true],
  ["a step that another thread has claimed", [[part(0, 3, 2), part(1, 1, 1)]], false],
  ["steps of two threads", [[part(0, 3, 2)], [part(1, 1, 1), part(0, undefined, 1)]], true],
  ["a helper without the owner", [[part(0, undefined, 1), part(1, 1, 1)]], false],
  ["a lost segment", [[lost, part(1, 1, 1)]], false],
])("whether outputs are complete: %s", (_, outputs, complete) => {
  const some = outputs.map((parts) => ({ parts }) as unknown as SearchOutput);
  expect(isComplete(some, 2)).toBe(complete);
});
