/** The caller's thread finds the same as the worker threads, which are the twin here, with the same counters. */

import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { Near } from "../../src/search/caller/near.ts";
import type { SearchOptions, SearchRequest } from "../../src/search/messages/request.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, moveViewer } from "./corpus-engine.ts";
import { openEngine, sharedEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

const near = { isOff: false, found: 0, left: 0 };

const own = Reflect.get(Near.prototype, "search") as Near["search"];
vi.spyOn(Near.prototype, "search").mockImplementation(async function (this: Near, ...asked) {
  if (near.isOff) return undefined;
  const output = await own.call(this, ...asked);
  if (output) near.found++;
  else near.left++;
  return output;
});

afterEach(() => {
  Object.assign(near, { isOff: false, found: 0, left: 0 });
});

/** Resolves to all of an answer except times. */
async function answer(engine: Engine, request: SearchRequest, options: SearchOptions = {}) {
  const { stats, ...rest } = await engine.search(request, options);
  const { duration, wait, matchTreeConstruction, matchTreeSearch, ...counted } = stats;
  expect(Math.min(duration, wait, matchTreeConstruction, matchTreeSearch)).toBeGreaterThan(-1);
  return { ...rest, counted };
}

/** The number of searches after which the caller's thread has everything it needs, because one shares the tables. */
const ROUNDS = 2;

async function both(engine: Engine, request: SearchRequest, options: SearchOptions = {}) {
  near.isOff = true;
  const byThreads = await answer(engine, request, options);
  near.isOff = false;
  for (let round = 0; round < ROUNDS; round++)
    expect(await answer(engine, request, options)).toEqual(byThreads);
  return byThreads;
}

/** Cases that use both ways, whatever the random ones do. */
const TAKES_BOTH = { seed: 1, numRuns: 1 };

test.each([
  ["all tables are shared", {}],
  ["some tables are shared", { tableBytes: 2000 }],
])("answers any query for any viewer: %s", async (_, internals) => {
  const contexts = (name: string) => CONTEXTS[name];
  const engine = await openEngine({ workers: 1, contexts, internals });
  const check = async ({ corpus, asked }: SearchState, maxBytes: number) => {
    const there = await bringTo(engine, corpus);
    for (const one of asked) {
      const { viewer } = moveViewer(one.options, corpus, there);
      const viewing = viewer ? { viewer } : {};
      await both(engine, one.request, viewing);
      for (const query of ["file:a", "lang:go or lang:c", "sym:a", "a file:b", "-(a) file:a"])
        await both(engine, { ...one.request, query }, viewing);
      await both(engine, one.request, { ...viewing, maxBytes });
      const first = await both(engine, { ...one.request, after: "" }, viewing);
      if (first.nextCursor !== undefined)
        await both(engine, { ...one.request, after: first.nextCursor }, viewing);
    }
  };
  const states = searchStates(3);
  const bytes = fc.constantFrom(1, 300, 2100, 40_000);
  const examples = fc.sample(fc.tuple(states, bytes), TAKES_BOTH);
  await fc.assert(fc.asyncProperty(states, bytes, check), { examples, numRuns: 2 * RUNS });
  // both ways are used
  expect(near.found).toBeGreaterThan(5);
  expect(near.left).toBeGreaterThan(0);
});

const GO = "func Apple() {}\nvar apple = 1\n";
const files = (name: string, count: number, content = GO) =>
  documents({
    name,
    files: Array.from({ length: count }, (_, i) => ({ path: `${name}/${i}.go`, content })),
  });

/**
 * The waits before several equal searches, in milliseconds. After slow reads, which are frequent on a busy machine, the
 * caller's thread reads nothing for a while.
 */
const WAITS = [0, 0, 0, 100, 500];
/** The waits where the caller's thread is expected to answer, however busy the machine is. */
const LONG_WAITS = [...WAITS, 1000, 2000, 4000];

/** Resolves to the thread that answers one of several equal searches at last, and to the number of matching files. */
async function finds(
  engine: Engine,
  request: SearchRequest,
  waits = LONG_WAITS,
): Promise<[string, number]> {
  const before = near.found;
  let count = 0;
  for (const wait of waits) {
    await sleep(wait);
    count = (await engine.search(request)).stats.fileCount;
    if (near.found > before) return ["near", count];
  }
  return ["threads", count];
}

const shared = sharedEngine((engine) => engine.index(files("one", 3)), { workers: 1 });

test.each<[query: string, who: string, count: number, more?: Partial<SearchRequest>]>([
  ["apple", "near", 3],
  ["apple or pear", "near", 3],
  ["file:one", "near", 3],
  ["lang:go", "near", 3],
  ["sym:^Apple$", "near", 3],
  ["apple file:one/2", "near", 1],
  ["file:one -apple", "near", 0],
  ["lang:go", "near", 3, { matches: 1 }],
  ["lang:go", "near", 3, { matches: 0 }],
  ["ap+le", "threads", 3, { isRegexEnabled: true }],
  ["file:[0-9]", "threads", 3],
  ["file:o{40}n{40}e", "threads", 0],
  ["lang:go", "threads", 3, { whole: true }],
  ["lang:go", "threads", 3, { facets: 5 }],
])("%s: %s", async (query, who, count, more = {}) => {
  const waits = who === "near" ? LONG_WAITS : WAITS;
  expect(await finds(shared(), { query, matches: 50, ...more }, waits)).toEqual([who, count]);
});

test("many files or pages are left to the worker threads", async () => {
  const engine = await openEngine({ workers: 1 });
  await engine.index(files("one", 2100));
  const text = `apple pie\n${"x".repeat(8180)}\n`.repeat(150);
  const two = ["a", "b"].map((path) => ({ path, content: path + text }));
  await engine.index(documents({ name: "two", files: two }));
  for (const [query, who, count] of [
    ["lang:go", "threads", 2100],
    ["file:one/59", "near", 11],
    ["apple", "threads", 2102],
    ["pie", "threads", 2],
  ] as const)
    expect([query, ...(await finds(engine, { query, matches: 50 }, WAITS))]).toEqual([
      query,
      who,
      count,
    ]);
  // a search that was too large once is not tried again
  const { left } = near;
  expect(left).toBeGreaterThan(0);
  expect(await finds(engine, { query: "lang:go", matches: 50 }, WAITS)).toEqual(["threads", 2100]);
  expect(near.left).toBe(left);
});

test("answers stay right after the index was changed, merged or trimmed", async () => {
  const engine = await openEngine({ workers: 1 });
  await engine.index(files("one", 3));
  const check = async (count: number) => {
    for (const query of ["apple", "file:\\.go$", "sym:Apple"])
      expect(await finds(engine, { query, matches: 50 })).toEqual(["near", count]);
  };
  await check(3);
  await engine.index(files("two", 2));
  await check(5);
  await engine.index(files("one", 1));
  await check(3);
  await engine.compact();
  await check(3);
  engine.trim();
  await check(3);
  await engine.remove("two");
  await check(1);
});

test("tables are shared again after those of deleted segments have filled the memory", async () => {
  const engine = await openEngine({ workers: 1, internals: { tableBytes: 4000, retireMs: 0 } });
  for (let count = 1; count < 30; count++) {
    await engine.index(files("one", count));
    await finds(engine, { query: "apple", matches: 50 }, [0]); // these may fill the memory
    expect(await finds(engine, { query: "apple", matches: 50 })).toEqual(["near", count]);
  }
});

test("a running search ends with the engine", async () => {
  const engine = await openEngine({ workers: 1 });
  await engine.index(files("one", 3));
  await finds(engine, { query: "apple", matches: 50 });
  const asked = expect(engine.search({ query: "apple", matches: 50 })).rejects.toMatchObject({
    code: "ENGINE_CLOSED",
  });
  await engine.close();
  await asked;
});
