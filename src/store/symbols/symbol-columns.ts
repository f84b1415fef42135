/**
 * Defines the columns that describe the symbols of a range of blobs. Threads extract the symbols of a segment range by
 * range, and the columns of all ranges are joined at the end.
 *
 * Until the edition is published, each finished range has a record in part RANGES, which contains its columns. One
 * transaction writes this record and the last blocks of the range. So if a process is killed, only the ranges that its
 * threads were working on are lost. The next run reuses the finished ranges.
 *
 *     number                 holds
 *     edition | first blob   the range's columns, MessagePack
 */

import { pack } from "msgpackr";
import { bytesOf, wordsOf } from "../../base/growable.ts";
import { editionKey, editionRange, numberInEdition } from "./edition-key.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import { PART, type Part } from "../format/format.ts";
import { corrupt, isCorrupt, isCount, unpackAs } from "../format/sealed.ts";

export interface Origin {
  /** The language's name in GitHub Linguist. */
  readonly language: string;
  /** The version of the grammar and its queries; "" if the language has no grammar. */
  readonly version: string;
  readonly outcome: "symbols" | "none" | "gave-up";
}

/** Describes the symbols of consecutive blobs of a segment. */
export interface SymbolColumns {
  readonly firstBlob: number;
  /** For each blob, 0 if its symbols are unknown, and otherwise 1 + the index in `origins` of their origin. */
  readonly states: Uint16Array;
  readonly lengths: Uint32Array;
  /** The first blob of each block. */
  readonly blocks: Uint32Array;
  readonly origins: readonly Origin[];
  readonly symbols: number;
}

/** Returns the number in the key of the block whose first blob is `blob`, without the edition. */
export const blockNumber = (blob: number): number => 2 + blob;

/** Joins the columns of all ranges of a segment. REQUIRES: there are no gaps between the ranges. */
export function joinColumns(parts: readonly SymbolColumns[]): SymbolColumns {
  const stretches = parts.toSorted((a, b) => a.firstBlob - b.firstBlob);
  const origins: Origin[] = [];
  const numbers = new Map<string, number>();
  const states = new Uint16Array(stretches.reduce((sum, one) => sum + one.states.length, 0));
  let at = 0;
  for (const stretch of stretches) {
    const renumbered = stretch.origins.map((origin) => {
      const key = JSON.stringify([origin.language, origin.version, origin.outcome]);
      if (!numbers.has(key)) numbers.set(key, origins.push(origin));
      return numbers.get(key)!;
    });
    for (const state of stretch.states) states[at++] = state === 0 ? 0 : renumbered[state - 1]!;
  }
  return {
    firstBlob: 0,
    states,
    lengths: joinWords(stretches.map(({ lengths }) => lengths)),
    blocks: joinWords(stretches.map(({ blocks }) => blocks)),
    origins,
    symbols: stretches.reduce((sum, { symbols }) => sum + symbols, 0),
  };
}

function joinWords(parts: readonly Uint32Array[]): Uint32Array {
  const joined = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export interface EditionOf {
  readonly segment: number;
  readonly edition: number;
}

export function putRange(
  writer: Writer,
  { segment, edition }: EditionOf,
  { firstBlob, states, lengths, blocks, origins, symbols }: SymbolColumns,
): void {
  const [s, l, b] = [states, lengths, blocks].map((column) => Buffer.from(bytesOf(column)));
  const record = { states: s, lengths: l, blocks: b, origins, symbols };
  writer.put(editionKey(segment, PART.RANGES, edition, firstBlob), pack(record));
}

/**
 * Reads the finished ranges of an unpublished edition, in the order of their blobs. Returns an empty list if any of
 * them is damaged.
 */
export function readRanges(snapshot: Snapshot, of: EditionOf): SymbolColumns[] {
  try {
    return readAll(snapshot, of);
  } catch (error) {
    if (isCorrupt(error)) return [];
    throw error;
  }
}

function readAll(snapshot: Snapshot, { segment, edition }: EditionOf): SymbolColumns[] {
  const what = `a range of symbols of segment ${segment}`;
  const keys = [...snapshot.keys(editionRange(segment, PART.RANGES, edition))];
  return keys.map((key) => {
    const record = unpackAs<RangeRecord>(snapshot.get(key, what)!, what, isRangeRecord);
    const { states, lengths, blocks, origins, symbols } = record;
    const copy = Uint8Array.from(states);
    const columns = {
      firstBlob: numberInEdition(key),
      states: new Uint16Array(copy.buffer, 0, copy.length >>> 1),
      lengths: wordsOf(lengths),
      blocks: wordsOf(blocks),
      origins,
      symbols,
    };
    if (columns.lengths.length !== columns.states.length) throw corrupt(what);
    return columns;
  });
}

/**
 * Adds columns for the blobs that are in no range. The symbols of these blobs are unknown. REQUIRES: `parts` is in the
 * order of the blobs.
 */
export function withGaps(parts: readonly SymbolColumns[], blobs: number): SymbolColumns[] {
  const gaps: SymbolColumns[] = [];
  let from = 0;
  for (const { firstBlob, states } of [...parts, { firstBlob: blobs, states: [] }]) {
    if (firstBlob > from) gaps.push(unknownColumns(from, firstBlob - from));
    from = firstBlob + states.length;
  }
  return [...parts, ...gaps];
}

const unknownColumns = (firstBlob: number, blobs: number): SymbolColumns => ({
  firstBlob,
  states: new Uint16Array(blobs),
  lengths: new Uint32Array(blobs),
  blocks: new Uint32Array(),
  origins: [],
  symbols: 0,
});

interface RangeRecord {
  readonly states: Uint8Array;
  readonly lengths: Uint8Array;
  readonly blocks: Uint8Array;
  readonly origins: readonly Origin[];
  readonly symbols: number;
}

const isRangeRecord = (record: Readonly<Record<string, unknown>>): boolean =>
  [record["states"], record["lengths"], record["blocks"]].every(
    (one) => one instanceof Uint8Array,
  ) &&
  Array.isArray(record["origins"]) &&
  isCount(record["symbols"]);

/** Returns the keys of an unpublished edition, except those that belong to the finished ranges. */
export function unfinishedKeys(
  snapshot: Snapshot,
  { segment, edition }: EditionOf,
  done: readonly SymbolColumns[],
): Buffer[] {
  const isDone = (blob: number) =>
    done.some(({ firstBlob, states }) => blob >= firstBlob && blob < firstBlob + states.length);
  const keysOf = (part: Part) => [...snapshot.keys(editionRange(segment, part, edition))];
  return [
    ...keysOf(PART.SYMBOLS).filter((key) => !isDone(numberInEdition(key) - blockNumber(0))),
    ...keysOf(PART.NAMES),
    ...keysOf(PART.RANGES).filter((key) => !isDone(numberInEdition(key))),
  ];
}

/** Removes the records of the ranges of an edition. These are not needed once the edition is published. */
export function removeRanges(writer: Writer, { segment, edition }: EditionOf): void {
  const keys = [...writer.keys(editionRange(segment, PART.RANGES, edition))];
  for (const key of keys) writer.remove(key);
}
