/**
 * Reads the tables of a segment's files. A segment that borrows its content stores only its *own* files, which are
 * those that its lender does not have. Part RUNS says which of the segment's files are the lender's:
 *
 *     RUNS := lenderFiles first* shared* own*      all u32; one first, shared and own for each run
 *
 * A run stands for `shared` files of the lender, beginning with the lender's file `first`, followed by the next `own`
 * of the segment's own files. The runs, one after another, contain all files of the segment. `lenderFiles` is the
 * number of files of the lender.
 *
 * *Example.* The lender has the files a, b, c and d. The borrower has a, b, another version of c, and d. The borrower's
 * own tables have one file, and its runs are 0 2 1 and 3 1 0.
 *
 * A work tree of 78 000 files usually has a few runs for each lender. The files of a run are copied in bulk, which
 * takes 1 ms for all 78 000 files.
 */

import { firstIndex } from "../../base/binary-search.ts";
import { bytesOf, wordsOf } from "../../base/growable.ts";
import { PART, segmentKey } from "../format/format.ts";
import { corrupt } from "../format/sealed.ts";
import type { Snapshot } from "../lmdb/environment.ts";
import {
  isAscending,
  mustRead,
  type FileTable,
  type PathTable,
  type SegmentHeader,
} from "./segment-tables.ts";

/** The runs of a segment, as columns. */
export interface RunColumns {
  /** The lender's file with which each run begins. */
  readonly firsts: Uint32Array;
  /** The number of the lender's files in each run. */
  readonly shared: Uint32Array;
  /** The number of own files in each run. */
  readonly own: Uint32Array;
}

/** The runs of a segment that borrows. readRuns() has checked them. */
export interface Runs extends RunColumns {
  readonly lender: number;
  readonly lenderFiles: number;
  /** The number of own files in all runs. */
  readonly ownFiles: number;
  /** The segment's file with which each run begins, followed by the number of all files. */
  readonly starts: Uint32Array;
  /** The index of each run's first own file in the segment's own tables. */
  readonly ownStarts: Uint32Array;
}

type Header = Pick<SegmentHeader, "content" | "files">;

export const encodeRuns = (
  lenderFiles: number,
  { firsts, shared, own }: RunColumns,
): Uint8Array[] => [Uint32Array.of(lenderFiles), firsts, shared, own].map(bytesOf);

/**
 * Reads the runs of a segment. Returns undefined if the segment stores its own content, and therefore all its files.
 */
export function readRuns(
  snapshot: Snapshot,
  segment: number,
  { content, files }: Header,
): Runs | undefined {
  if (content === segment) return undefined;
  const what = `the runs of segment ${segment}`;
  const value = snapshot.get(segmentKey(segment, PART.RUNS), what);
  if (!value || value.length % 12 !== 4) throw corrupt(what);
  const words = wordsOf(value);
  const count = (words.length - 1) / 3;
  const [lenderFiles] = words as unknown as [number];
  const [firsts, shared, own] = [0, 1, 2].map((column) =>
    words.subarray(1 + column * count, 1 + (column + 1) * count),
  ) as [Uint32Array, Uint32Array, Uint32Array];
  const [starts, ownStarts] = [new Uint32Array(count + 1), new Uint32Array(count)];
  let [next, ownFiles] = [0, 0];
  for (let run = 0; run < count; run++) {
    if (firsts[run]! + shared[run]! > lenderFiles) throw corrupt(what);
    starts[run] = next;
    ownStarts[run] = ownFiles;
    next += shared[run]! + own[run]!;
    ownFiles += own[run]!;
    if (next > files) throw corrupt(what);
  }
  if (next !== files) throw corrupt(what);
  starts[count] = files;
  return { lender: content, lenderFiles, ownFiles, firsts, shared, own, starts, ownStarts };
}

/** The entry of a file, which is either in the lender's tables or in the segment's own tables. */
export interface StoredEntry {
  readonly isLenders: boolean;
  readonly index: number;
}

/** Returns the table in which the entry of a file is stored, and its index there. */
export function storedEntry(
  { firsts, shared, starts, ownStarts }: Runs,
  file: number,
): StoredEntry {
  const run = firstIndex(1, starts.length, (at) => starts[at]! > file) - 1;
  const index = file - starts[run]!;
  const isLenders = index < shared[run]!;
  return { isLenders, index: index + (isLenders ? firsts[run]! : ownStarts[run]! - shared[run]!) };
}

