/**
 * Loads windows. A window is about 1 MiB of a segment's text in kernel memory. It consists of whole blobs. Every byte
 * has its original distance from the start of the window, but only requested pages are loaded. Threads claim windows,
 * and a search checks for time-out and abort between windows.
 */

import { emptyBitset, hasBit, setBit, type Bitset } from "../../../base/bitset.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { firstIndex } from "../../../base/binary-search.ts";
import { FIRST_MEMORY_SEGMENT } from "../../../store/format/format.ts";
import { isCorrupt } from "../../../store/format/sealed.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { TextCache, type CachedPage } from "../../../store/segments/text-cache.ts";

const WINDOW_BYTES = 2 ** 20;
/** The largest value in #tails. */
const MOST_TAIL = 2 ** 16 - 1;
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
    if (blobStarts[blob]! - blobStarts[starts.at(-1)!]! >= WINDOW_BYTES) starts.push(blob);
  return Uint32Array.from([...starts, header.blobs]);
}

/** The kernel memory that windows use one after another, and the cached pages. */
export class WindowMemory {
  readonly kernel: Kernel;
  readonly cache: TextCache | undefined;
  #at = 0;
  #length = 0;

  constructor(kernel: Kernel, cache: TextCache | undefined) {
    this.kernel = kernel;
    this.cache = cache;
  }

  /** Returns the address of `length` free bytes for text. */
  room(length: number): number {
    if (length + 2 * MARGIN > this.#length) {
      this.#length = Math.max(2 * WINDOW_BYTES, Math.ceil(1.5 * length)) + 2 * MARGIN;
      this.#at = this.kernel.reserve(this.#length);
    }
    return this.#at + MARGIN;
  }
}

export class Window {
  readonly reader: SegmentReader;
  readonly firstBlob: number;
  readonly endBlob: number;
  /** The bytes of text that were loaded. */
  bytesLoaded = 0;
  readonly #snapshot: Snapshot;
  readonly #kernel: Kernel;
  readonly #cache: TextCache | undefined;
  /** The address that offset 0 of the text would have. */
  readonly #origin: number;
  readonly #firstPage: number;
  readonly #loaded: Bitset;
  /** How many bytes of a page were loaded together with the previous page. Bytes beyond MOST_TAIL are loaded again. */
  readonly #tails: Uint16Array;

  /** Opens a window. `isKept` says whether its pages may come from the cache and be added to it. */
  constructor(
    reader: SegmentReader,
    snapshot: Snapshot,
    memory: WindowMemory,
    firstBlob: number,
    endBlob: number,
    isKept = true,
  ) {
    this.reader = reader;
    this.firstBlob = firstBlob;
    this.endBlob = endBlob;
    this.#snapshot = snapshot;
    this.#kernel = memory.kernel;
    // segments in memory are not cached
    this.#cache = isKept && reader.segment < FIRST_MEMORY_SEGMENT ? memory.cache : undefined;
    const from = reader.blobStarts[firstBlob]!;
    this.#origin = memory.room(reader.blobStarts[endBlob]! - from) - from;
    this.#firstPage = reader.firstPages[firstBlob]!;
    const pages = reader.firstPages[endBlob]! - this.#firstPage;
    this.#loaded = emptyBitset(pages);
    this.#tails = new Uint16Array(pages);
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
      if (!this.holds(page)) setBit(this.#loaded, page - this.#firstPage);
      else {
        this.#copy(blob, missing, at);
        missing = Math.min(stop, at + pageBytes);
      }
    }
    if (stop === to || this.holds(end)) return this.#copy(blob, missing, stop);
    const tail = end - this.#firstPage;
    // a page has a tail only if the previous page is loaded, so nothing else is missing then
    const next = missing === stop ? stop + this.#tails[tail]! : missing;
    const limit = Math.min(to, stop + beyond);
    this.#copy(blob, next, limit);
    this.#tails[tail] = Math.max(this.#tails[tail]!, Math.min(limit - stop, MOST_TAIL));
  }

  /** Loads bytes [from, to) of a blob, given as addresses, without the rest of their pages. */
  loadBytes(from: number, to: number): void {
    const { blobStarts } = this.reader;
    const start = from - this.#origin;
    const next = firstIndex(this.firstBlob, this.endBlob, (blob) => blobStarts[blob + 1]! > start);
    this.#copy(next, start, to - this.#origin);
  }

  /** Whether a page of the window's blobs was loaded. */
  holds(page: number): boolean {
    return hasBit(this.#loaded, page - this.#firstPage);
  }

  /** Copies bytes into the window. They count as read, whatever their source. */
  #copy(blob: number, from: number, to: number): void {
    if (from >= to) return;
    if (this.#cache) this.#copyPages(this.#cache, blob, from, to);
    else this.#read(from, to);
    this.bytesLoaded += to - from;
  }

  /** Loads page by page, each from the cache, or from disk and then into the cache. */
  #copyPages(cache: TextCache, blob: number, from: number, to: number): void {
    for (let next = from; next < to;) {
      const page = this.#pageAt(blob, next);
      const [, limit] = TextCache.reach(page);
      const end = to <= limit ? to : page.end;
      if (!cache.read(page, [next, end], this.#kernel.bytes, this.#origin + next)) {
        if (!cache.wants(page) || !this.#keep(cache, page)) this.#read(next, end);
      }
      next = end;
    }
  }

  /** Returns the page with the byte after `place`, or the blob's last page. */
  #pageAt(blob: number, place: number): CachedPage {
    const { header, blobStarts, firstPages, pageBytes } = this.reader;
    const [blobStart, blobEnd] = [blobStarts[blob]!, blobStarts[blob + 1]!];
    const number = Math.floor((Math.min(place + 1, blobEnd - 1) - blobStart) / pageBytes);
    const start = blobStart + number * pageBytes;
    const [page, end] = [firstPages[blob]! + number, start + pageBytes];
    return { segment: header.content, page, start, end, blobStart, blobEnd };
  }

  /**
   * Reads a page and the neighbouring text that is cached with it. Returns false if any of that is damaged, even a
   * part that was not requested.
   */
  #keep(cache: TextCache, page: CachedPage): boolean {
    const [from, to] = TextCache.reach(page);
    try {
      this.#read(from, to);
    } catch (error) {
      if (isCorrupt(error)) return false;
      throw error;
    }
    cache.keep(page, this.#kernel.bytes, this.#origin + from);
    return true;
  }

  #read(from: number, to: number): void {
    this.reader.copyText(this.#snapshot, from, to, this.#kernel.bytes, this.#origin + from);
  }
}
