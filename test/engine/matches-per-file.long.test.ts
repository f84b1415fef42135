/** The limit of ranges that are shown of one file: its best lines come first, and totals stay exact. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { SearchOptions, SearchRequest } from "../../src/search/messages/request.ts";
import type { FileResult, SearchResponse } from "../../src/search/messages/response.ts";
import { corpora, withDefinitions } from "../oracle/corpora.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import type { Corpus } from "../oracle/corpus.ts";
import { compareFiles, fileKey } from "../oracle/oracle.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bestFirst, type Named, type Span } from "./best-lines-twin.ts";
import { bringTo, moveViewer } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

const spansOf = (file: FileResult): Span[] =>
  file.chunks.flatMap(({ matchRanges }) =>
    matchRanges.map(({ start, end }) => [start.byteOffset, end.byteOffset] as const),
  );

const linesOf = ({ files }: SearchResponse): string[] =>
  files.flatMap(({ fileName, chunks }) =>
    chunks.map(
      ({ content, contentStart }) =>
        `${fileName.text}:${contentStart.lineNumber}: ${content.trim()}`,
    ),
  );

const SHOP = `# retry is told of in the comment
retries = 3

class Retry:
    def retry(self):
        return retry_later(self, timeout)

    def stop(self): pass

x = y.retry  # with a timeout
`;

async function shop(): Promise<Engine> {
  const engine = await openEngine();
  await engine.index(documents({ name: "shop", files: [{ path: "a/retry.py", content: SHOP }] }));
  return engine;
}

test.each<[what: string, request: Partial<SearchRequest>, lines: string[]]>([
  ["a definition", { query: "def retry", matchesPerFile: 1 }, ["5: def retry(self):"]],
  [
    "definitions, then whole words, in the order of the file",
    { query: "retry", matchesPerFile: 4 },
    [
      "4: class Retry:",
      "5: def retry(self):",
      "1: # retry is told of in the comment",
      "10: x = y.retry  # with a timeout",
    ],
  ],
  [
    "the line with both terms",
    { query: "retry with", matchesPerFile: 3 },
    ["4: class Retry:", "5: def retry(self):", "10: x = y.retry  # with a timeout"],
  ],
  [
    "both ranges of one line",
    { query: "y.retry timeout", matchesPerFile: 2 },
    ["10: x = y.retry  # with a timeout"],
  ],
  [
    "no more than the response may hold",
    { query: "retry", matchesPerFile: 4, matches: 1 },
    ["4: class Retry:"],
  ],
  [
    "an expression",
    { query: "\\bretry|stop", isRegexEnabled: true, matchesPerFile: 3 },
    ["4: class Retry:", "5: def retry(self):", "8: def stop(self): pass"],
  ],
  ["definitions alone", { query: "sym:stop", matchesPerFile: 1 }, ["8: def stop(self): pass"]],
  [
    "one chunk for lines whose context meets, where its best line stands",
    { query: "self", matchesPerFile: 2, contextLines: 1 },
    ["4: class Retry:\n    def retry(self):\n        return retry_later(self, timeout)"],
  ],
])("%s", async (_, request, lines) => {
  const engine = await shop();
  const response = await engine.search({ matches: 100, ...request } as SearchRequest);
  const whole = await engine.search({
    ...request,
    matches: 100,
    matchesPerFile: 1e6,
  } as SearchRequest);
  expect(linesOf(response)).toEqual(lines.map((line) => `a/retry.py:${line}`));
  expect(response.stats.totalMatchCount).toBe(whole.stats.actualMatchCount);
});

test("ranges in the path are limited in their order, and only if no content is shown", async () => {
  const engine = await shop();
  const named = async (query: string, matchesPerFile: number) => {
    const { files } = await engine.search({ query, matches: 10, matchesPerFile });
    return files[0]!.fileName.matchRanges.map(({ start }) => start.byteOffset);
  };
  expect(await named("file:[ar]", 2)).toEqual([0, 2]);
  expect(await named("file:[ar] class", 1)).toEqual([0, 2, 5]);
});

test("the answer says that every match is shown only if the limit omits none", async () => {
  const engine = await shop();
  const isAll = async (matchesPerFile: number) =>
    (await engine.search({ query: "retry", matches: 100, matchesPerFile })).isSearchExhaustive;
  expect(await Promise.all([1, 4, 5].map(isAll))).toEqual([false, false, true]);
});

// ── random files, compared with the twin ──

const TERMS = ["foo", "parse", "bar", "oo", "a", "Oo", "x", "é", "nothing"];

interface TwinCase {
  readonly corpus: Corpus;
  readonly asked: readonly {
    readonly terms: string[];
    readonly most: number;
    readonly matches: number;
  }[];
}

const twinCases: fc.Arbitrary<TwinCase> = fc.record({
  corpus: corpora({ revisions: 1, pages: false }).map(withDefinitions),
  asked: fc.array(
    fc.record({
      terms: fc.uniqueArray(fc.constantFrom(...TERMS), { minLength: 1, maxLength: 2 }),
      most: fc.integer({ min: 1, max: 6 }),
      matches: fc.oneof(fc.constant(1e6), fc.integer({ min: 1, max: 12 })),
    }),
    { minLength: 4, maxLength: 4 },
  ),
});

/** Resolves to what each file shows for a query without a limit, by key, in rank order. */
async function spansByFile(engine: Engine, query: string): Promise<Map<string, Span[]>> {
  const { files } = await engine.search({ query, matches: 1e6 });
  return new Map(files.map((file) => [fileKey(file), spansOf(file)]));
}

