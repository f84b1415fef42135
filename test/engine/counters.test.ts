/** Every counter's exact value on a small corpus, and that none tells of what the viewer may not see. */

import fc from "fast-check";
import { beforeAll, afterAll, expect, test } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, type Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/documents.ts";
import type { SearchRequest, Viewer } from "../../src/search/request.ts";
import type { SearchStats } from "../../src/search/stats.ts";
import { documentBytes } from "../oracle/documents.ts";
import { queries } from "../oracle/queries.ts";
import { brokenInvariant, segmentsInScope } from "./invariants.ts";
import { openEngine, RUNS } from "./opened.ts";

let engine: Engine;
let path: string;

// two segments, for there are two calls: of 3 pages and of 1 page
beforeAll(async () => {
  path = mkdtempSync(join(tmpdir(), "quern-counters-"));
  engine = await open(path, { workers: 0 });
  const one = [
    { path: "a.txt", content: "needle one\n" }, // 11 bytes
    { path: "b.txt", content: "hay\n" }, // 4 bytes
    { path: "c.go", content: "nee dle\n" }, // 8 bytes, two of the four grams
    { path: "image", content: "\0" }, // no page
  ];
  const two = [{ path: "d.txt", content: "needle two\nneedle\n" }]; // 18 bytes
  await engine.index(documents({ name: "one", files: one }), { symbols: "skip" });
  await engine.index(documents({ name: "two", files: two }), { symbols: "skip" });
});

afterAll(async () => {
  await engine.close();
  rmSync(path, { recursive: true });
});

type Counters = Partial<SearchStats>;
const NONE: Counters = {
  actualMatchCount: 0,
  filesSkipped: 0,
  crashes: 0,
  shardsSkipped: 0,
  flushReason: "FLUSH_REASON_FINAL_FLUSH",
};

const ROWS: [query: Partial<SearchRequest> & { query: string }, counters: Counters][] = [
  [
    { query: "needle" },
    {
      totalMatchCount: 3,
      fileCount: 2,
      shardFilesConsidered: 5,
      filesConsidered: 2,
      filesLoaded: 2,
      contentBytesLoaded: 29,
      indexBytesLoaded: 8, // four lists of a byte in each segment
      shardsScanned: 2,
      shardsSkippedFilter: 0,
      ngramLookups: 8,
      ngramMatches: 2,
      regexpsConsidered: 0,
    },
  ],
  [
    { query: "hay" },
    {
      totalMatchCount: 1,
      fileCount: 1,
      shardFilesConsidered: 5,
      filesConsidered: 1,
      filesLoaded: 1,
      contentBytesLoaded: 4,
      indexBytesLoaded: 1,
      shardsScanned: 1,
      shardsSkippedFilter: 1,
      ngramLookups: 2,
      ngramMatches: 1,
      regexpsConsidered: 0,
    },
  ],
  [
    { query: "file:d" },
    {
      totalMatchCount: 1,
      fileCount: 1,
      shardFilesConsidered: 5,
      filesConsidered: 1,
      filesLoaded: 0,
      contentBytesLoaded: 0,
      indexBytesLoaded: 0,
      shardsScanned: 1,
      shardsSkippedFilter: 1,
      ngramLookups: 0,
      ngramMatches: 0,
    },
  ],
  [
    { query: "-(needle)" },
    {
      totalMatchCount: 3,
      fileCount: 3,
      shardFilesConsidered: 5,
      filesConsidered: 5,
      filesLoaded: 2,
      contentBytesLoaded: 29,
      indexBytesLoaded: 8,
      shardsScanned: 2,
      shardsSkippedFilter: 0,
      ngramLookups: 8,
      ngramMatches: 2,
      regexpsConsidered: 0,
    },
  ],
  [
    { query: "ne" },
    {
      totalMatchCount: 5,
      fileCount: 3,
      filesConsidered: 4,
      filesLoaded: 4,
      contentBytesLoaded: 41,
      indexBytesLoaded: 0,
      ngramLookups: 0,
      ngramMatches: 4,
      shardsScanned: 2,
    },
  ],
  [
    { query: "needle [a-z]+$", isRegexEnabled: true },
    {
      totalMatchCount: 5,
      fileCount: 2,
      filesConsidered: 2,
      filesLoaded: 2,
      regexpsConsidered: 2,
      shardsScanned: 2,
    },
  ],
  [
    { query: "repo:two nothing_there" },
    {
      totalMatchCount: 0,
      fileCount: 0,
      shardFilesConsidered: 5,
      filesConsidered: 0,
      contentBytesLoaded: 0,
      shardsScanned: 0,
      shardsSkippedFilter: 2,
      ngramMatches: 0,
    },
  ],
];

