/** The exact value of every counter on a small corpus. No counter depends on what the viewer may not see. */

import fc from "fast-check";
import { beforeAll, afterAll, expect, test } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { SearchRequest, Viewer } from "../../src/search/messages/request.ts";
import type { SearchStats } from "../../src/search/messages/stats.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { corpora, withDefinitions } from "../oracle/corpora.ts";
import type { CorpusRepository } from "../oracle/corpus.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import { CONTEXTS, requests } from "../oracle/queries.ts";
import { brokenInvariant, segmentsInScope } from "./invariants.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

let engine: Engine;
let path: string;

// two segments, because there are two calls: one of 3 pages and one of 1 page
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
    { query: "repo:two needle" }, // no list of the other segment is read
    {
      totalMatchCount: 2,
      fileCount: 1,
      shardFilesConsidered: 5,
      filesConsidered: 1,
      shardsScanned: 1,
      shardsSkippedFilter: 1,
      ngramLookups: 4,
      ngramMatches: 1,
      indexBytesLoaded: 4,
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

test("ranges that are returned are counted, and so is content that is read for them again", async () => {
  const { stats } = await engine.search({ query: "needle", matches: 2 });
  expect(stats).toMatchObject({ actualMatchCount: 2, totalMatchCount: 3 });
  expect(stats.contentBytesLoaded).toBeGreaterThan(29);
});

test.each([
  [{ query: "file:d" }, 0],
  [{ query: "lang:go or file:txt" }, 0],
  [{ query: '""' }, 0],
  [{ query: "file:d", whole: true }, 18],
  [{ query: "hay" }, 4 + 4], // read to find the match, and to show it
  [{ query: "needle or file:d", matches: 1 }, 29 + 18],
])(
  "the content of a file that is shown by its path is not read: %j",
  async (request, contentBytesLoaded) => {
    const { stats } = await engine.search({ matches: 10, ...request });
    expect(stats.actualMatchCount).toBeGreaterThan(0);
    expect(stats).toMatchObject({ contentBytesLoaded });
  },
);

test("times are reported", async () => {
  const { stats } = await engine.search({ query: "needle", matches: 2 });
  expect(stats.duration).toBeGreaterThan(0);
  expect(stats.duration).toBeLessThan(60e9);
  expect(stats.matchTreeConstruction).toBeGreaterThan(0);
  expect(stats.matchTreeSearch).toBeGreaterThan(0);
  expect(stats.wait).toBeLessThanOrEqual(stats.duration);
});

test("a viewer's counters cover only its repositories", async () => {
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

/** Resolves to everything in a response except times. */
async function answerFor(viewer: Viewer, at: Engine, request: SearchRequest) {
  const answer = await at.search(request, { viewer });
  const segments = await segmentsInScope(at, request, { viewer });
  expect(brokenInvariant(answer, segments)).toBeUndefined();
  const { files, repositoryInfo, ...rest } = { ...answer, stats: withoutTimes(answer.stats) };
  const id = 0; // assigned in the order of publication, which the test cannot choose
  return {
    ...rest,
    files: files.map((file) => ({ ...file, repositoryId: id })),
    repositoryInfo: repositoryInfo.map((each) => ({ ...each, id })),
  };
}

/** Makes the index consist of these two repositories, in one new segment. Resolves to the id of the first. */
async function hold(at: Engine, shown: Source, hidden: Source): Promise<number> {
  for (const { name } of await at.repositories()) await at.remove(name);
  const reports = await at.index([shown, hidden]);
  return reports.find(({ repository }) => repository === shown.name)!.repositoryId;
}

interface Given {
  shown: CorpusRepository;
  /** The hidden repositories of each of the two engines. */
  hidden: CorpusRepository[];
  requests: SearchRequest[];
}

const repositories = corpora({ pages: false }).map(withDefinitions);

// a segment with nothing hidden has another layout, which affects indexBytesLoaded
const NEVER_EMPTY = { name: "one", files: [{ path: "one", bytes: Buffer.from("one") }] };

const cases: fc.Arbitrary<Given> = fc.tuple(repositories, repositories).chain(([ours, others]) => {
  const shown = { ...ours.repositories[0]!, name: "acme/api" };
  const hidden = [ours.repositories.at(-1)!, others.repositories[0]!].map((each) => ({
    ...each,
    name: "acme/web",
    revisions: [...each.revisions, NEVER_EMPTY],
  }));
  const corpus = { repositories: [shown, ...hidden] };
  const some = (regex: boolean) => fc.array(requests(corpus, { regex }), { maxLength: 6 });
  return fc.record({
    shown: fc.constant(shown),
    hidden: fc.constant(hidden),
    requests: fc.tuple(some(false), some(true)).map((both) => [...both.flat(), ...OF_SYMBOLS]),
  });
});

const OF_SYMBOLS: SearchRequest[] = ["sym:^foo$ rev:*", "sym:a -(sym:^p)", "parse or sym:O"].map(
  (query) => ({ query, matches: 9 }),
);

test("the content of an invisible repository affects nothing but times", async () => {
  const contexts = (name: string) => CONTEXTS[name];
  const engines = [await openEngine({ contexts }), await openEngine({ contexts })];
  const seen = { found: 0, symbols: 0 };
  const check = async ({ shown, hidden, requests }: Given) => {
    const ids: number[] = [];
    for (const [i, at] of engines.entries())
      ids.push(await hold(at, sourceOf(shown), sourceOf(hidden[i]!)));
    for (const request of requests) {
      const [one, other] = await Promise.all(
        engines.map((at, i) => answerFor({ repositoryIds: new Set([ids[i]!]) }, at, request)),
      );
      expect(other, JSON.stringify(request)).toEqual(one);
      if (one!.files.length > 0) seen.found++;
      if (JSON.stringify(one).includes('"symbols":[')) seen.symbols++;
    }
  };
  await fc.assert(fc.asyncProperty(cases, check), { numRuns: 10 * RUNS, endOnFailure: true });
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(3);
});

const frequent = (word: string) =>
  Array.from({ length: 20 }, (_, n) => ({ path: String(n), content: `${word} ${n}\n` }));

test.each([
  ["alpha\\w omega\\w", "which expression goes first"],
  ["alpha.*omega", "whose pages are scanned"],
  ["alphas omegas", "which literal goes first"],
])(
  "how often a word stands in an invisible repository does not decide for %s: %s",
  async (query) => {
    const filler = "x".repeat(100_000);
    const shown = [
      { path: "both", content: `alphas\nomegas\n` },
      { path: "apart", content: `alphas omegas\n${filler}\nomegas\n${filler}\nomegas` },
      { path: "one", content: `alphas\nomega\n` },
      { path: "every gram", content: `alphas\n${filler}\nomega gas\n` },
    ];
    const answers = [];
    for (const word of ["alphas", "omegas"]) {
      const at = await openEngine();
      const hidden = documents({ name: "hidden", files: frequent(word) });
      const id = await hold(at, documents({ name: "shown", files: shown }), hidden);
      const request = { query, matches: 9, isRegexEnabled: true };
      answers.push(await answerFor({ repositoryIds: new Set([id]) }, at, request));
    }
    expect(answers[1]).toEqual(answers[0]);
  },
);
