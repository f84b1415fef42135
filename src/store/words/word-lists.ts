/**
 * Writes and reads part WORDS of a segment: for each stem the blobs whose text has it, for find(). This part is written
 * after the segment was published. The manifest has the version of the stems with which a segment's lists were made, or
 * 0 if it has none. A run with other stems writes new lists under the keys of its version, and later runs remove the
 * old ones. The lists depend on nothing but the text of the blobs, so a merge copies them with the new numbers of the
 * blobs, and segments that share content share its lists.
 *
 *     number                     holds
 *     version | 0                header: MessagePack, see WordsHeader
 *     version | 1                the first stem of each block: its length (u8), then its bytes
 *     version | 2 + block        block: entries in ascending order of their stems
 *     version | 2^23 + number    a long list
 *
 * The highest byte of a number is the version. An entry is the number of bytes that its stem has in common with the
 * entry before (u8), the number of its other bytes (u8), these bytes, the length of the list (varint), and the list.
 * In the place of a list of more than MAX_INLINE bytes is the number of its long list (varint). Stems are sorted by
 * UTF-16 code units, as JavaScript sorts strings.
 *
 * A list has, for each blob, the gap to the next (a varint, counted from blob -1, at least 1) and the number of windows
 * (u8, at least 1, at most 255) of the blob that have the stem. A window is the lines of a blob up to the first line end
 * after 400 bytes. The windows are both the weight of the stem in the blob and, summed over the blobs that a viewer may
 * see, the frequency of the stem. For Linux 6.1, the lists take 3.4 % of the text.
 *
 * *Example.* Blob 0 is `parse a line`, and blob 2 is `parsed lines` 300 times. The stems are `lin` and `pars`. Both lists
 * are `01 01 02 0a` (blob 0 once; two blobs further, in ten windows). The block is `00 03 6c696e 04 01 01 02 0a 00 04
 * 70617273 04 01 01 02 0a`.
 */

import { pack } from "msgpackr";
import { firstIndex } from "../../base/binary-search.ts";
import { GrowableBytes } from "../../base/growable.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import { filling, PART, segmentKey } from "../format/format.ts";
import { corrupt, isCount, unpackAs } from "../format/sealed.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";

export interface WordsHeader {
  readonly blobs: number;
  readonly blocks: number;
  readonly longLists: number;
  readonly stems: number;
  /** The number of bytes of all values. */
  readonly bytes: number;
}

const VERSION_NUMBERS = 2 ** 24;
const FIRST_LONG = 2 ** 23;
const BLOCK_BYTES = filling(2);
const MAX_INLINE = 2048;
/** The number of values that one transaction writes. */
const TRANSACTION_VALUES = 128;

const wordsKey = (segment: number, version: number, number: number): Buffer =>
  segmentKey(segment, PART.WORDS, version * VERSION_NUMBERS + number);

/** Returns the range of the keys of all versions. */
export const allVersions = (segment: number): [start: Buffer, end: Buffer] => [
  segmentKey(segment, PART.WORDS),
  segmentKey(segment, PART.WORDS, 2 ** 32 - 1),
];

export interface WordsOf {
  readonly segment: number;
  readonly version: number;
}

/** Writes the lists of one segment, whose stems come in ascending order. */
export class WordListsWriter {
  readonly #target: SegmentTarget;
  readonly #version: number;
  #block = new GrowableBytes(BLOCK_BYTES);
  #firsts = new GrowableBytes();
  #previous = Buffer.alloc(0);
  #pending: (readonly [number: number, value: Uint8Array])[] = [];
  #blocks = 0;
  #longLists = 0;
  #stems = 0;
  #bytes = 0;

  constructor(target: SegmentTarget, version: number) {
    this.#target = target;
    this.#version = version;
  }

