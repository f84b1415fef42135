/**
 * A search visits a few blobs of many windows together, and reads pages together that are near each other. Its answer
 * is that of a scan of all files.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { emptyBitset, hasBit, setBit, type Bitset } from "../../src/base/bitset.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import {
  joinedWindows,
  MOST_JOINED,
  Window,
  WindowMemory,
  WINDOW_BYTES,
} from "../../src/search/thread/reading/window.ts";
import type { Snapshot } from "../../src/store/lmdb/environment.ts";
import type { SegmentReader } from "../../src/store/segments/segment-reader.ts";
import { TextFiles } from "../../src/store/lmdb/text-files.ts";
import { openEngine, SMALL_LAYOUT, temporaryFolder } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";

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
  bytes: fc.oneof(fc.constant(0), fc.nat(1000), fc.nat(WINDOW_BYTES)),
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
      bytesOf(visitedIn(all.flat())) <= WINDOW_BYTES &&
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

/** The text of a segment, of which some pages are read ahead, and then some bytes are loaded. */
const texts = fc.record({
  blobs: fc.array(fc.record({ bytes: fc.nat(300), isVisited: fc.boolean() }), {
    minLength: 1,
    maxLength: 12,
  }),
  pages: fc.oneof(fc.constant(undefined), fc.infiniteStream(fc.boolean())),
  ahead: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
  loads: fc.array(fc.record({ at: fc.nat(), bytes: fc.nat(100), isPage: fc.boolean() }), {
    maxLength: 12,
  }),
});
const UNREAD = 0xee;
const PAGE_SIZE = 16;

test("what is loaded is in memory and counted, whatever was read ahead", () => {
  const kernel = createKernel();
  const memory = new WindowMemory(kernel);
  const check = ({
    blobs,
    pages,
    ahead,
    loads,
  }: typeof texts extends fc.Arbitrary<infer T> ? T : never) => {
    const blobStarts = [0];
    const firstPages = [0];
    for (const { bytes } of blobs) {
      blobStarts.push(blobStarts.at(-1)! + bytes);
      firstPages.push(firstPages.at(-1)! + Math.ceil(bytes / PAGE_SIZE));
    }
    const visited = [...blobs.keys()].filter((i) => blobs[i]!.isVisited && blobs[i]!.bytes > 0);
    if (visited.length === 0) return;
    const text = Uint8Array.from({ length: blobStarts.at(-1)! }, (_, i) => i % 200);
    const wanted = pages && emptyBitset(firstPages.at(-1)!);
    if (pages && wanted)
      for (let page = 0; page < firstPages.at(-1)!; page++)
        if (pages.next().value) setBit(wanted, page);
    const reader = {
      segment: 1,
      header: { content: 1, blobs: blobs.length, pages: firstPages.at(-1)! },
      blobStarts,
      firstPages,
      pageBytes: PAGE_SIZE,
      copyText: (_: Snapshot, from: number, to: number, target: Uint8Array, at: number) =>
        target.set(text.subarray(from, to), at),
    } as unknown as SegmentReader;
    const place = { firstBlob: 0, endBlob: blobs.length, visited };
    const opened = (hasOpenText: boolean) => {
      const snapshot = { hasOpenText: () => hasOpenText } as unknown as Snapshot;
      return new Window(reader, place, { snapshot, memory });
    };
    /** Loads the same bytes as always, and returns how many bytes the window has counted. */
    const load = (window: Window): number => {
      for (const { at, bytes, isPage } of loads) {
        const blob = visited[at % visited.length]!;
        const [first, end] = [firstPages[blob]!, firstPages[blob + 1]!];
        const page = first + (at % (end - first));
        const length = blobs[blob]!.bytes;
        const [from, to] = isPage
          ? [(page - first) * PAGE_SIZE, Math.min(length, (page - first + 1) * PAGE_SIZE)]
          : [at % length, Math.min(length, (at % length) + bytes)];
        const address = window.address(blob);
        if (isPage) window.load(blob, page, page + 1, bytes % 20);
        else window.loadBytes(blob, address + from, address + to);
        const start = blobStarts[blob]!;
        expect(kernel.bytes.slice(address + from, address + to)).toEqual(
          text.slice(start + from, start + to),
        );
      }
      return window.bytesLoaded;
    };
    const plain = load(opened(false));
    const window = opened(true);
    kernel.bytes.fill(UNREAD, memory.room(0), memory.room(0) + text.length);
    for (const margin of ahead) window.readAhead(visited, wanted, margin);
    expect(load(window)).toBe(plain);
  };
  fc.assert(fc.property(texts, check), { numRuns: 200 * RUNS });
});

