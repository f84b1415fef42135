/** A search visits a few blobs of many windows together. Its answer is that of a scan of all files. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyBitset, hasBit, setBit, type Bitset } from "../../src/base/bitset.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { joinedWindows } from "../../src/search/thread/reading/window.ts";
import type { SegmentReader } from "../../src/store/segments/segment-reader.ts";
import { SLOT_BYTES } from "../../src/store/segments/text-cache.ts";
import { openEngine } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";

const MOST_JOINED = 1024;

interface Segment {
  /** For each window, its blobs. */
  readonly windows: readonly (readonly Blob[])[];
}
interface Blob {
  readonly bytes: number;
  readonly isVisited: boolean;
  readonly isEvaluated: boolean;
}

const blob = fc.record({
  bytes: fc.oneof(fc.constant(0), fc.nat(1000), fc.nat(SLOT_BYTES)),
  isVisited: fc.oneof(fc.boolean(), fc.constant(false), fc.constant(false)),
  isEvaluated: fc.boolean(),
});
// some windows have so many blobs that not all can be evaluated at once
const crowd = fc
  .integer({ min: 200, max: 700 })
  .map((count) =>
    Array.from({ length: count }, () => ({ bytes: 1, isVisited: false, isEvaluated: true })),
  );
const segments: fc.Arbitrary<Segment> = fc.record({
  windows: fc.array(fc.oneof(fc.array(blob, { minLength: 1, maxLength: 4 }), crowd), {
    minLength: 1,
    maxLength: 12,
  }),
});

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const bytesOf = (blobs: readonly Blob[]): number => sum(blobs.map(({ bytes }) => bytes));
const visitedIn = (blobs: readonly Blob[]): readonly Blob[] =>
  blobs.filter(({ isVisited }) => isVisited);

/** The slow twin: joins lists of blobs. */
function joinedLists({ windows }: Segment): (readonly Blob[])[] {
  const isSparse = (blobs: readonly Blob[]) => {
    const visited = bytesOf(visitedIn(blobs));
    return visited === 0 || visited < bytesOf(blobs) / 2;
  };
  const joined: (readonly Blob[])[] = [];
  let parts: (readonly Blob[])[] = [];
  for (const window of windows) {
    const all = [...parts, window];
    const fits =
      bytesOf(visitedIn(all.flat())) <= SLOT_BYTES &&
      all.flat().filter(({ isEvaluated }) => isEvaluated).length <= MOST_JOINED;
    if (parts.length > 0 && all.every(isSparse) && fits) parts = all;
    else {
      if (parts.length > 0) joined.push(parts.flat());
      parts = [window];
    }
  }
  return [...joined, parts.flat()];
}

test("windows are joined as lists are", () => {
  const check = (segment: Segment) => {
    const blobs = segment.windows.flat();
    const starts = (lists: readonly (readonly Blob[])[]) =>
      Uint32Array.from([
        0,
        ...lists.map((_, i) => sum(lists.slice(0, i + 1).map((l) => l.length))),
      ]);
    const blobStarts = Float64Array.from([
      0,
      ...blobs.map((_, i) => bytesOf(blobs.slice(0, i + 1))),
    ]);
    const setOf = (isIn: (blob: Blob) => boolean): Bitset => {
      const set = emptyBitset(blobs.length);
      blobs.forEach((one, i) => isIn(one) && setBit(set, i));
      return set;
    };
    const visit = setOf(({ isVisited }) => isVisited);
    const work = setOf(({ isEvaluated }) => isEvaluated);
    const reader = { blobStarts, header: { blobs: blobs.length } } as unknown as SegmentReader;
    const joined = joinedWindows(starts(segment.windows), { visit, work }, reader);
    expect(joined).toEqual(starts(joinedLists(segment)));
    expect(blobs.every((one, i) => hasBit(visit, i) === one.isVisited)).toBe(true);
  };
  fc.assert(fc.property(segments, check), { numRuns: 40 * RUNS });
});

const FILES = 240;