async function namesByFile(engine: Engine): Promise<Map<string, Named[]>> {
  const { files } = await engine.search({ query: "sym:.*", matches: 1e6 });
  return new Map(
    files.map((file) => {
      const symbols = file.chunks.flatMap((chunk) => chunk.symbols ?? []);
      const named = spansOf(file).map((span, i) => ({
        span,
        isMember: ["constructor", "field", "property"].includes(symbols[i]!.kind),
      }));
      return [fileKey(file), named];
    }),
  );
}

const bytesOf = ({ repositories }: Corpus, key: string): Uint8Array => {
  const [repository, path] = key.split("\0");
  const { files } = repositories.find(({ name }) => name === repository)!.revisions[0]!;
  return files.find((file) => file.path === path)!.bytes;
};

/** Resolves to the files that the twin expects, best first, until `matches` is used up. */
async function expectedSpans(
  engine: Engine,
  { corpus, names }: { corpus: Corpus; names: ReadonlyMap<string, Named[]> },
  { terms, most, matches }: TwinCase["asked"][number],
): Promise<[string, Span[]][]> {
  const shown = await spansByFile(engine, terms.join(" "));
  const found = await Promise.all(terms.map((term) => spansByFile(engine, term)));
  let left = matches;
  const expected: [string, Span[]][] = [];
  for (const [key, spans] of shown) {
    const count = Math.min(left, most, spans.length);
    if (count === 0) break;
    left -= count;
    const places = { shown: spans, terms: found.map((one) => one.get(key) ?? []) };
    const best = bestFirst(bytesOf(corpus, key), places, names.get(key) ?? []);
    expected.push([key, best.slice(0, count)]);
  }
  return expected;
}

test("random files show the same ranges as with the twin", async () => {
  const engine = await openEngine();
  const check = async ({ corpus, asked }: TwinCase) => {
    await bringTo(engine, { repositories: [] });
    await engine.index(corpus.repositories.map(sourceOf));
    const names = await namesByFile(engine);
    for (const one of asked) {
      const { terms, most: matchesPerFile, matches } = one;
      const { files } = await engine.search({ query: terms.join(" "), matches, matchesPerFile });
      const shown = files.map((file) => [fileKey(file), spansOf(file)]);
      expect(shown).toEqual(await expectedSpans(engine, { corpus, names }, one));
    }
  };
  await fc.assert(fc.asyncProperty(twinCases, check), { numRuns: 6 * RUNS });
});

// ── any query, and what a limit may not change ──

const rangesIn = (file: FileResult): Span[] =>
  file.chunks.length > 0
    ? spansOf(file)
    : file.fileName.matchRanges.map(({ start, end }) => [start.byteOffset, end.byteOffset]);

const show = (spans: readonly Span[]) => spans.map((span) => span.join("-"));

function checkLimited(all: SearchResponse, limited: SearchResponse, most: number): void {
  const { fileCount, totalMatchCount } = all.stats;
  expect(limited.stats).toMatchObject({ fileCount, totalMatchCount });
  const spans = new Map(all.files.map((file) => [fileKey(file), rangesIn(file)]));
  for (const file of limited.files) {
    const [own, whole] = [rangesIn(file), spans.get(fileKey(file))!];
    expect(own.length).toBe(Math.min(most, whole.length));
    expect(new Set(show(own)).size).toBe(own.length);
    expect(show(whole)).toEqual(expect.arrayContaining(show(own)));
  }
}

async function collected(engine: Engine, request: SearchRequest, viewing: SearchOptions) {
  const files: FileResult[] = [];
  for await (const event of engine.stream(request, viewing)) {
    if (event.type === "chunk") files.push(...event.files);
    else return { files, stats: event.accumulatedStats } as SearchResponse;
  }
  return expect.fail("a stream without an end");
}

const byKey = (files: readonly FileResult[]) =>
  files.toSorted(compareFiles).map((file) => ({ ...file, webUrl: "" }));

test("a limit of 200 matches returns 40 files, and not one", async () => {
  const engine = await openEngine();
  const files = Array.from({ length: 50 }, (_, i) => ({
    path: `${i}.txt`,
    content: `needle ${i}\n`.repeat(200),
  }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const request = { query: "needle", matches: 200 };
  const [all, limited] = [
    await engine.search(request),
    await engine.search({ ...request, matchesPerFile: 5 }),
  ];
  expect([all.files.length, limited.files.length]).toEqual([1, 40]);
  for (const { stats } of [all, limited])
    expect([stats.actualMatchCount, stats.totalMatchCount, stats.fileCount]).toEqual([
      200, 10_000, 50,
    ]);
});

const WORKERS = [
  { workers: 0, states: 4 },
  { workers: 3, states: 2 },
];

test.each(WORKERS)("any query, $workers workers", async (given) => {
  const contexts = (name: string) => CONTEXTS[name];
  const engine = await openEngine({ workers: given.workers, contexts });
  const check = async ({ corpus, asked }: SearchState, most: number) => {
    const there = await bringTo(engine, corpus);
    for (const one of asked) {
      const { viewer } = moveViewer(one.options, corpus, there);
      const viewing = viewer ? { viewer } : {};
      const request = { ...one.request, matches: 1e9 };
      const all = await engine.search(request, viewing);
      const limited = await engine.search({ ...request, matchesPerFile: most }, viewing);
      expect(limited.files.map(fileKey)).toEqual(all.files.map(fileKey));
      checkLimited(all, limited, most);
      const streamed = await collected(engine, { ...request, matchesPerFile: most }, viewing);
      expect(byKey(streamed.files)).toEqual(byKey(limited.files));
    }
  };
  const property = fc.asyncProperty(searchStates(6), fc.integer({ min: 1, max: 5 }), check);
  await fc.assert(property, { numRuns: given.states * RUNS });
});
