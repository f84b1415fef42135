/** Stores random tables as runs of a lender's files and own ones, and reads them again. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf } from "../../src/base/growable.ts";
import { NO_BLOB, PART, segmentKey } from "../../src/store/format/format.ts";
import type { Snapshot } from "../../src/store/lmdb/environment.ts";
import {
  encodeFiles,
  encodePaths,
  encodeRuns,
  readFiles,
  readPaths,
  readRuns,
  storedEntry,
} from "../../src/store/segments/file-tables.ts";
import { patchOf, pick, type Files } from "../../src/store/segments/lender-files.ts";
import { pathOf } from "../../src/store/segments/segment-tables.ts";

interface File {
  readonly path: string;
  readonly blob: number;
  readonly language: number;
  readonly flags: number;
}

const file = fc.record({
  path: fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 3 }),
  blob: fc.constantFrom(0, 1, 0x8000_0000, NO_BLOB),
  language: fc.nat(1),
  flags: fc.constantFrom(0, 4),
});

/** The files of several repositories, each in the order of a segment. */
const repositories = (each: fc.Arbitrary<File>): fc.Arbitrary<File[]> =>
  fc
    .array(fc.array(each, { maxLength: 12 }), { maxLength: 3 })
    .map((all) => all.flatMap((files) => files.toSorted(inOrder)));

const inOrder = (a: File, b: File): number =>
  Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)) || a.blob - b.blob;

/** A lender's files, and those of a borrower, many of which are the lender's. */
const pairs = repositories(file).chain((lender) =>
  fc.tuple(
    fc.constant(lender),
    repositories(lender.length === 0 ? file : fc.oneof(file, fc.constantFrom(...lender))),
  ),
);

function tablesOf(files: readonly File[]): Files {
  const paths = files.map(({ path }) => Buffer.from(path));
  const starts = new Uint32Array(files.length + 1);
  paths.forEach(({ length }, i) => (starts[i + 1] = starts[i]! + length));
  return {
    files: {
      blobs: Uint32Array.from(files, ({ blob }) => blob),
      languages: Uint16Array.from(files, ({ language }) => language),
      flags: Uint8Array.from(files, ({ flags }) => flags),
    },
    paths: { starts, bytes: Uint8Array.from(Buffer.concat(paths)) },
  };
}

const filesOf = ({ files, paths }: Files): File[] =>
  Array.from(files.blobs, (blob, i) => ({
    path: Buffer.from(pathOf(paths, i)).toString(),
    blob,
    language: files.languages[i]!,
    flags: files.flags[i]!,
  }));

const show = ({ path, blob, language, flags }: File): string =>
  `${path} ${blob} ${language} ${flags}`;

const [LENDER, BORROWER] = [7, 9];

/** Stores the two segments. */
function stored(lender: Files, borrower: Files) {
  const values = new Map<string, Uint8Array>();
  const put = (segment: number, part: 7 | 8 | 12, ...pieces: Uint8Array[]) =>
    values.set(segmentKey(segment, part).toString("hex"), Uint8Array.from(Buffer.concat(pieces)));
  const { runs, own } = patchOf(borrower, lender);
  put(BORROWER, PART.RUNS, ...encodeRuns(lender.files.blobs.length, runs));
  for (const [segment, tables] of [
    [LENDER, lender],
    [BORROWER, pick(borrower, own)],
  ] as const) {
    put(segment, PART.FILES, ...encodeFiles(tables.files));
    put(segment, PART.PATHS, ...encodePaths(tables.paths));
  }
  const get = (key: Buffer) => values.get(key.toString("hex"));
  return { runs, own, values, snapshot: { get } as unknown as Snapshot };
}

test("runs and own files are all files, and own are only those that the lender lacks", () => {
  const check = ([lender, files]: [File[], File[]]) => {
    const borrower = tablesOf(files);
    const { own, runs, snapshot } = stored(tablesOf(lender), borrower);
    const header = { content: LENDER, files: files.length };
    const read = {
      files: readFiles(snapshot, BORROWER, header),
      paths: readPaths(snapshot, BORROWER, header),
    };
    expect(read).toEqual(borrower);
    const lent = new Set(lender.map(show));
    expect(Array.from(own, (at) => files[at])).toEqual(files.filter((one) => !lent.has(show(one))));
    expect(runs.firsts.length).toBeLessThanOrEqual(files.length);
    const opened = readRuns(snapshot, BORROWER, header)!;
    const ownFiles = filesOf(pick(borrower, own));
    files.forEach((one, at) => {
      const { isLenders, index } = storedEntry(opened, at);
      expect((isLenders ? lender : ownFiles)[index]).toEqual(one);
    });
  };
  fc.assert(fc.property(pairs, check), { numRuns: 500 });
});

const named = (names: string): File[] =>
  Array.from(names, (path) => ({ path, blob: 0, language: 0, flags: 0 }));

test.each([
  { what: "equal", files: "abcd", runs: [[0, 4, 0]] },
  {
    what: "two repositories that are equal",
    files: "abcdabcd",
    runs: [
      [0, 4, 0],
      [0, 4, 0],
    ],
  },
  {
    what: "the example",
    files: "abxd",
    runs: [
      [0, 2, 1],
      [3, 1, 0],
    ],
  },
  {
    what: "one more",
    files: "abbcd",
    runs: [
      [0, 2, 0],
      [1, 3, 0],
    ],
  },
  {
    what: "one new in front",
    files: "xabcd",
    runs: [
      [0, 0, 1],
      [0, 4, 0],
    ],
  },
  {
    what: "one fewer",
    files: "acd",
    runs: [
      [0, 1, 0],
      [2, 2, 0],
    ],
  },
  { what: "nothing in common", files: "xyz", runs: [[0, 0, 3]] },
  { what: "no files", files: "", runs: [] },
])("runs of $what", ({ files, runs }) => {
  const { runs: found } = stored(tablesOf(named("abcd")), tablesOf(named(files)));
  const rows = Array.from(found.firsts, (first, i) => [first, found.shared[i], found.own[i]]);
  expect(rows).toEqual(runs);
});

test.each([
  { what: "no runs", words: undefined },
  { what: "nothing in them", words: [] },
  { what: "half a run", words: [4, 0, 2] },
  { what: "fewer files than the header says", words: [4, 0, 3, 2, 0, 1, 0] },
  { what: "more files than the header says", words: [4, 0, 3, 3, 1, 1, 0] },
  { what: "a run beyond the lender's files", words: [4, 0, 4, 2, 1, 1, 0] },
  { what: "a run that is longer than the lender", words: [4, 0, 0, 5, 1, 0, 0] },
  { what: "another lender", words: [5, 0, 3, 2, 1, 1, 0] },
  { what: "more own files than there are", words: [4, 0, 3, 1, 1, 1, 1] },
  { what: "counts that overflow", words: [4, 0, 3, 2, 0xffff_ffff, 1, 3] },
])("runs with $what are damaged", ({ words }) => {
  const { values, snapshot } = stored(tablesOf(named("abcd")), tablesOf(named("abxd")));
  const key = segmentKey(BORROWER, PART.RUNS).toString("hex");
  const header = { content: LENDER, files: 4 };
  expect(Array.from(values.get(key)!.filter((_, i) => i % 4 === 0))).toEqual([4, 0, 3, 2, 1, 1, 0]);
  if (words) values.set(key, bytesOf(Uint32Array.from(words)));
  else values.delete(key);
  for (const read of [readFiles, readPaths])
    expect(() => read(snapshot, BORROWER, header)).toThrow(
      expect.objectContaining({ code: "INDEX_CORRUPT" }),
    );
});
