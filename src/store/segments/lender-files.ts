/**
 * Finds the files of a borrowing segment that its lender also has. Such a file has the same path, blob, language and
 * flags in both segments.
 *
 * A file is first compared with the lender's file that follows the previous match, because the files of both segments
 * are in the same order. If these two files differ, a binary search looks for the file in a sorted list of the lender's
 * files. So 78 000 equal files take about 30 ms.
 */

import { firstIndex } from "../../base/binary-search.ts";
import type { RunColumns } from "./file-tables.ts";
import { pathOf, type FileTable, type PathTable } from "./segment-tables.ts";

/** The tables of the files of a segment. */
export interface Files {
  readonly files: FileTable;
  readonly paths: PathTable;
}

export interface Patch {
  readonly runs: RunColumns;
  /** The files that the lender does not have, in ascending order. */
  readonly own: Uint32Array;
}

/**
 * Describes the files `all` as runs of the lender's files and of own files. REQUIRES: each language has the same number
 * in both tables.
 */
export function patchOf(all: Files, lender: Files): Patch {
  const find = finder(all, lender);
  const [firsts, shared, own]: [number[], number[], number[]] = [[], [], []];
  const ownFiles: number[] = [];
  let next = 0; // the lender's file that would continue the current run
  for (let file = 0; file < all.files.blobs.length; file++) {
    const found = find(file, next);
    const isContinued = found === undefined || (found === next && own.at(-1) === 0);
    if (firsts.length === 0 || !isContinued) {
      firsts.push(found ?? 0);
      shared.push(0);
      own.push(0);
    }
    const run = firsts.length - 1;
    if (found === undefined) {
      own[run]!++;
      ownFiles.push(file);
    } else {
      shared[run]!++;
      next = found + 1;
    }
  }
  const [a, b, c] = [firsts, shared, own].map((column) => Uint32Array.from(column));
  return { runs: { firsts: a!, shared: b!, own: c! }, own: Uint32Array.from(ownFiles) };
}

/** Returns the tables of the chosen files. */
export function pick({ files, paths }: Files, chosen: Uint32Array): Files {
  const starts = new Uint32Array(chosen.length + 1);
  chosen.forEach((file, i) => {
    starts[i + 1] = starts[i]! + paths.starts[file + 1]! - paths.starts[file]!;
  });
  const bytes = new Uint8Array(starts.at(-1)!);
  chosen.forEach((file, i) =>
    bytes.set(paths.bytes.subarray(paths.starts[file], paths.starts[file + 1]), starts[i]),
  );
  return {
    files: {
      blobs: chosen.map((file) => files.blobs[file]!),
      languages: Uint16Array.from(chosen, (file) => files.languages[file]!),
      flags: Uint8Array.from(chosen, (file) => files.flags[file]!),
    },
    paths: { starts, bytes },
  };
}

/**
 * Returns a function that finds the lender's file that equals `file`. The function tries the lender's file `next`
 * first.
 */
function finder(all: Files, lender: Files): (file: number, next: number) => number | undefined {
  const count = lender.files.blobs.length;
  // sorted on first use: most borrowers need this only for the first file of each repository, because `next` finds the
  // others
  let sorted: Uint32Array | undefined;
  return (file, next) => {
    if (next < count && compare(lender, next, all, file) === 0) return next;
    sorted ??= sortedFiles(lender);
    const place = firstIndex(0, count, (at) => compare(lender, sorted![at]!, all, file) >= 0);
    const found = sorted[place];
    return found !== undefined && compare(lender, found, all, file) === 0 ? found : undefined;
  };
}

/** Sorts files in the order of compare(). If a segment has only one repository, its files are already in this order. */
function sortedFiles(of: Files): Uint32Array {
  const order = Array.from(of.files.blobs.keys()); // an array that is nearly sorted is sorted faster than a typed array
  return Uint32Array.from(order.sort((a, b) => compare(of, a, of, b)));
}

function compare(of: Files, a: number, other: Files, b: number): number {
  return (
    Buffer.compare(pathOf(of.paths, a), pathOf(other.paths, b)) ||
    of.files.blobs[a]! - other.files.blobs[b]! ||
    of.files.languages[a]! - other.files.languages[b]! ||
    of.files.flags[a]! - other.files.flags[b]!
  );
}
