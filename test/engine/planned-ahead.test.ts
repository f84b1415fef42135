/**
 * If the caller's thread finds that nothing in a segment can match, the answer and its counters are as if a worker
 * thread, the twin here, had searched it.
 */

import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { planAhead as PlanAhead } from "../../src/search/caller/plan-ahead.ts";
import type { SearchOptions, SearchRequest } from "../../src/search/messages/request.ts";
import { SEARCH_TASKS } from "../../src/search/thread/tasks.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, moveViewer } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

const ahead = vi.hoisted(() => ({ isOff: false, decided: 0, left: 0 }));

vi.mock("../../src/search/caller/plan-ahead.ts", async (original) => {
  const real = await original<{ planAhead: typeof PlanAhead; NOT_PLANNED: object }>();
  return {
    ...real,
    planAhead: async (asked: Parameters<typeof PlanAhead>[0]) => {
      if (ahead.isOff) return real.NOT_PLANNED;
      const planned = await real.planAhead(asked);
      ahead.decided += planned.parts.size;
      ahead.left += asked.segments.length - planned.parts.size;
      return planned;
    },
  };
});

const searched = vi.spyOn(SEARCH_TASKS, "search.segments");

afterEach(() => {
  Object.assign(ahead, { isOff: false, decided: 0, left: 0 });
  searched.mockClear();
});

/** Resolves to all of an answer except times. */
async function answer(engine: Engine, request: SearchRequest, options: SearchOptions = {}) {
  const { stats, ...rest } = await engine.search(request, options);
  const { duration, wait, matchTreeConstruction, matchTreeSearch, ...counted } = stats;
  expect(Math.min(duration, wait, matchTreeConstruction, matchTreeSearch)).toBeGreaterThan(-1);
  return { ...rest, counted };
}

async function streamed(engine: Engine, request: SearchRequest, options: SearchOptions = {}) {
  const paths: string[] = [];
  for await (const event of engine.stream(request, options)) {
    if (event.type === "chunk") paths.push(...event.files.map(({ fileName }) => fileName.text));
    else {
      const { actualMatchCount, totalMatchCount, shardsScanned, shardsSkippedFilter } =
        event.accumulatedStats;
      return [paths.sort(), actualMatchCount, totalMatchCount, shardsScanned, shardsSkippedFilter];
    }
  }
  throw new Error("a stream without an end");
}

/** Resolves to the answers of both ways. The worker threads answer first, because they cache the lists. */
async function both<T>(ask: () => Promise<T>): Promise<T> {
  ahead.isOff = true;
  const byThreads = await ask();
  ahead.isOff = false;
  const planned = await ask();
  expect(planned).toEqual(byThreads);
  return byThreads;
}

test("answers any query for any viewer", async () => {
  const engine = await openEngine({ contexts: (name: string) => CONTEXTS[name] });
  const check = async ({ corpus, asked: queries }: SearchState) => {
    const there = await bringTo(engine, corpus);
    for (const one of queries) {
      const { viewer } = moveViewer(one.options, corpus, there);
      const viewing = viewer ? { viewer } : {};
      await both(() => answer(engine, one.request, viewing));
      for (const query of [`(${one.request.query}) nowhere`, "nowhere", "nowhere or a"])
        await both(() => answer(engine, { ...one.request, query }, viewing));
      await both(() => streamed(engine, { ...one.request, matches: 100 }, viewing));
    }
  };
  const property = fc.asyncProperty(searchStates(4), check);
  await fc.assert(property, { numRuns: 8 * RUNS });
  expect(Math.min(ahead.decided, ahead.left)).toBeGreaterThan(5); // both ways are used
});

const files = (name: string, ...contents: string[]) =>
  documents({
    name,
    files: contents.map((content, i) => ({ path: `${name}/${i}.txt`, content })),
  });

test("if the lists are cached and nothing can match, no thread is asked", async () => {
  const engine = await openEngine();
  await engine.index(files("one", "apple pie"));
  await engine.index(files("two", "cherry cake", "apple tart"));
  const tasks = async (query: string) => {
    searched.mockClear();
    const { stats } = await engine.search({ query, matches: 50 });
    return [searched.mock.calls.length, stats.totalMatchCount];
  };
  for (const [query, count] of [
    ["banana", 0],
    ["banana or strudel", 0],
    ["apple banana", 0],
    ["banana file:one", 0],
    ["banana -(apple)", 0],
  ] as const) {
    await tasks(query);
    expect([query, ...(await tasks(query))]).toEqual([query, 0, count]);
  }
  for (const [query, count] of [
    ["apple", 2],
    ["banana or apple", 2],
    ["-(banana) apple", 2],
    ["cherry", 1],
  ] as const) {
    await tasks(query);
    expect([query, ...(await tasks(query))]).toEqual([query, 1, count]);
  }
});

test("files of a hidden repository are not counted", async () => {
  const engine = await openEngine();
  const [shown] = await engine.index([
    files("shown", "apple pie"),
    files("hidden", "cherry cake", "banana split"),
  ]);
  const viewer = { repositoryIds: new Set([shown!.repositoryId]) };
  for (const query of ["cherry", "banana", "strudel"]) {
    const { counted } = await both(() => answer(engine, { query, matches: 50 }, { viewer }));
    expect(counted).toMatchObject({ shardFilesConsidered: 1, indexBytesLoaded: 0, fileCount: 0 });
  }
});

test("newly indexed files are found, although their segment is new", async () => {
  const engine = await openEngine();
  await engine.index(files("one", "apple pie"));
  const count = async () => (await engine.search({ query: "banana", matches: 5 })).stats.fileCount;
  expect([await count(), await count()]).toEqual([0, 0]);
  await engine.index(files("one", "banana split"));
  expect([await count(), await count()]).toEqual([1, 1]);
  await engine.index(files("two", "banana split"));
  expect([await count(), await count()]).toEqual([2, 2]);
});
