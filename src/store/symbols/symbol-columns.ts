/**
 * What is told of the symbols of a stretch of a segment's blobs, beside their runs: a segment's
 * symbols are found in ranges, each by one thread, and joined when all are done.
 *
 * A range that is done leaves a record in the part RANGES, in the transaction of its last blocks, until
 * the edition is published: so a process that is killed loses the ranges that its threads were at,
 * and the next run goes on with the others.
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
  /** Linguist's name. */
  readonly language: string;
  /** Of the grammar and its queries; "" where there is none. */
  readonly version: string;
  readonly outcome: "symbols" | "none" | "gave-up";
}

/** What is told of a stretch of a segment's blobs. */
export interface SymbolColumns {
  readonly firstBlob: number;
  /** 0, or 1 + position in `origins`. */
  readonly states: Uint16Array;
  readonly lengths: Uint32Array;
  /** The first blob of each block. */
  readonly blocks: Uint32Array;
  readonly origins: readonly Origin[];
  readonly symbols: number;
}

/** In an edition of the symbols, the number of the block that begins with the blob. */
export const blockNumber = (blob: number): number => 2 + blob;

/** The stretches of a whole segment as one. REQUIRES: without gaps. */
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

/** The ranges that are done of an edition that is not published, in their order. What is damaged is not done. */
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

/** With unknown blobs between the stretches, which are in order, and behind them. */
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

/** The keys of an edition that is being made but for those of ranges that are done. */
export function keysBeside(
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

/** Once the edition is published its ranges are of no use. */
export function removeRanges(writer: Writer, { segment, edition }: EditionOf): void {
  const keys = [...writer.keys(editionRange(segment, PART.RANGES, edition))];
  for (const key of keys) writer.remove(key);
}
