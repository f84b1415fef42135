/**
 * Files that are shown together with the search that finds them look the same as if they had been requested later,
 * which is the twin here.
 */

import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { showAhead as ShowAhead } from "../../src/search/thread/show-ahead.ts";
import { SEARCH_TASKS } from "../../src/search/thread/tasks.ts";
import type { SearchOptions, SearchRequest } from "../../src/search/messages/request.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, difference, moveViewer } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

const ahead = vi.hoisted(() => ({ isOff: false }));

vi.mock("../../src/search/thread/show-ahead.ts", async (original) => {
  const real = await original<{ showAhead: typeof ShowAhead }>();
  return {
    showAhead: (...given: Parameters<typeof real.showAhead>) =>
      ahead.isOff ? Promise.resolve([]) : real.showAhead(...given),
  };
});

const asked = vi.spyOn(SEARCH_TASKS, "search.show");

afterEach(() => {
  ahead.isOff = false;
  asked.mockClear();
});

/** Resolves to all of an answer except times. */
async function answer(engine: Engine, request: SearchRequest, options: SearchOptions = {}) {
  const { stats, ...rest } = await engine.search(request, options);
  const { duration, wait, matchTreeConstruction, matchTreeSearch, ...counted } = stats;
  expect(Math.min(duration, wait, matchTreeConstruction, matchTreeSearch)).toBeGreaterThan(-1);
  return { ...rest, counted };
}

async function both(engine: Engine, request: SearchRequest, options: SearchOptions = {}) {
  const shownAhead = await answer(engine, request, options);
  ahead.isOff = true;
  const shownWhenAsked = await answer(engine, request, options);
  ahead.isOff = false;
  expect(shownAhead).toEqual(shownWhenAsked);
  return shownAhead;
}

test("answers of any length to any query are the same", async () => {
  const engine = await openEngine({ contexts: (name: string) => CONTEXTS[name] });
  const check = async ({ corpus, asked: queries }: SearchState, maxBytes: number) => {
    const there = await bringTo(engine, corpus);
    for (const one of queries) {
      const { viewer } = moveViewer(one.options, corpus, there);
      const viewing = viewer ? { viewer } : {};
      await both(engine, one.request, viewing);
      await both(engine, one.request, { ...viewing, maxBytes });
      const first = await both(engine, { ...one.request, after: "" }, viewing);
      if (first.nextCursor !== undefined)
        await both(engine, { ...one.request, after: first.nextCursor }, viewing);
    }
  };
  const states = searchStates(4);
  const bytes = fc.constantFrom(1, 300, 1024, 2100, 5000, 40_000);
  await fc.assert(fc.asyncProperty(states, bytes, check), { numRuns: 5 * RUNS });
});

test("files that are shown only on demand are the same", async () => {
  const engine = await openEngine({ contexts: (name: string) => CONTEXTS[name] });
  ahead.isOff = true;
  const check = async ({ corpus, asked: queries }: SearchState) => {
    const there = await bringTo(engine, corpus);
    for (const one of queries) {
      const moved = { ...one, options: moveViewer(one.options, corpus, there) };
      expect(await difference(engine, there, moved)).toBeUndefined();
    }
  };
  await fc.assert(fc.asyncProperty(searchStates(6), check), { numRuns: 5 * RUNS });
});

const files = Array.from({ length: 40 }, (_, i) => ({
  path: `f${i}`,
  content: `everywhere ${i}\n${i < 5 ? "rare rare\n" : ""}${i === 7 ? "long\n".repeat(600) : ""}`,
}));

test.each<[name: string, request: SearchRequest, rounds: number]>([
  ["what is rare", { query: "rare", matches: 50 }, 0],
  ["just as many as are wanted", { query: "rare", matches: 10 }, 0],
  ["one more than are wanted, which the only thread knows", { query: "rare", matches: 9 }, 0],
  ["the best of each file", { query: "rare", matches: 50, matchesPerFile: 1 }, 0],
  ["nothing", { query: "nowhere", matches: 50 }, 0],
  ["more files than one of several threads shows", { query: "everywhere", matches: 50 }, 0],
  ["more ranges than are shown at once", { query: "long", matches: 1000 }, 1],
  ["whole files", { query: "rare", matches: 50, whole: true }, 5],
  ["nearly whole files", { query: "rare", matches: 50, contextLines: 100 }, 5],
  ["counts", { query: "rare", matches: 0 }, 0],
])("%s", async (_, request, rounds) => {
  const engine = await openEngine();
  await engine.index(documents({ name: "r", files }));
  await engine.search(request);
  expect(asked).toHaveBeenCalledTimes(rounds);
  asked.mockClear();
  await both(engine, request);
});

test("files are shown on demand if the answer may become full", async () => {
  const engine = await openEngine();
  await engine.index(documents({ name: "r", files }));
  const request = { query: "rare", matches: 50 };
  await engine.search(request, { maxBytes: 100_000 });
  expect(asked).toHaveBeenCalledTimes(0);
  await engine.search(request, { maxBytes: 2_000 });
  expect(asked).toHaveBeenCalledTimes(1);
});

test("pages may end within a file", async () => {
  const engine = await openEngine();
  await engine.index(documents({ name: "r", files }));
  const shown: number[] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const page = await both(engine, { query: "rare", matches: 3, after });
    shown.push(page.counted.actualMatchCount);
    after = page.nextCursor;
  }
  expect(shown).toEqual([3, 3, 3, 1]);
});
