/** Reads the definitions of a segment for one search. The bytes that are read for this count as loaded content. */

import { firstIndex } from "../../../base/binary-search.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { emptyBitset, hasBit, setBit, type Bitset } from "../../../base/bitset.ts";
import type { PostingsReader } from "../../../store/segments/postings.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { SYMBOL_KINDS } from "../../../store/symbols/symbol-kinds.ts";
import { SYMBOL_ROW, type SymbolList } from "../../../store/symbols/symbol-run.ts";
import type { SymbolsReader } from "../../../store/symbols/symbols.ts";
import type { ResultSymbol } from "../../messages/response.ts";

/**
 * The maximum number of bytes of a definition's name that an answer contains. The answer repeats the name for each
 * range within the name. Without a limit, a name as long as its file would give the answer a quadratic size.
 */
export const MOST_SHOWN = 256;

/** The maximum number of definitions that at() tries for a range. Names are hardly ever nested within each other. */
const MOST_NESTED = 4;

export class SegmentSymbols {
  /** The number of bytes of stored definitions that were read. */
  bytesLoaded = 0;
  readonly #reader: SymbolsReader;
  readonly #segment: SegmentReader;
  readonly #snapshot: Snapshot;
  /** The first blob that was read, or -1. */
  #first = -1;
  /**
   * The blobs whose bytes are included in `bytesLoaded`, except #first. Each blob is counted once, however often it is
   * read. Created for the second blob, because only one blob is read to show a file.
   */
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

  /** Where the run of each blob begins among all runs, followed by the end of the last run. */
  get runStarts(): Uint32Array {
    return this.#reader.runStarts;
  }

  /** The length of the longest run in bytes, or more. */
  get mostRunBytes(): number {
    return this.#reader.mostRunBytes;
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

  /** Returns the stored bytes of a blob's definitions. They are valid until the next call. */
  run(blob: number): Uint8Array {
    const run = this.#reader.run(this.#snapshot, blob);
    this.#count(blob);
    return run;
  }

  // Counts a blob only once, even if it is read again. Whether it is read again may depend on repositories in the same
  // segment that the viewer may not see, and the counter must reveal nothing about them.
  #count(blob: number): void {
    if (blob === this.#first) return;
    if (this.#first < 0) this.#first = blob;
    else {
      this.#counted ??= emptyBitset(this.#segment.header.blobs);
      if (hasBit(this.#counted, blob)) return;
      setBit(this.#counted, blob);
    }
    this.bytesLoaded += this.#reader.runBytes(blob);
  }

  /** Returns the definitions of a blob. The list is valid until the next call for another blob. */
  of(blob: number): SymbolList {
    const { blobStarts } = this.#segment;
    const textBytes = blobStarts[blob + 1]! - blobStarts[blob]!;
    const list = this.#reader.definitions(this.#snapshot, blob, textBytes);
    this.#count(blob);
    return list;
  }

  /**
   * Returns a definition of a blob, as a response contains it. `text` is the text of the blob.
   * REQUIRES: `row` comes from of(blob).
   */
  symbol(blob: number, row: number, text: Uint8Array): ResultSymbol {
    return resultSymbol(this.of(blob).rows, row, text);
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
      if (to <= rows[row * SYMBOL_ROW + 1]!) return resultSymbol(rows, row, text);
    return undefined;
  }
}

function resultSymbol(rows: Int32Array, row: number, text: Uint8Array): ResultSymbol {
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
    symbol: shownName(text, start, end),
    kind: SYMBOL_KINDS[rows[at + 2]!]!,
  };
}

/** Returns the name at [start, end), or its beginning if it is too long to be shown. */
export const shownName = (text: Uint8Array, start: number, end: number): string =>
  end - start > MOST_SHOWN ? beginning(text, start) : textOf(text, start, end);

const textOf = (text: Uint8Array, start: number, end: number): string =>
  Buffer.from(text.subarray(start, end)).toString();

/** Returns the beginning of a name that is too long to be shown, followed by an ellipsis. */
function beginning(text: Uint8Array, start: number): string {
  let end = start + MOST_SHOWN;
  while (end > start && (text[end]! & 0xc0) === 0x80) end--; // do not split a character
  return `${textOf(text, start, end)}…`;
}

/** Returns the last row whose name starts at or before `place`, or -1 if there is none. */
const lastStart = (rows: Int32Array, count: number, place: number): number =>
  firstIndex(0, count, (row) => rows[row * SYMBOL_ROW]! > place) - 1;
