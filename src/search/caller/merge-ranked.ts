/** The threads' best files in one rank order: a merge of lists that are sorted already. */

import { HASH_BYTES } from "../../store/format/format.ts";
import type { RankedFiles } from "../messages/messages.ts";

export interface Ranked {
  /** Position of the segment in the search's input. */
  readonly segment: number;
  readonly file: number;
  readonly count: number;
}

/** Yields the best file that is left, again and again. */
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
    const { segments, files, counts } = lists[best]!;
    yield { segment: segments[at]!, file: files[at]!, count: counts[at]! };
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

const pathAt = ({ paths, pathStarts }: RankedFiles, i: number): Uint8Array =>
  paths.subarray(pathStarts[i]!, pathStarts[i + 1]!);

const hashAt = ({ hashes }: RankedFiles, i: number): Uint8Array =>
  hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES);