/** Neighbouring files of one table that are also neighbours in the segment. */
interface Stretch {
  readonly isLenders: boolean;
  /** The range of the files' indexes in their table. It includes `from` but not `to`. */
  readonly from: number;
  readonly to: number;
  /** The index that the first of these files has in the segment. */
  readonly at: number;
}

function* stretches({ firsts, shared, own, starts, ownStarts }: Runs): Generator<Stretch> {
  for (let run = 0; run < firsts.length; run++) {
    const [first, ownStart, at] = [firsts[run]!, ownStarts[run]!, starts[run]!];
    const count = shared[run]!;
    yield { isLenders: true, from: first, to: first + count, at };
    yield { isLenders: false, from: ownStart, to: ownStart + own[run]!, at: at + count };
  }
}

const hasShared = ({ ownFiles, starts }: Runs): boolean => ownFiles < starts.at(-1)!;

/** Reads the table of all files of a segment. */
export function readFiles(snapshot: Snapshot, segment: number, header: Header): FileTable {
  const runs = readRuns(snapshot, segment, header);
  if (!runs) return storedFiles(snapshot, segment, header.files);
  const own = storedFiles(snapshot, segment, runs.ownFiles);
  if (!hasShared(runs)) return own;
  return expandFiles(runs, own, storedFiles(snapshot, runs.lender, runs.lenderFiles));
}

function storedFiles(snapshot: Snapshot, segment: number, count: number): FileTable {
  const value = mustRead(snapshot, segment, PART.FILES, 7 * count);
  const languages = new Uint16Array(count);
  bytesOf(languages).set(value.subarray(4 * count, 6 * count));
  return {
    blobs: wordsOf(value.subarray(0, 4 * count)),
    languages,
    flags: value.slice(6 * count),
  };
}

function expandFiles(runs: Runs, own: FileTable, lender: FileTable): FileTable {
  const files = runs.starts.at(-1)!;
  const all = {
    blobs: new Uint32Array(files),
    languages: new Uint16Array(files),
    flags: new Uint8Array(files),
  };
  for (const { isLenders, from, to, at } of stretches(runs)) {
    const table = isLenders ? lender : own;
    all.blobs.set(table.blobs.subarray(from, to), at);
    all.languages.set(table.languages.subarray(from, to), at);
    all.flags.set(table.flags.subarray(from, to), at);
  }
  return all;
}

/** Reads the paths of all files of a segment. */
export function readPaths(snapshot: Snapshot, segment: number, header: Header): PathTable {
  const runs = readRuns(snapshot, segment, header);
  if (!runs) return storedPaths(snapshot, segment, header.files);
  const own = storedPaths(snapshot, segment, runs.ownFiles);
  if (!hasShared(runs)) return own;
  return expandPaths(runs, own, storedPaths(snapshot, runs.lender, runs.lenderFiles));
}

function storedPaths(snapshot: Snapshot, segment: number, count: number): PathTable {
  const what = `the paths of segment ${segment}`;
  const value = snapshot.get(segmentKey(segment, PART.PATHS), what);
  const startsBytes = 4 * (count + 1);
  if (!value || value.length < startsBytes) throw corrupt(what);
  const starts = wordsOf(value.subarray(0, startsBytes));
  if (value.length !== startsBytes + starts[count]! || !isAscending(starts)) throw corrupt(what);
  return { starts, bytes: value.slice(startsBytes) };
}

function expandPaths(runs: Runs, own: PathTable, lender: PathTable): PathTable {
  const files = runs.starts.at(-1)!;
  const starts = new Uint32Array(files + 1);
  let length = 0;
  for (const { isLenders, from, to, at } of stretches(runs)) {
    const table = isLenders ? lender : own;
    const shift = length - table.starts[from]!;
    for (let file = from; file < to; file++) starts[at + file - from] = table.starts[file]! + shift;
    length += table.starts[to]! - table.starts[from]!;
  }
  starts[files] = length;
  const bytes = new Uint8Array(length);
  for (const { isLenders, from, to, at } of stretches(runs)) {
    const table = isLenders ? lender : own;
    bytes.set(table.bytes.subarray(table.starts[from]!, table.starts[to]!), starts[at]!);
  }
  return { starts, bytes };
}

export const encodeFiles = (files: FileTable): Uint8Array[] => [
  bytesOf(files.blobs),
  bytesOf(files.languages),
  files.flags,
];

export const encodePaths = (paths: PathTable): Uint8Array[] => [bytesOf(paths.starts), paths.bytes];
