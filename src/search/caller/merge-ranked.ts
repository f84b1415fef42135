/** Merges the threads' sorted lists of best files into one list in rank order. */

import { HASH_BYTES } from "../../store/format/format.ts";
import type { Place, RankedFiles } from "../messages/messages.ts";

/** A file of the answer, and which of its ranges to show. */
export interface FileToShow {
  /** The index of the file's segment in the search's list of segments. */
  readonly segment: number;
  readonly file: number;
  /** The number of the file's ranges that earlier pages have shown. */
  readonly skip: number;
  /** The number of ranges to show, after those that are skipped. */
  readonly count: number;
}

export interface Ranked extends FileToShow {
  /** The list that contains the file. */
  readonly list: RankedFiles;
  /** The index of the file in `list`. */
  readonly at: number;
}

/** Yields the files of all lists in rank order. */
export function* mergeRanked(lists: readonly RankedFiles[]): Generator<Ranked> {
  const next = lists.map(() => 0);
  for (;;) {
    let best = -1;
    lists.forEach((list, i) => {
      if (next[i]! >= list.scores.length) return;
      if (best < 0 || compare(list, next[i]!, lists[best]!, next[best]!) < 0) best = i;
    });
    if (best < 0) return;
    const at = next[best]!++;
    const list = lists[best]!;
    const { segments, files, counts } = list;
    yield { segment: segments[at]!, file: files[at]!, skip: 0, count: counts[at]!, list, at };
  }
}

function compare(a: RankedFiles, i: number, b: RankedFiles, j: number): number {
  return (
    b.scores[j]! - a.scores[i]! ||
    a.repositories[i]! - b.repositories[j]! ||
    Buffer.compare(pathAt(a, i), pathAt(b, j)) ||
    Buffer.compare(hashAt(a, i), hashAt(b, j))
  );
}

/** Compares two positions in the ranking. Returns a negative number if `a` comes first. */
export const comparePlaces = (a: Place, b: Place): number =>
  b.score - a.score ||
  a.repository - b.repository ||
  Buffer.compare(a.path, b.path) ||
  Buffer.compare(a.hash, b.hash);

export const placeOf = ({ list, at }: Ranked): Place => ({
  score: list.scores[at]!,
  repository: list.repositories[at]!,
  path: pathAt(list, at),
  hash: hashAt(list, at),
});

export const pathAt = ({ paths, pathStarts }: RankedFiles, i: number): Uint8Array =>
  paths.subarray(pathStarts[i]!, pathStarts[i + 1]!);

export const hashAt = ({ hashes }: RankedFiles, i: number): Uint8Array =>
  hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES);
