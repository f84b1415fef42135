/**
 * Names the write transactions of an index by what they do: the steps of a segment's life, and the steps around these.
 * The name depends on the keys that a transaction puts and removes, and on the manifests before and after.
 */

import { PART } from "../../../src/store/format/format.ts";
import { unpackManifest, type Manifest } from "../../../src/store/catalog/manifest.ts";

export type Step =
  | "created"
  | "lease taken"
  | "segment written"
  | "segment complete"
  | "content borrowed"
  | "published"
  | "symbols written"
  | "symbols named"
  | "words written"
  | "merged"
  | "removed"
  | "deleted"
  | "forgotten"
  | "lease released"
  | "key stored"
  | "nothing";

/** The moment at which the process ends or stops: the n-th transaction of the step, counted from 1. */
export interface Moment {
  /** within: everything is put, nothing committed. after: the next transaction has begun and put nothing. committed: at once, with no lock held. */
  readonly how: "kill within" | "kill after" | "stop committed";
  readonly step: Step;
  readonly nth: number;
}

export interface Touched {
  readonly put: readonly Buffer[];
  readonly removed: readonly Buffer[];
  readonly before: Manifest | undefined;
  /** The manifest that the transaction puts, if any. */
  readonly after: Manifest | undefined;
}

/** Returns the manifest in a stored value, which has the generation before the record and the seal after it. */
export const manifestIn = (value: Uint8Array): Manifest =>
  unpackManifest(value.subarray(0, value.length - 4));

export function nameStep({ put, removed, before, after }: Touched): Step {
  const puts = (name: string) => put.some((key) => key.subarray(1).toString() === name);
  if (puts("format")) return "created";
  if (before && after) return nameManifest(before, after);
  const parts = new Set(put.filter(isSegment).map((key) => key[5]));
  if (parts.has(PART.HEADER))
    return parts.has(PART.HASHES) ? "segment complete" : "content borrowed";
  if (parts.has(PART.WORDS)) return "words written";
  if (parts.size > 0) return parts.has(PART.SYMBOLS) ? "symbols written" : "segment written";
  if (removed.some(isSegment)) return "deleted";
  if (removed.length > 0) return "lease released";
  return puts("lease") ? "lease taken" : "nothing";
}

const isSegment = (key: Buffer): boolean => key[0] === 5;

function nameManifest(before: Manifest, after: Manifest): Step {
  if (after.retired.length > before.retired.length) return "merged";
  if (after.retired.length < before.retired.length) return "forgotten";
  if (after.repositories.length < before.repositories.length) return "removed";
  const editions = ({ segments }: Manifest) => segments.reduce((sum, one) => sum + one.symbols, 0);
  const listed = ({ segments }: Manifest) => segments.filter(({ words }) => words).length;
  if (editions(after) === editions(before) && listed(after) !== listed(before)) {
    if (after.segments.length === before.segments.length) return "words written";
  }
  const isSame = after.segments.length === before.segments.length;
  return isSame && editions(after) !== editions(before) ? "symbols named" : "published";
}
