/**
 * Makes and orders candidates. Their order depends only on the files themselves, not on the layout of segments, so that
 * hidden repositories do not change an answer.
 */

import { compareText } from "../base/compare.ts";
import { HASH_BYTES } from "../store/format/format.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import { repositoryOf } from "../store/segments/segment-tables.ts";
import type { Candidate, RankInput } from "./messages.ts";
import type { AskedSegment } from "./thread.ts";

type Scored = Pick<Candidate, "score" | "sum" | "isDefiner">;

/** Returns functions that return the path of a file of a segment, and make a candidate of a file that has a blob. */
export function candidatesOf(
  { places }: Pick<RankInput, "places">,
  { position, reader }: AskedSegment,
  snapshot: Snapshot,
): {
  readonly pathOf: (file: number) => string;
  readonly candidateOf: (file: number, scored: Scored) => Candidate;
} {
  const { bytes, starts } = reader.paths(snapshot);
  const hashes = reader.hashes(snapshot);
  const pathOf = (file: number): string =>
    Buffer.from(bytes.subarray(starts[file], starts[file + 1])).toString();
  const candidateOf = (file: number, scored: Scored): Candidate => {
    const at = HASH_BYTES * reader.files.blobs[file]!;
    return {
      position,
      file,
      path: pathOf(file),
      repository: places[repositoryOf(reader.header, file)] ?? -1,
      hash: Buffer.from(hashes.subarray(at, at + HASH_BYTES)).toString("hex"),
      ...scored,
    };
  };
  return { pathOf, candidateOf };
}

export const byPath = (a: Candidate, b: Candidate): number =>
  compareText(a.path, b.path) || a.repository - b.repository || compareText(a.hash, b.hash);

export const byScore = (a: Candidate, b: Candidate): number => b.score - a.score || byPath(a, b);

/** Returns the `most` best candidates, and all definers. Of a file that occurs twice, the definer counts. */
export function bestOf(candidates: readonly Candidate[], most: number): Candidate[] {
  const byFile = new Map<string, Candidate>();
  for (const one of candidates) {
    const key = `${one.position} ${one.file}`;
    const known = byFile.get(key);
    if (!known) byFile.set(key, one);
    else byFile.set(key, { ...(known.score >= one.score ? known : one), isDefiner: true });
  }
  const sorted = [...byFile.values()].sort(byScore);
  return sorted.filter(({ isDefiner }, rank) => isDefiner || rank < most);
}
