/**
 * Sends each route the worst request about a hostile repository. No answer is longer than its bound in docs/limits.md.
 * Lengths are those of the whole body, in bytes.
 */

import { afterAll, expect, test } from "vitest";
import { createHandler } from "../../src/http/handler.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { openEngine } from "./engine.ts";
import { clientOf, post } from "./service.ts";
import type { Source } from "../../src/ingest/sources/source.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
/** The limit of the answers of searches, small enough for quick tests. */
const ANSWER = 2 * MIB;
const COPIES = 40;
const COPY = 200 * KIB;
const REVISIONS = 2000;
const LISTED = 10_000;
const LONG_PATH = `${"p".repeat(4000)}.txt`;
const DEEP = "d/".repeat(1000);

const engine = await openEngine([
  {
    name: "hostile",
    files: {
      "min.js": "use(it);".repeat(64 * KIB),
      "line.txt": "needle ".repeat(150_000),
      "names.ts": `class ${"N".repeat(150_000)} {\n  ${"m".repeat(150_000)}() {}\n}\n`,
      "uses.ts": `class ${"N".repeat(150_000)} {\n  m() {\n${"    this.m();\n".repeat(1500)}  }\n}\n`,
      "lines.txt": `${"word ".repeat(800)}\n`.repeat(250),
      "quotes.txt": '"\\"\\\t'.repeat(40_000),
      [LONG_PATH]: "copy",
      [`${DEEP}f`]: "deep",
      ...Object.fromEntries(
        Array.from({ length: COPIES }, (_, n) => [`copies/${n}`, `copy ${n} `.repeat(COPY / 7)]),
      ),
    },
  },
]);
await engine.index(manyRevisions());
afterAll(() => engine.close());
const client = clientOf(
  createHandler(engine, { anonymous: "all", maxAnswerBytes: ANSWER, metrics: "anyone" }),
);

/** Returns files that are in each of many revisions. */
function manyRevisions(): Source {
  const revisions = Array.from({ length: REVISIONS }, (_, n) => ({
    name: `${n}-${"r".repeat(90)}`,
  }));
  const all = revisions.map((_, n) => n);
  return {
    name: "revisions",
    metadata: {},
    open: () =>
      Promise.resolve({
        revisions,
        async *entries() {
          yield Array.from({ length: 100 }, (_, n) => ({
            kind: "file" as const,
            path: `${n}.txt`,
            revisions: all,
            content: { bytes: Buffer.from(`everywhere ${n}`) },
          }));
        },
        close: () => Promise.resolve(),
      }),
  };
}

const search = (query: string, more: object = {}) => ({ query, matches: 100_000, ...more });
const regex = { isRegexEnabled: true };
const whole = { whole: true };
/**
 * The length of the longest answer. One file may exceed the limit, and text that JSON must escape takes twice its
 * length here.
 */
const ANSWERED = ANSWER + 2 * MIB;

const PLACE = { repoName: "hostile" };

