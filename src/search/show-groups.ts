/** Which files are built together: small enough groups to be received in a few milliseconds each. */

import { hasBit } from "../base/bitset.ts";
import type { SegmentInput, ShowFile } from "./messages.ts";
import type { Ranked } from "./merge-ranked.ts";

const FILES = 32;
const RANGES = 512;

/** In the order of the files. Whole files are large: each by itself. */
export function* groupFiles(files: Iterable<Ranked>, whole: boolean): Generator<Ranked[]> {
  let group: Ranked[] = [];
  let ranges = 0;
  for (const file of files) {
    const isFull = group.length >= (whole ? 1 : FILES) || ranges + file.count > RANGES;
    if (isFull && group.length > 0) {
      yield group;
      group = [];
      ranges = 0;
    }
    group.push(file);
    ranges += file.count;
  }
  if (group.length > 0) yield group;
}

export function showFileInput(
  { segment: position, file, count }: Ranked,
  segments: readonly SegmentInput[],
): ShowFile {
  const { segment, sets, symbols } = segments[position]!;
  return { segment, file, most: count, symbols, sets: sets.map((set) => hasBit(set, file)) };
}
