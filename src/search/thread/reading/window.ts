/**
 * Loads windows. A window is about 1 MiB of a segment's text in kernel memory. It consists of whole blobs. Every byte
 * has its original distance from the start of the window, but only requested pages are loaded. Threads claim windows,
 * and a search checks for time-out and abort between windows.
 */

import { emptyBitset, hasBit, setBit, wordsFor, type Bitset } from "../../../base/bitset.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { FIRST_MEMORY_SEGMENT } from "../../../store/format/format.ts";
import { unlessCorrupt } from "../../../store/format/sealed.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import {
  SLOT_BYTES,
  type CachedWindow,
  type TextCache,
  type TextWindow,
} from "../../../store/segments/text-cache.ts";

/** The largest value in `tails`. */
const MOST_TAIL = 2 ** 16 - 1;
/**
 * The part of a window from which on all of it is read at once. In one piece, a window of 1 MiB is read from a file in 75
 * µs, as fast as 40 separate pages.
 */
const WHOLE_PART = 1 / 4;
/** How many bytes are kept free before the text, for SIMD and for the byte before a match. */
const MARGIN = 64;

/**
 * Returns the first blob of each window, then the number of blobs. There is at least one window, for files without
 * content.
 */
export function windowsOf(reader: SegmentReader): Uint32Array {
  const { blobStarts, header } = reader;
  const starts = [0];
  for (let blob = 1; blob < header.blobs; blob++)
    if (blobStarts[blob + 1]! - blobStarts[starts.at(-1)!]! > SLOT_BYTES) starts.push(blob);
  return Uint32Array.from([...starts, header.blobs]);
}

/** Says which pages of a window were loaded. */
interface PageMarks {
  readonly loaded: Bitset;
  /** How many bytes of a page were loaded together with the previous page. Bytes beyond MOST_TAIL are loaded again. */
  readonly tails: Uint16Array;
}

const newMarks = (pages: number): PageMarks => ({
  loaded: emptyBitset(pages),
  tails: new Uint16Array(pages),
});

/** The memory that windows use one after another. REQUIRES: a window is not used after the next one was opened. */
export class WindowMemory {
  readonly kernel: Kernel;
  #at = 0;
  #length = 0;
  #marks = newMarks(512);

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /** Returns the address of `length` free bytes for text. */
  room(length: number): number {
    if (length + 2 * MARGIN > this.#length) {
      this.#length = Math.max(2 * SLOT_BYTES, Math.ceil(1.5 * length)) + 2 * MARGIN;
      this.#at = this.kernel.reserve(this.#length);
    }
    return this.#at + MARGIN;
  }

  /** Returns empty marks for so many pages. */
  marks(pages: number): PageMarks {
    if (pages > this.#marks.tails.length) this.#marks = newMarks(2 * pages);
    const { loaded, tails } = this.#marks;
    loaded.fill(0, 0, wordsFor(pages));
    tails.fill(0, 0, pages);
    return this.#marks;
  }
}

/**
 * What a window may do with the text cache. With "find", it may only use text that is already cached. With "add", it
 * may also be added to the cache if there is room. With "replace", other windows may be evicted to make room for it.
 */
export type Caching = "find" | "add" | "replace";

export interface WindowOptions {
  readonly snapshot: Snapshot;
  readonly memory: WindowMemory;
  readonly textCache: TextCache | undefined;
  /** Default "find". */
  readonly caching?: Caching | undefined;
  /** How many bytes will probably be loaded. Default 0. */
  readonly expectedBytes?: number;
}

export class Window {
  readonly reader: SegmentReader;
  readonly firstBlob: number;
  readonly endBlob: number;
  /** The bytes of text that were loaded. */
  bytesLoaded = 0;
  readonly #snapshot: Snapshot;
  readonly #kernel: Kernel;
  /** Where to count what is read, if the window may be cached later. */
  readonly #cache: TextCache | undefined;
  readonly #place: TextWindow;
  /** Whether all text is in memory already. */
  readonly #isWhole: boolean;
  /** The address that offset 0 of the text would have. */
  readonly #origin: number;
  readonly #firstPage: number;
  readonly #marks: PageMarks;

