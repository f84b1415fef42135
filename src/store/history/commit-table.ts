/** Reads the commits of a history segment. */

import { corrupt } from "../format/sealed.ts";
import type { Snapshot } from "../lmdb/environment.ts";
import { HISTORY, readHistoryTable, type HistoryHeader } from "./tables.ts";
import { VarintReader } from "./varints.ts";

export const COMMIT_FLAG = {
  /** The repository is shallow at this commit, so its changes are not known. */
  BOUNDARY: 1,
} as const;

/** The commits of a segment, newest first. */
export interface CommitTable {
  readonly idBytes: number;
  /** The ids, one after another. */
  readonly ids: Uint8Array;
  /** The parents of commit c are those from parentStarts[c] up to parentStarts[c + 1]. */
  readonly parentStarts: Uint32Array;
  /** The ids of the parents, one after another. */
  readonly parents: Uint8Array;
  readonly authors: Uint32Array;
  readonly committers: Uint32Array;
  /** Seconds since 1970. */
  readonly authored: Float64Array;
  readonly committed: Float64Array;
  readonly flags: Uint8Array;
  /** The first change of each commit, and the number of changes. */
  readonly changeStarts: Uint32Array;
  /** Where each message begins in the text, and the end of the text. A newline follows each message. */
  readonly messageStarts: Uint32Array;
}

export function readCommits(
  snapshot: Snapshot,
  segment: number,
  { commits: count, idBytes, people, lineBytes, changes, lengths }: HistoryHeader,
): CommitTable {
  const what = `the commits in segment ${segment}`;
  const bytes = readHistoryTable(snapshot, segment, HISTORY.COMMITS, lengths[HISTORY.COMMITS]!);
  const from = new VarintReader(bytes, what);
  const ids = new Uint8Array(count * idBytes);
  const parentStarts = new Uint32Array(count + 1);
  const parents: (number | Uint8Array)[] = []; // numbers of commits whose ids are still to be read
  const authors = new Uint32Array(count);
  const committers = new Uint32Array(count);
  const authored = new Float64Array(count);
  const committed = new Float64Array(count);
  const flags = new Uint8Array(count);
  const changeStarts = new Uint32Array(count + 1);
  const messageStarts = new Uint32Array(count + 1);
  messageStarts[0] = lineBytes;
  for (let i = 0, before = 0; i < count; i++) {
    ids.set(from.bytes(idBytes), i * idBytes);
    for (let left = from.number(); left > 0; left--) {
      const distance = from.number();
      if (i + distance >= count) throw corrupt(what);
      parents.push(distance > 0 ? i + distance : from.bytes(idBytes));
    }
    parentStarts[i + 1] = parents.length;
    authors[i] = from.number();
    committers[i] = from.number();
    committed[i] = before += from.signed();
    authored[i] = before + from.signed();
    flags[i] = from.number();
    changeStarts[i + 1] = changeStarts[i]! + from.number();
    messageStarts[i + 1] = messageStarts[i]! + from.number() + 1;
    if (authors[i]! >= people || committers[i]! >= people) throw corrupt(what);
  }
  from.end();
  if (changeStarts[count] !== changes) throw corrupt(what);
  const ofParents = new Uint8Array(parents.length * idBytes);
  for (const [i, parent] of parents.entries()) {
    const isNumber = typeof parent === "number";
    const id = isNumber ? ids.subarray(parent * idBytes, (parent + 1) * idBytes) : parent;
    ofParents.set(id, i * idBytes);
  }
  return {
    idBytes,
    ids,
    parentStarts,
    parents: ofParents,
    authors,
    committers,
    authored,
    committed,
    flags,
    changeStarts,
    messageStarts,
  };
}
