/**
 * Loads windows. A window is about 1 MiB of a segment's text in kernel memory. It consists of whole blobs. Every byte
 * has its original distance from the start of the window, but only the requested pages are loaded. Threads claim one
 * window at a time, and check between windows whether the search was aborted or has timed out.
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
 * If at least this share of a window will be needed, the whole window is read at once. Reading a window of 1 MiB that is
 * not in the processor's cache takes about 0.2 ms, as long as reading 80 of its 128 pages separately. With a quarter
 * instead of a half, `return -EINVAL` takes a sixth longer.
 */
const WHOLE_PART = 1 / 2;
/**
 * The number of bytes that are kept free before and after the text. SIMD instructions read beyond the end of the text,
 * and the byte before a match is read, too.
 */
const MARGIN = 64;

/**
 * Returns the first blob of each window, then the number of blobs. There is at least one window, because files without
 * content are processed with the first window.
 */
export function windowsOf(reader: SegmentReader): Uint32Array {
  const { blobStarts, header } = reader;
  const starts = [0];
  for (let blob = 1; blob < header.blobs; blob++)
    if (blobStarts[blob + 1]! - blobStarts[starts.at(-1)!]! > SLOT_BYTES) starts.push(blob);
  return Uint32Array.from([...starts, header.blobs]);
}

/** Records which pages of a window were loaded. */
interface PageMarks {
  readonly loaded: Bitset;
  /**
   * The number of bytes at the start of each page that were loaded together with the previous page. Bytes beyond
   * MOST_TAIL are loaded again.
   */
  readonly tails: Uint16Array;
}

const newMarks = (pages: number): PageMarks => ({
  loaded: emptyBitset(pages),
  tails: new Uint16Array(pages),
});

/** The memory that windows use one after another. REQUIRES: a window is not used after the next window was opened. */
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

  /** Returns marks for `pages` pages, none of which counts as loaded. The marks are valid until the next call. */
  marks(pages: number): PageMarks {
    if (pages > this.#marks.tails.length) this.#marks = newMarks(2 * pages);
    const { loaded, tails } = this.#marks;
    loaded.fill(0, 0, wordsFor(pages));
    tails.fill(0, 0, pages);
    return this.#marks;
  }
}

/**
 * What a window may do with the text cache. With "find", the window may only use text that is already cached. With
 * "add", the window may also be added to the cache if there is room. With "replace", other windows may be evicted from
 * the cache to make room.
 */
export type Caching = "find" | "add" | "replace";

export interface WindowOptions {
  readonly snapshot: Snapshot;
  readonly memory: WindowMemory;
  readonly textCache: TextCache | undefined;
  /** Default "find". */
  readonly caching?: Caching | undefined;
  /** The number of bytes that will probably be loaded. Default 0. */
  readonly expectedBytes?: number;
}

export class Window {
  readonly reader: SegmentReader;
  readonly firstBlob: number;
  readonly endBlob: number;
  /** The number of bytes of text that were loaded. */
  bytesLoaded = 0;
  readonly #snapshot: Snapshot;
  readonly #kernel: Kernel;
  /**
   * The cache that counts how much of the window is read, to decide whether to cache the window later. Undefined if the
   * window is already cached, or may not be cached.
   */
  readonly #cache: TextCache | undefined;
  readonly #place: TextWindow;
  /** Whether all text of the window is in memory already. */
  readonly #isWhole: boolean;
  /** The address that offset 0 of the segment's text would have if all text of the segment were loaded. */
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
    // the text of segments in memory is not cached
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

  /**
   * The kernel's memory, which the addresses refer to. Do not keep this array across a reservation of memory, which may
   * replace it.
   */
  get bytes(): Uint8Array {
    return this.#kernel.bytes;
  }

  length(blob: number): number {
    return this.reader.blobStarts[blob + 1]! - this.reader.blobStarts[blob]!;
  }

  /**
   * Loads pages [first, end) of a blob, the byte before them and `beyond` bytes after them, if the blob has these. Does
   * not read pages again that are already loaded, because the terms of a query mostly need the same pages.
   */
  load(blob: number, first: number, end: number, beyond: number): void {
    const { blobStarts, firstPages, pageBytes } = this.reader;
    const [from, to] = [blobStarts[blob]!, blobStarts[blob + 1]!];
    const start = from + (first - firstPages[blob]!) * pageBytes;
    const stop = Math.min(to, from + (end - firstPages[blob]!) * pageBytes);
    // the byte before the pages is read together with them if possible, because a separate read would read the same
    // block twice
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
    // page `end` has a tail only if the page before it was already loaded, so the pages [first, end) are complete then
    const next = missing === stop ? stop + tails[tail]! : missing;
    const limit = Math.min(to, stop + beyond);
    this.#copy(next, limit);
    tails[tail] = Math.max(tails[tail]!, Math.min(limit - stop, MOST_TAIL));
  }

  /** Loads the bytes at the addresses [from, to), which belong to one blob. Does not load the rest of their pages. */
  loadBytes(from: number, to: number): void {
    this.#copy(from - this.#origin, to - this.#origin);
  }

  /** Returns true if a page of the window's blobs was loaded. */
  holds(page: number): boolean {
    return hasBit(this.#marks.loaded, page - this.#firstPage);
  }

  /**
   * Reads the bytes [from, to) of the segment's text, unless the whole window is in memory already. The bytes count as
   * loaded in both cases.
   */
  #copy(from: number, to: number): void {
    if (from >= to) return;
    if (!this.#isWhole) this.#read(from, to, this.#origin + from);
    this.#cache?.addRead(this.#place, to - from, this.reader.header.blobs);
    this.bytesLoaded += to - from;
  }

  /**
   * Reads all text of the window, and returns true. Returns false if the text is not in an open file. Also returns
   * false if some of the text is damaged, because the search may not need the damaged part.
   */
  #readWhole(from: number, bytes: number): boolean {
    if (!this.#snapshot.hasOpenText?.(this.#place.content)) return false;
    const read = () => (this.#read(from, from + bytes, this.#origin + from), true);
    return unlessCorrupt(read) ?? false;
  }

  /**
   * Adds the window to the cache if it was read often enough. Returns undefined if the window was not added, or if some
   * of its text is damaged.
   */
  #addTo(cache: TextCache, caching: Caching): CachedWindow | undefined {
    if (caching === "find") return undefined;
    const { blobStarts } = this.reader;
    const [from, to] = [blobStarts[this.firstBlob]!, blobStarts[this.endBlob]!];
    // damage is ignored here, because the search may not need the damaged part
    return unlessCorrupt(() =>
      cache.keep(this.#place, caching === "replace", (at) => this.#read(from, to, at)),
    );
  }

  #read(from: number, to: number, at: number): void {
    this.reader.copyText(this.#snapshot, from, to, this.#kernel.bytes, at);
  }
}