  /** Opens a window of the blobs [firstBlob, endBlob). */
  constructor(
    reader: SegmentReader,
    [firstBlob, endBlob]: readonly [number, number],
    { snapshot, memory, textCache, caching = "find", expectedBytes = 0 }: WindowOptions,
  ) {
    this.reader = reader;
    this.firstBlob = firstBlob;
    this.endBlob = endBlob;
    this.#snapshot = snapshot;
    this.#kernel = memory.kernel;
    const from = reader.blobStarts[firstBlob]!;
    const bytes = reader.blobStarts[endBlob]! - from;
    this.#place = { content: reader.header.content, firstBlob, endBlob, bytes };
    // segments in memory are not cached
    const cache = reader.segment < FIRST_MEMORY_SEGMENT ? textCache : undefined;
    const cached = cache && (cache.find(this.#place) ?? this.#addTo(cache, caching));
    this.#cache = cached || caching === "find" ? undefined : cache;
    this.#origin = cached
      ? cached.address - reader.blobStarts[cached.firstBlob]!
      : memory.room(bytes) - from;
    const isWorthIt = expectedBytes > 0 && expectedBytes >= WHOLE_PART * bytes;
    this.#isWhole = cached !== undefined || (isWorthIt && this.#readWhole(from, bytes));
    this.#firstPage = reader.firstPages[firstBlob]!;
    this.#marks = memory.marks(reader.firstPages[endBlob]! - this.#firstPage);
  }

  /** Returns the address of the blob's text, even if the text is not loaded. */
  address(blob: number): number {
    return this.#origin + this.reader.blobStarts[blob]!;
  }

  /** The kernel's memory, in which the addresses are. Do not keep a reference to it across a reservation. */
  get bytes(): Uint8Array {
    return this.#kernel.bytes;
  }

  length(blob: number): number {
    return this.reader.blobStarts[blob + 1]! - this.reader.blobStarts[blob]!;
  }

  /**
   * Loads pages [first, end) of a blob, the byte before them and `beyond` bytes after them, if the blob has these.
   * Loaded pages are not read again, because the terms of a query request mostly the same pages.
   */
  load(blob: number, first: number, end: number, beyond: number): void {
    const { blobStarts, firstPages, pageBytes } = this.reader;
    const [from, to] = [blobStarts[blob]!, blobStarts[blob + 1]!];
    const start = from + (first - firstPages[blob]!) * pageBytes;
    const stop = Math.min(to, from + (end - firstPages[blob]!) * pageBytes);
    // in one piece if possible, because each piece reads its blocks again
    const isLeadMissing = first > firstPages[blob]! && !this.holds(first - 1) && !this.holds(first);
    let missing = isLeadMissing ? start - 1 : start;
    for (let page = first; page < end; page++) {
      const at = start + (page - first) * pageBytes;
      if (!this.holds(page)) setBit(this.#marks.loaded, page - this.#firstPage);
      else {
        this.#copy(missing, at);
        missing = Math.min(stop, at + pageBytes);
      }
    }
    if (stop === to || this.holds(end)) return this.#copy(missing, stop);
    const { tails } = this.#marks;
    const tail = end - this.#firstPage;
    // a page has a tail only if the previous page is loaded, so nothing else is missing then
    const next = missing === stop ? stop + tails[tail]! : missing;
    const limit = Math.min(to, stop + beyond);
    this.#copy(next, limit);
    tails[tail] = Math.max(tails[tail]!, Math.min(limit - stop, MOST_TAIL));
  }

  /** Loads bytes [from, to) of a blob, given as addresses, without the rest of their pages. */
  loadBytes(from: number, to: number): void {
    this.#copy(from - this.#origin, to - this.#origin);
  }

  /** Whether a page of the window's blobs was loaded. */
  holds(page: number): boolean {
    return hasBit(this.#marks.loaded, page - this.#firstPage);
  }

  /** Copies bytes into the window, unless they are there. They count as read, whatever their source. */
  #copy(from: number, to: number): void {
    if (from >= to) return;
    if (!this.#isWhole) this.#read(from, to, this.#origin + from);
    this.#cache?.addRead(this.#place, to - from, this.reader.header.blobs);
    this.bytesLoaded += to - from;
  }

  /** Reads all text, if it is in an open file. Returns false if some of it is damaged, which perhaps nobody needs. */
  #readWhole(from: number, bytes: number): boolean {
    if (!this.#snapshot.hasOpenText?.(this.#place.content)) return false;
    const read = () => (this.#read(from, from + bytes, this.#origin + from), true);
    return unlessCorrupt(read) ?? false;
  }

  /** Adds the window to the cache if it was read often enough. Returns undefined if some of its text is damaged. */
  #addTo(cache: TextCache, caching: Caching): CachedWindow | undefined {
    if (caching === "find") return undefined;
    const { blobStarts } = this.reader;
    const [from, to] = [blobStarts[this.firstBlob]!, blobStarts[this.endBlob]!];
    // perhaps the search does not need the part that is damaged
    return unlessCorrupt(() =>
      cache.keep(this.#place, caching === "replace", (at) => this.#read(from, to, at)),
    );
  }

  #read(from: number, to: number, at: number): void {
    this.reader.copyText(this.#snapshot, from, to, this.#kernel.bytes, at);
  }
}