test.each<[route: string, asked: object, most: number]>([
  // a match takes a window of 2 * 256, the name, and the address
  ["find_references", { symbolName: "it" }, LISTED * KIB],
  ["find_references", { symbolName: "use" }, LISTED * KIB],
  ["find_references", { symbolName: "needle" }, LISTED * KIB],
  ["find_references", { symbolName: "word" }, LISTED * (2 * KIB)],
  ["find_references", { symbolName: "N".repeat(1000) }, LISTED * KIB],
  ["find_definitions", { symbolName: "m".repeat(1000) }, LISTED * KIB],
  ["find_references", { symbolName: "m", ...PLACE, fileName: "uses.ts", line: 2, column: 3 }, MIB],
  ["find_references", { symbolName: "N", ...PLACE, fileName: "names.ts", line: 1, column: 7 }, MIB],
  ["search", search("N file:names"), ANSWERED],
  ["search", search("sym:m file:names", regex), ANSWERED],
  ["search", search("needle"), ANSWERED],
  ["search", search("copy", whole), ANSWERED],
  ["search", search("copy", { ...whole, matches: COPIES }), ANSWERED],
  ["search", search("(?s).+", regex), ANSWERED],
  ["search", search(".", regex), ANSWERED],
  ["search", search("word", { contextLines: 1000 }), ANSWERED],
  ["search", search("quotes file:.", { ...whole, ...regex }), ANSWERED],
  ["search", search("copy file:p", regex), ANSWERED],
  ["search", search("file:p"), ANSWERED],
  ["search", search("everywhere rev:r"), ANSWERED],
  ["search", search(`r:${"unknown".repeat(100_000)} x`), 8 * KIB],
  ["search", search(`lang:${"x".repeat(500_000)}`), 8 * KIB],
  ["search", search(`${"(".repeat(200)} ${"x ".repeat(200_000)}`), 8 * KIB],
  ["stream_search", search("copy", whole), ANSWERED],
  ["stream_search", search("(?s).+", regex), ANSWERED],
  ["stream_search", search("needle"), ANSWERED],
  ["stream_search", search("N file:names"), ANSWERED],
  ["stream_search", search("everywhere rev:r"), ANSWERED],
  // each folder counts once, however often it is requested, and every node has its path
  [
    "tree",
    { repoName: "hostile", revisionName: "HEAD", paths: Array(1000).fill(DEEP) },
    (DEEP.length / 2) * (DEEP.length + 100) + 64 * KIB,
  ],
  ["tree", { repoName: "x".repeat(500_000), revisionName: "HEAD", paths: [] }, KIB],
  ["source?repo=hostile&path=quotes.txt", {}, 2 * 5 * 40_000 + KIB],
  [`source?repo=hostile&path=${"x".repeat(10_000)}`, {}, KIB],
  ["repos?perPage=100", {}, 100 * KIB],
  [`repos?query=${"x".repeat(10_000)}`, {}, KIB],
  ["version", {}, KIB],
  ["metrics", {}, 32 * KIB],
  ["openapi.json", {}, MIB],
])("%s, row %#", async (route, asked, most) => {
  const init = Object.keys(asked).length === 0 ? {} : post(asked);
  const response = await client(`/api/${route}`, init);
  const { byteLength: length } = await response.arrayBuffer();
  expect(length).toBeLessThan(most);
  expect([...response.headers].join("").length).toBeLessThan(8 * KIB);
});

test("a full answer says so, counts everything, and begins with the best file", async () => {
  const request = { query: "^copy", matches: 1000, whole: true, ...regex };
  const full = await engine.search(request, { maxBytes: 3 * COPY });
  const all = await engine.search(request);
  expect(full.stats.totalMatchCount).toBe(all.stats.totalMatchCount);
  expect([full.isSearchExhaustive, all.isSearchExhaustive]).toEqual([false, true]);
  expect(full.files).toEqual(all.files.slice(0, full.files.length));
  expect(full.stats.actualMatchCount).toBe(ranges(full));
  expect(full.files.length).toBeGreaterThan(0);
  expect(full.files.length).toBeLessThan(5);
  // an answer with everything is not full
  expect((await engine.search(request, { maxBytes: 100 * MIB })).files).toEqual(all.files);
  expect(await engine.search(request, { maxBytes: 0 })).toMatchObject({
    files: [],
    isSearchExhaustive: false,
  });
});

const ranges = ({ files }: SearchResponse): number =>
  files.reduce((sum, { chunks, fileName }) => {
    const own = chunks.reduce((count, { matchRanges }) => count + matchRanges.length, 0);
    return sum + (own || fileName.matchRanges.length);
  }, 0);

test("a full stream says so, and counts everything", async () => {
  const request = { query: "^copy", matches: 1000, whole: true, ...regex };
  const all = await engine.search({ ...request, matches: 0 });
  let files = 0;
  for await (const event of engine.stream(request, { maxBytes: 3 * COPY })) {
    if (event.type === "chunk") files += event.files.length;
    else {
      expect(event.isSearchExhaustive).toBe(false);
      expect(event.accumulatedStats.totalMatchCount).toBe(all.stats.totalMatchCount);
    }
  }
  expect(files).toBeGreaterThan(0);
  expect(files).toBeLessThan(6);
});

test.each([-1, NaN, "1", null])("maxBytes %s is refused", async (maxBytes) => {
  const options = { maxBytes } as { maxBytes: number };
  await expect(engine.search({ query: "x", matches: 1 }, options)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringContaining("maxBytes must be a number of 0 or more") as string,
  });
});