const FILES = 240;

const edges = (n: number, text: string): string =>
  `${n % 14 === 0 ? "zebra of 1 " : ""}${text}${n % 21 === 0 || n % 97 === 5 ? " zebra" : ""}`;

/**
 * Files in about six windows. The word `mane` is in all, `zebra` in a seventh, and `gnu` in three. Some texts begin or
 * end with a word, some are short, and some have a line that is longer than a page.
 */
const FILE_TEXTS = Array.from({ length: FILES }, (_, n) => {
  const isShort = n % 97 !== 5 && n % 3 < 2;
  const count = isShort ? 40 + ((n * 37) % 200) : 400 + ((n * 7919) % 2000);
  const lines = Array.from({ length: count }, (__, line) => {
    const rare = n % 7 === 0 && line % 331 === n % 31 ? " zebra" : "";
    const rarest = n % 97 === 5 && line === 333 ? " Gnu" : "";
    const long = n % 35 === 0 && line === 20 ? `${"x".repeat(5000)} zebra ${"y".repeat(999)}` : "";
    return `line ${line}${line % 90 === 17 ? " mane" : ""}${rare}${rarest} of ${n}${long}`;
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
  [
    "/^line\\s20\\s.*x\\szebra\\sy+$/",
    ({ content }) => content.includes("xx zebra yy"),
    /^line 20 .*x zebra y+$/gm,
  ],
  ["/gnu|zebra/", ({ content }) => has("zebra")(content) || has("gnu")(content), /gnu|zebra/gi],
  [
    "/line\\s3+\\s.*of\\s14\\d?$/",
    ({ content }) => /line 3+ .*of 14\d?$/m.test(content),
    /line 3+ .*of 14\d?$/gim,
  ],
];

test.each([{ workers: 0 }, { workers: 2 }])(
  "words in many windows, $workers workers",
  async (options) => {
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
  },
);

/** Makes a file of text with a word on two of its pages, and returns the sizes of all reads of a search. */
async function readsOf(change: (text: Buffer) => void = () => {}) {
  const path = temporaryFolder();
  const internals = { layout: SMALL_LAYOUT };
  const content = Buffer.alloc(30_000, "\n");
  for (const at of [100, 7_100, 7_400]) content.write("needle", at);
  const files = [
    { path: "f", content },
    { path: "other", content: "other".repeat(5_900) },
  ];
  const writer = await openEngine({ internals }, path);
  await writer.index(documents({ name: "r", files }), { symbols: "skip" });
  await writer.close();
  const [name] = readdirSync(join(path, "text"));
  const file = join(path, "text", name!);
  const text = readFileSync(file);
  change(text);
  writeFileSync(file, text);
  const engine = await openEngine({ internals }, path);
  // with facets, because the kernel answers a literal alone without windows
  const search = () => engine.search({ query: "needle", matches: 0, facets: 1 });
  for (let i = 0; i < 3; i++) await search(); // opens the file, and checks its blocks
  await engine.search({ query: "other", matches: 0 }); // takes the place of the text in memory
  const sizes: number[] = [];
  const copy = Reflect.get(TextFiles.prototype, "copy") as TextFiles["copy"];
  const spy = vi.spyOn(TextFiles.prototype, "copy");
  spy.mockImplementation(function (this: TextFiles, segment, from, to, ...rest) {
    sizes.push(to - from);
    return copy.call(this, segment, from, to, ...rest);
  });
  onTestFinished(() => spy.mockRestore());
  return { stats: (await search()).stats, sizes };
}

const PAGE = SMALL_LAYOUT.pageBytes;
// the pages 0, 27 and 28, the byte before page 27, and the rest of a match after each of the runs
const NEEDED = 3 * PAGE + 1 + 2 * "needle".length;

test("pages that are near each other are read together, and only the pages count as loaded", async () => {
  const { stats, sizes } = await readsOf();
  expect(stats).toMatchObject({ totalMatchCount: 3, contentBytesLoaded: NEEDED });
  expect(sizes).toHaveLength(1);
});

test("damage between two pages is not noticed", async () => {
  const { stats, sizes } = await readsOf((text) => text.fill("x", 4_000, 4_100));
  expect(stats).toMatchObject({ totalMatchCount: 3, contentBytesLoaded: NEEDED });
  expect(sizes.length).toBeGreaterThan(1);
});
