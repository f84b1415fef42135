/** A search that several engines answer together gives the answer of one that has everything. */

import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { moveViewer } from "../engine/corpus-engine.ts";
import { openEngine } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringInParts } from "./bring-in-parts.ts";
import { comparable } from "./comparable.ts";
import { sliced } from "./sliced.ts";

const contexts = (name: string) => CONTEXTS[name];

const shapes = fc.record({
  parts: fc.integer({ min: 1, max: 5 }),
  first: fc.nat(4),
  facets: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  matchesPerFile: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
});

const withField = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [N in Name]?: Value };

test("random states, queries, viewers and parts are answered as by one engine", async () => {
  const engine = await openEngine({ contexts });
  const parts = await sliced(engine, contexts);
  onTestFinished(() => parts.close());
  const seen = { files: 0, searched: 0 };
  const check = async (
    { corpus, asked }: SearchState,
    shape: typeof shapes extends fc.Arbitrary<infer T> ? T : never,
  ) => {
    const there = await bringInParts(engine, corpus);
    for (const one of asked) {
      const { viewer } = moveViewer(one.options, corpus, there);
      const options = viewer ? { viewer } : {};
      const request = {
        ...one.request,
        ...withField("facets", shape.facets),
        ...withField("matchesPerFile", shape.matchesPerFile),
      };
      const whole = await engine.search(request, options);
      const joined = await parts.search(shape.parts, shape.first, request, options);
      expect(comparable(joined)).toEqual(comparable(whole));
      seen.files += whole.files.length;
      const { shardsScanned, shardsSkippedFilter } = whole.stats;
      if (shape.parts > 1 && shardsScanned > 1)
        seen.searched += shardsScanned + shardsSkippedFilter;
    }
  };
  await fc.assert(fc.asyncProperty(searchStates(4), shapes, check), { numRuns: 20 * RUNS });
  expect(seen.files).toBeGreaterThan(20);
  expect(seen.searched).toBeGreaterThan(10);
});

test("pages together are the whole answer", async () => {
  const engine = await openEngine({ contexts });
  const parts = await sliced(engine, contexts);
  onTestFinished(() => parts.close());
  const check = async (
    { corpus, asked }: SearchState,
    { parts: count, first }: { parts: number; first: number },
    size: number,
  ) => {
    const there = await bringInParts(engine, corpus);
    for (const one of asked) {
      const { viewer } = moveViewer(one.options, corpus, there);
      const options = viewer ? { viewer } : {};
      let [cursor, joinedCursor]: (string | undefined)[] = ["", ""];
      for (let page = 0; page < 6 && cursor !== undefined; page++) {
        const request: SearchRequest = { ...one.request, matches: size };
        const whole = await engine.search({ ...request, after: cursor }, options);
        const joined = await parts.search(
          count,
          first,
          { ...request, after: joinedCursor! },
          options,
        );
        expect(comparable(joined)).toEqual(comparable(whole));
        [cursor, joinedCursor] = [whole.nextCursor, joined.nextCursor];
      }
    }
  };
  const size = fc.integer({ min: 1, max: 5 });
  await fc.assert(fc.asyncProperty(searchStates(3), shapes, size, check), { numRuns: 8 * RUNS });
});

test("an answer that reaches its size limit ends with the same file", async () => {
  const engine = await openEngine();
  for (const name of ["a", "b", "c"]) {
    const files = Array.from({ length: 40 }, (_, i) => ({
      path: `${i}.ts`,
      content: "needle ".repeat(1 + ((i * 7) % 5)) + "x".repeat(100 * (i % 3)),
    }));
    await engine.index(documents({ name, files }));
  }
  const parts = await sliced(engine);
  onTestFinished(() => parts.close());
  const request = { query: "needle", matches: 1000, after: "" };
  for (const maxBytes of [1, 5_000, 20_000, 1_000_000]) {
    const whole = await engine.search(request, { maxBytes });
    const joined = await parts.search(3, 0, request, { maxBytes });
    const keys = ({ files }: SearchResponse) =>
      files.map(({ repository, fileName }) => `${repository}/${fileName.text}`);
    // each engine has its own limit, so one of the answers may have some more files
    const [shorter, longer] = [keys(joined), keys(whole)].sort((a, b) => a.length - b.length);
    expect(longer!.slice(0, shorter!.length - 1)).toEqual(shorter!.slice(0, -1));
    expect(joined.isSearchExhaustive).toBe(whole.isSearchExhaustive);
    expect(joined.nextCursor === undefined).toBe(whole.nextCursor === undefined);
  }
});