  /** Adds a copy of a list. REQUIRES: the stem is greater than the one before. */
  add(stem: string, list: Uint8Array): void {
    const bytes = Buffer.from(stem);
    const isLong = list.length > MAX_INLINE;
    if (isLong) this.#put(FIRST_LONG + this.#longLists, list.slice());
    const room = 2 + bytes.length + 10 + (isLong ? 0 : list.length);
    if (this.#block.length > 0 && this.#block.length + room > BLOCK_BYTES) this.#endBlock();
    if (this.#block.length === 0) {
      this.#firsts.pushByte(bytes.length);
      this.#firsts.push(bytes);
      this.#previous = Buffer.alloc(0);
    }
    const shared = sharedPrefix(this.#previous, bytes);
    this.#block.pushByte(shared);
    this.#block.pushByte(bytes.length - shared);
    this.#block.push(bytes.subarray(shared));
    pushVarint(this.#block, list.length);
    if (isLong) pushVarint(this.#block, this.#longLists++);
    else this.#block.push(list);
    this.#previous = bytes;
    this.#stems++;
  }

  /** Writes what is left, and the header. `publish` is called in the last transaction. */
  finish(blobs: number, publish?: (writer: Writer) => void): void {
    if (this.#block.length > 0) this.#endBlock();
    this.#put(1, this.#firsts.view.slice());
    const header: WordsHeader = {
      blobs,
      blocks: this.#blocks,
      longLists: this.#longLists,
      stems: this.#stems,
      bytes: this.#bytes,
    };
    this.#pending.push([0, pack(header)]);
    this.#flush(publish);
  }

  #endBlock(): void {
    this.#put(2 + this.#blocks++, this.#block.view.slice());
    this.#block = new GrowableBytes(BLOCK_BYTES);
  }

  #put(number: number, value: Uint8Array): void {
    this.#bytes += value.length;
    this.#pending.push([number, value]);
    if (this.#pending.length >= TRANSACTION_VALUES) this.#flush();
  }

  #flush(publish?: (writer: Writer) => void): void {
    const { segment } = this.#target;
    this.#target.write((writer) => {
      for (const [number, value] of this.#pending)
        writer.put(wordsKey(segment, this.#version, number), value);
      publish?.(writer);
    });
    this.#pending = [];
  }
}

function sharedPrefix(a: Uint8Array, b: Uint8Array): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
  return shared;
}

/** Appends a number as a varint. */
export function pushVarint(into: GrowableBytes, value: number): void {
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) into.pushByte((rest & 0x7f) | 0x80);
  into.pushByte(rest);
}

/** Reads the lists of one segment. It may be used with later snapshots, as the reader of a segment. */
export class WordLists {
  readonly segment: number;
  readonly version: number;
  readonly header: WordsHeader;
  readonly #firsts: readonly string[];

  constructor({ segment, version }: WordsOf, header: WordsHeader, firsts: readonly string[]) {
    this.segment = segment;
    this.version = version;
    this.header = header;
    this.#firsts = firsts;
  }

  /** Calls `visit` with the list of a stem, if any blob has the stem. A list is valid only during the call. */
  find(snapshot: Snapshot, stem: string, visit: (list: Uint8Array) => void): void {
    this.withPrefix(snapshot, stem, (each, list) => {
      if (each !== stem) return false;
      visit(list);
      return false;
    });
  }

  /**
   * Calls `visit` with each stem that begins with `prefix`, in ascending order, and its list, until `visit` returns
   * false. A list is valid only during the call.
   */
  withPrefix(
    snapshot: Snapshot,
    prefix: string,
    visit: (stem: string, list: Uint8Array) => boolean | void,
  ): void {
    const first = firstIndex(0, this.#firsts.length, (block) => this.#firsts[block]! > prefix) - 1;
    for (let block = Math.max(0, first); block < this.#firsts.length; block++)
      for (const [stem, list] of this.#entries(snapshot, block)) {
        if (stem < prefix) continue;
        if (!stem.startsWith(prefix) || visit(stem, list) === false) return;
      }
  }

  /** Yields all stems with their lists. A list is valid until the next read. */
  *all(snapshot: Snapshot): Generator<readonly [stem: string, list: Uint8Array]> {
    for (let block = 0; block < this.#firsts.length; block++) yield* this.#entries(snapshot, block);
  }

  *#entries(snapshot: Snapshot, block: number): Generator<readonly [string, Uint8Array]> {
    // copied, because a long list is read while the block is still needed
    const bytes = Buffer.from(this.#value(snapshot, 2 + block));
    const stem = Buffer.alloc(256);
    const broken = () => corrupt(`block ${block} of the words of segment ${this.segment}`);
    let at = 0;
    const varint = (): number => {
      for (let value = 0, shift = 0; shift < 35; shift += 7) {
        const byte = bytes[at++];
        if (byte === undefined) break;
        value += (byte & 0x7f) * 2 ** shift;
        if (byte < 0x80) return value;
      }
      throw broken();
    };
    let stemBytes = 0;
    while (at < bytes.length) {
      const [shared, rest] = [bytes[at]!, bytes[at + 1] ?? 0];
      if (shared > stemBytes || shared + rest > 255 || at + 2 + rest > bytes.length) throw broken();
      bytes.copy(stem, shared, at + 2, at + 2 + rest);
      stemBytes = shared + rest;
      at += 2 + rest;
      const length = varint();
      const text = stem.toString("utf8", 0, stemBytes);
      if (length > MAX_INLINE) {
        const list = this.#value(snapshot, FIRST_LONG + varint());
        if (list.length !== length) throw broken();
        yield [text, list];
      } else {
        if (at + length > bytes.length) throw broken();
        yield [text, bytes.subarray(at, at + length)];
        at += length;
      }
    }
  }

  #value(snapshot: Snapshot, number: number): Uint8Array {
    const what = `the words of segment ${this.segment}`;
    const value = snapshot.get(wordsKey(this.segment, this.version, number), what);
    if (!value) throw corrupt(what);
    return value;
  }
}

/** Opens the lists of a segment. Returns undefined if the segment has no lists of this version. */
export function openWords(
  snapshot: Snapshot,
  { segment, version }: WordsOf,
): WordLists | undefined {
  const what = `the words of segment ${segment}`;
  const value = snapshot.get(wordsKey(segment, version, 0), what);
  if (!value) return undefined;
  const header = unpackAs<WordsHeader>(value, what, ({ blobs, blocks, longLists, stems, bytes }) =>
    [blobs, blocks, longLists, stems, bytes].every(isCount),
  );
  const table = snapshot.get(wordsKey(segment, version, 1), what);
  if (!table) throw corrupt(what);
  const firsts: string[] = [];
  for (let at = 0; at < table.length;) {
    const end = at + 1 + table[at]!;
    firsts.push(Buffer.from(table.subarray(at + 1, end)).toString("utf8"));
    at = end;
  }
  if (firsts.length !== header.blocks) throw corrupt(what);
  return new WordLists({ segment, version }, header, firsts);
}
