/**
 * Reads the definitions of a segment for one search. Each blob's definitions are read into the same columns. The
 * bytes read count as content.
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
 * The maximum number of bytes of a name that are shown. Each range within a name shows the name, so for a name as long
 * as its file, an answer would have quadratic size.
 */
const MOST_SHOWN = 256;

/** The maximum nesting depth of names. Names are hardly ever nested. */
const MOST_NESTED = 4;

export class SegmentSymbols {
  /** The bytes of symbol tables that were read. */
  bytesLoaded = 0;
  readonly #reader: SymbolsReader;
  readonly #segment: SegmentReader;
  readonly #snapshot: Snapshot;
  /** The definitions of the last blob, created when needed. Most searches do not need them for most segments. */
  #list: SymbolList | undefined;
  #blob = -1;
  /** The blobs whose definitions were counted. Each counts once, however often and in whatever order it is read. */
  #counted: Bitset | undefined;

  constructor(reader: SymbolsReader, segment: SegmentReader, snapshot: Snapshot) {
    this.#reader = reader;
    this.#segment = segment;
    this.#snapshot = snapshot;
  }

  /** The posting lists of the grams in names. Undefined if there are none. */
  get names(): PostingsReader | undefined {
    return this.#reader.names;
  }

  has(blob: number): boolean {
    return this.#reader.has(blob);
  }

  /** Returns the blobs whose symbols are not known, or undefined if all are known. */
  unknownBlobs(): Bitset | undefined {
    return this.#reader.unknownBlobs();
  }

  /** Returns the blobs that have definitions. The caller must not change this set, because all searches share it. */
  blobs(): Bitset {
    return this.#reader.blobsWithDefinitions;
  }

  /** Returns a blob's stored definitions. They are valid until the next read. */
  run(blob: number): Uint8Array {
    const run = this.#reader.run(this.#snapshot, blob);
    this.#count(blob, run.length);
    return run;
  }

  // counts in any order: the order of blobs depends on hidden repositories, too, and must not change the counter
  #count(blob: number, bytes: number): void {
    const counted = (this.#counted ??= emptyBitset(this.#segment.header.blobs));
    if (!hasBit(counted, blob)) this.bytesLoaded += bytes;
    setBit(counted, blob);
  }

  /** Returns the definitions of a blob, valid until the next call. */
  of(blob: number): SymbolList {
    const list = (this.#list ??= newSymbolList());
    if (this.#blob === blob) return list;
    this.#blob = -1; // a damaged run would leave a partial list behind
    const { blobStarts } = this.#segment;
    const textBytes = blobStarts[blob + 1]! - blobStarts[blob]!;
    const bytes = this.#reader.read(this.#snapshot, blob, textBytes, list);
    this.#count(blob, bytes);
    this.#blob = blob;
    return list;
  }

  /** Returns a definition of a blob. REQUIRES: `row` comes from of(blob). */
  symbol(blob: number, row: number, text: Uint8Array): ResultSymbol {
    return show(this.of(blob).rows, row, text);
  }

  /** Returns the definition whose name contains the range. If names are nested, returns the innermost. */
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

/** Returns the shown part of a long name, ended by an ellipsis. */
function beginning(text: Uint8Array, start: number): string {
  let end = start + MOST_SHOWN;
  while (end > start && (text[end]! & 0xc0) === 0x80) end--; // not within a character
  return `${textOf(text, start, end)}…`;
}

/** Returns the last row that starts at or before `place`, or -1. */
const lastStart = (rows: Int32Array, count: number, place: number): number =>
  firstIndex(0, count, (row) => rows[row * SYMBOL_ROW]! > place) - 1;