const edges = (n: number, text: string): string =>
  `${n % 14 === 0 ? "zebra of 1 " : ""}${text}${n % 21 === 0 || n % 97 === 5 ? " zebra" : ""}`;

/**
 * Files in about eight windows. The word `mane` is in all, `zebra` in a seventh, and `gnu` in three. Some texts begin or
 * end with a word.
 */
const FILE_TEXTS = Array.from({ length: FILES }, (_, n) => {
  const lines = Array.from({ length: 400 + ((n * 7919) % 2000) }, (__, line) => {
    const rare = n % 7 === 0 && line % 331 === n % 31 ? " zebra" : "";
    const rarest = n % 97 === 5 && line === 333 ? " Gnu" : "";
    return `line ${line}${line % 90 === 17 ? " mane" : ""}${rare}${rarest} of ${n}`;
  });
  return {
    path: `${n % 5}/f${n}.${n % 3 === 0 ? "c" : "py"}`,
    content: edges(n, lines.join("\n")),
  };
});

const has = (word: string) => (text: string) => text.toLowerCase().includes(word);
const QUERIES: readonly [
  query: string,
  fits: (file: (typeof FILE_TEXTS)[number]) => boolean,
  counted: RegExp,
][] = [
  ["zebra", ({ content }) => has("zebra")(content), /zebra/gi],
  ["gnu", ({ content }) => has("gnu")(content), /gnu/gi],
  ["mane", ({ content }) => has("mane")(content), /mane/gi],
  ["zebra mane", ({ content }) => has("zebra")(content), /zebra|mane/gi],
  ["zebra or gnu", ({ content }) => has("zebra")(content) || has("gnu")(content), /zebra|gnu/gi],
  ["mane -(zebra)", ({ content }) => !has("zebra")(content), /mane/gi],
  ["mane lang:c file:f1", ({ path }) => /f1.*\.c$/.test(path), /mane/gi],
  ["zebra lang:python", (f) => has("zebra")(f.content) && f.path.endsWith("y"), /zebra/gi],
  ["/z[e]bra\\sof\\s\\d+/", ({ content }) => /zebra of \d+/.test(content), /zebra of \d+/gi],
  ["/gnu|zebra/", ({ content }) => has("zebra")(content) || has("gnu")(content), /gnu|zebra/gi],
  [
    "/line\\s3+\\s.*of\\s14\\d?$/",
    ({ content }) => /line 3+ .*of 14\d?$/m.test(content),
    /line 3+ .*of 14\d?$/gim,
  ],
];

test.each([
  { workers: 0, textCache: 0 },
  { workers: 2, textCache: 0 },
  { workers: 0, textCache: 64 * SLOT_BYTES },
  { workers: 1, textCache: 3 * SLOT_BYTES },
])("words in many windows, $workers workers, $textCache bytes of cache", async (options) => {
  const engine = await openEngine(options);
  await engine.index(documents({ name: "zoo", files: FILE_TEXTS }), { symbols: "skip" });
  for (const time of [1, 2, 3])
    for (const [query, fits, counted] of QUERIES) {
      const isRegexEnabled = query.startsWith("/");
      const { files, stats } = await engine.search({
        query: isRegexEnabled ? query.slice(1, -1) : query,
        isRegexEnabled,
        matches: 1_000_000,
      });
      const fitting = FILE_TEXTS.filter(fits);
      const expected = fitting.map(({ path, content }) => [
        path,
        [...content.matchAll(counted)].map(({ index }) => index),
      ]);
      const found = files.map(({ fileName, chunks }) => [
        fileName.text,
        chunks.flatMap(({ matchRanges }) => matchRanges.map(({ start }) => start.byteOffset)),
      ]);
      const byPath = (a: unknown[], b: unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1);
      expect({ time, query, found: found.toSorted(byPath) }).toEqual({
        time,
        query,
        found: expected.toSorted(byPath),
      });
      expect(stats.fileCount).toBe(fitting.length);
    }
});
