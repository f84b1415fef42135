/**
 * The definitions of one segment as one search reads them: a blob's at a time, into the same columns.
 * What is read counts as content.
 */

import { firstIndex } from "../../../base/binary-search.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { emptyBitset, hasBit, setBit, type Bitset } from "../../../base/bitset.ts";
import type { PostingsReader } from "../../../store/segments/postings.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { SYMBOL_KINDS } from "../../../store/symbols/symbol-kinds.ts";
import { newSymbolList, SYMBOL_ROW, type SymbolList } from "../../../store/symbols/symbol-run.ts";
import type { SymbolsReader } from "../../../store/symbols/symbols.ts";
import type { ResultSymbol } from "../../messages/response.ts";

/**
 * Bytes of a name that are shown. Each range within a name shows it: of a name as long as its file, an answer
 * would be the square of the file.
 */
const MOST_SHOWN = 256;

/** Names hardly ever lie in each other, and never deeper. */
const MOST_NESTED = 4;

export class SegmentSymbols {
  /** Of symbol tables. */
  bytesLoaded = 0;
  readonly #reader: SymbolsReader;
  readonly #segment: SegmentReader;
  readonly #snapshot: Snapshot;
  /** Made when it is needed: most searches of most segments never do. */
  #list: SymbolList | undefined;
  #blob = -1;
  /** Blobs whose runs were counted: each counts once, in whatever order and however often it is looked at. */
  #counted: Bitset | undefined;

  constructor(reader: SymbolsReader, segment: SegmentReader, snapshot: Snapshot) {
    this.#reader = reader;
    this.#segment = segment;
    this.#snapshot = snapshot;
  }

  /** Pages by the grams of the names in them; undefined: there are no such lists. */
  get names(): PostingsReader | undefined {
    return this.#reader.names;
  }

  has(blob: number): boolean {
    return this.#reader.has(blob);
  }

  /** Blobs whose symbols are not known; undefined: there are none. */
  unknownBlobs(): Bitset | undefined {
    return this.#reader.unknownBlobs();
  }

  /** Blobs that have definitions. Borrowed: it is the same set for every search. */
  blobs(): Bitset {
    return this.#reader.blobsWithDefinitions;
  }

  /** A blob's definitions as they are stored. Borrowed until the next read. */
  run(blob: number): Uint8Array {
    const run = this.#reader.run(this.#snapshot, blob);
    this.#count(blob, run.length);
    return run;
  }

  // the order of blobs is that in which they came, those of hidden repositories among them
  #count(blob: number, bytes: number): void {
    const counted = (this.#counted ??= emptyBitset(this.#segment.header.blobs));
    if (!hasBit(counted, blob)) this.bytesLoaded += bytes;
    setBit(counted, blob);
  }

  /** REQUIRES: used before the next call. */
  of(blob: number): SymbolList {
    const list = (this.#list ??= newSymbolList());
    if (this.#blob === blob) return list;
    this.#blob = -1; // a damaged run leaves half a list
    const { blobStarts } = this.#segment;
    const textBytes = blobStarts[blob + 1]! - blobStarts[blob]!;
    const bytes = this.#reader.read(this.#snapshot, blob, textBytes, list);
    this.#count(blob, bytes);
    this.#blob = blob;
    return list;
  }

  /** The definition whose name holds the range, the innermost if names lie in each other. */
  at(
    blob: number,
    [from, to]: readonly [number, number],
    text: Uint8Array,
  ): ResultSymbol | undefined {
    const { count, rows } = this.of(blob);
    const last = lastStart(rows, count, from);
    for (let row = last; row >= 0 && row > last - MOST_NESTED; row--)
      if (to <= rows[row * SYMBOL_ROW + 1]!) return show(rows, row, text);
    return undefined;
  }
}

function show(rows: Int32Array, row: number, text: Uint8Array): ResultSymbol {
  const parent = rows[row * SYMBOL_ROW + 3]!;
  const name = named(rows, row, text);
  return parent < 0 ? name : { ...name, parent: named(rows, parent, text) };
}

function named(
  rows: Int32Array,
  row: number,
  text: Uint8Array,
): Required<Pick<ResultSymbol, "symbol" | "kind">> {
  const at = row * SYMBOL_ROW;
  const [start, end] = [rows[at]!, rows[at + 1]!];
  return {
    symbol: end - start > MOST_SHOWN ? beginning(text, start) : textOf(text, start, end),
    kind: SYMBOL_KINDS[rows[at + 2]!]!,
  };
}

const textOf = (text: Uint8Array, start: number, end: number): string =>
  Buffer.from(text.subarray(start, end)).toString();

/** Of a long name, ended by an ellipsis. */
function beginning(text: Uint8Array, start: number): string {
  let end = start + MOST_SHOWN;
  while (end > start && (text[end]! & 0xc0) === 0x80) end--; // no half of a character
  return `${textOf(text, start, end)}…`;
}

/** The last row that starts at `place` or before, or -1. */
const lastStart = (rows: Int32Array, count: number, place: number): number =>
  firstIndex(0, count, (row) => rows[row * SYMBOL_ROW]! > place) - 1;