test.each(ROWS)("$query", async (request, counters) => {
  const answer = await engine.search({ matches: 0, ...request });
  expect(answer.stats).toMatchObject({ ...NONE, ...counters });
  expect(brokenInvariant(answer, 2)).toBeUndefined();
});

test("ranges that are returned are counted, and content that is read for them again", async () => {
  const { stats } = await engine.search({ query: "needle", matches: 2 });
  expect(stats).toMatchObject({ actualMatchCount: 2, totalMatchCount: 3 });
  expect(stats.contentBytesLoaded).toBeGreaterThan(29);
});

test.each([
  [{ query: "file:d" }, 0],
  [{ query: "lang:go or file:txt" }, 0],
  [{ query: '""' }, 0],
  [{ query: "file:d", whole: true }, 18],
  [{ query: "hay" }, 4 + 4], // to be found, and to be shown
  [{ query: "needle or file:d", matches: 1 }, 29 + 18],
])("a file that is shown by its path is not read: %j", async (request, contentBytesLoaded) => {
  const { stats } = await engine.search({ matches: 10, ...request });
  expect(stats.actualMatchCount).toBeGreaterThan(0);
  expect(stats).toMatchObject({ contentBytesLoaded });
});

test("times are there", async () => {
  const { stats } = await engine.search({ query: "needle", matches: 2 });
  expect(stats.duration).toBeGreaterThan(0);
  expect(stats.duration).toBeLessThan(60e9);
  expect(stats.matchTreeConstruction).toBeGreaterThan(0);
  expect(stats.matchTreeSearch).toBeGreaterThan(0);
  expect(stats.wait).toBeLessThanOrEqual(stats.duration);
});

test("a viewer's counters are those of its repositories", async () => {
  const two = (await engine.repositories()).find(({ name }) => name === "two")!.id;
  const viewer = { repositoryIds: new Set([two]) };
  const { stats } = await engine.search({ query: "needle", matches: 0 }, { viewer });
  expect(stats).toMatchObject({ fileCount: 1, shardFilesConsidered: 1, shardsScanned: 1 });
  const nobody = { viewer: { repositoryIds: new Set<number>() } };
  const none = await engine.search({ query: "needle", matches: 0 }, nobody);
  const { duration: _duration, wait: _wait, flushReason: _reason, ...counters } = none.stats;
  expect(Object.values(counters).every((value) => value === 0)).toBe(true);
});

const TIMES = ["duration", "wait", "matchTreeConstruction", "matchTreeSearch"] as const;

const withoutTimes = (stats: SearchStats) =>
  Object.fromEntries(Object.entries(stats).filter(([name]) => !TIMES.includes(name as never)));

async function countersFor(viewer: Viewer, at: Engine, query: string) {
  const request = { query, matches: 5 };
  const answer = await at.search(request, { viewer });
  const segments = await segmentsInScope(at, request, { viewer });
  expect(brokenInvariant(answer, segments)).toBeUndefined();
  return withoutTimes(answer.stats);
}

test(
  "what an invisible repository holds changes no counter but times",
  { timeout: 60_000 * RUNS },
  async () => {
    const first = await openEngine();
    const second = await openEngine();
    const document = fc.record({
      path: fc.constantFrom("main.go", "lib/Foo.java", "no-language", "cmd/foo_test.go"),
      content: documentBytes({ pages: true }),
    });
    const files = fc.uniqueArray(document, {
      minLength: 1,
      maxLength: 4,
      selector: ({ path }) => path,
    });
    const cases = fc.record({ shown: files, hidden: files, other: files }).chain((given) => {
      const corpus = {
        repositories: [given.shown, given.hidden, given.other].map((each, id) => ({
          id,
          name: "r",
          metadata: {},
          revisions: [
            { name: "HEAD", files: each.map(({ path, content }) => ({ path, bytes: content })) },
          ],
        })),
      };
      return fc.record({
        given: fc.constant(given),
        query: queries(corpus, { regex: false, revisions: false }),
      });
    });
    const contexts = ["context:", "(?"];
    const check = async ({
      given,
      query,
    }: {
      given: { shown: object[]; hidden: object[]; other: object[] };
      query: string;
    }) => {
      fc.pre(!contexts.some((word) => query.includes(word)));
      const stats = [];
      for (const [at, hidden] of [
        [first, given.hidden],
        [second, given.other],
      ] as const) {
        await at.remove("shown");
        await at.remove("hidden");
        const reports = await at.index(
          [
            documents({ name: "shown", files: given.shown as never }),
            documents({ name: "hidden", files: hidden as never }),
          ],
          { symbols: "skip" },
        );
        const viewer = { repositoryIds: new Set([reports[0]!.repositoryId]) };
        stats.push(await countersFor(viewer, at, query));
      }
      expect(stats[1]).toEqual(stats[0]);
    };
    await fc.assert(fc.asyncProperty(cases, check), { numRuns: 60 * RUNS, endOnFailure: true });
  },
);
