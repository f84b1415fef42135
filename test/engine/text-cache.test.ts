/** Searches give the same answer and counters, whatever text is kept in memory; trim() releases that text. */

import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { corrupt } from "../../src/store/format/sealed.ts";
import { TextCache } from "../../src/store/segments/text-cache.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, difference, moveViewer, streamDifference } from "./corpus-engine.ts";
import { openEngine, temporaryFolder } from "./opened.ts";
import { answers, large } from "./six-windows.ts";
import { RUNS, someOf } from "../runs.ts";

const MIB = 2 ** 20;
/** Sizes of the cache of each thread: none, too little for a window, some windows, and everything. */
const SIZES = [0, MIB, 3 * MIB, 64 * MIB];
const contexts = (name: string) => CONTEXTS[name];

/** The number of times a search is repeated, so that windows are counted, cached, and scanned in memory. */
const TIMES = 4;

const CASES = SIZES.flatMap((textCache) => [0, 2].map((workers) => ({ textCache, workers })));

// each size both with threads and without
test.each(CASES.filter((_, n) => RUNS > 1 || n % 4 === 0 || n % 4 === 3))(
  "any query, $textCache bytes and $workers workers",
  async (given) => {
    const engine = await openEngine({ ...given, contexts });
    const check = async ({ corpus, asked }: SearchState) => {
      const there = await bringTo(engine, corpus);
      for (let time = 0; time < TIMES; time++)
        for (const one of asked) {
          const moved = { ...one, options: moveViewer(one.options, corpus, there) };
          expect(await difference(engine, there, moved)).toBeUndefined();
          if (time === TIMES - 1)
            expect(await streamDifference(engine, there, moved)).toBeUndefined();
          if (time === 1) engine.trim();
        }
    };
    await fc.assert(fc.asyncProperty(searchStates(3), check), { numRuns: 2 * RUNS });
  },
);

const methodOf = <Name extends "find" | "keep">(name: Name): TextCache[Name] =>
  Reflect.get(TextCache.prototype, name) as TextCache[Name];

/** How often windows were cached, and found cached, by the tasks of this thread. */
function watchCache() {
  const [find, keep] = [methodOf("find"), methodOf("keep")];
  const count = { kept: 0, found: 0 };
  vi.spyOn(TextCache.prototype, "find").mockImplementation(function (this: TextCache, ...given) {
    const found = find.apply(this, given);
    if (found) count.found++;
    return found;
  });
  vi.spyOn(TextCache.prototype, "keep").mockImplementation(function (this: TextCache, ...given) {
    const kept = keep.apply(this, given);
    if (kept) count.kept++;
    return kept;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return count;
}

test.each(someOf([0, 1], 2))("finds matches at the edges of pages, %i workers", async (workers) => {
  const path = temporaryFolder();
  await (await openEngine({ workers }, path)).index(large());
  const count = watchCache();
  const expected: unknown[] = [];
  for (const textCache of SIZES) {
    const engine = await openEngine({ workers, textCache: textCache * Math.max(1, workers) }, path);
    for (let time = 0; time < TIMES; time++) {
      expected.push(await answers(engine));
      expect(expected.at(-1)).toEqual(expected[0]);
    }
    await engine.close();
  }
  if (workers > 0) return;
  expect(count.kept).toBeGreaterThan(6); // all windows are in the largest cache, and some in the others
  expect(count.found).toBeGreaterThan(20);
});

test("a damaged window is not cached, but a search reads its undamaged parts", async () => {
  const path = temporaryFolder();
  const uncached = await openEngine({}, path);
  await uncached.index(large());
  const expected = await answers(uncached);
  const engine = await openEngine({ textCache: 64 * MIB }, path);
  const keep = methodOf("keep");
  let tried = 0;
  vi.spyOn(TextCache.prototype, "keep").mockImplementation(function (this: TextCache, ...given) {
    const [window, mayEvict] = given;
    return keep.call(this, window, mayEvict, () => {
      tried++;
      throw corrupt("a block of text");
    });
  });
  onTestFinished(() => void vi.restoreAllMocks());
  for (let time = 0; time < TIMES; time++) expect(await answers(engine)).toEqual(expected);
  expect(tried).toBeGreaterThan(5);
});

test.each(someOf([0, 1], 2))("trim() may be called at any moment, %i workers", async (workers) => {
  const engine = await openEngine({ workers, textCache: 3 * MIB });
  engine.trim(); // no search has begun
  await engine.index(large());
  const expected = await answers(engine);
  for (let time = 0; time < 10; time++) {
    const running = answers(engine);
    engine.trim();
    expect(await running).toEqual(expected);
    engine.trim();
  }
  engine.trim();
  await engine.close();
  expect(() => engine.trim()).toThrow(expect.objectContaining({ code: "ENGINE_CLOSED" }));
});
