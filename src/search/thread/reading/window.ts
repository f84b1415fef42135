/**
 * Loads windows. A window is a range of a segment's blobs of which a search needs about 1 MiB of text. Only the
 * requested pages are loaded into kernel memory. There, each byte of a blob has its original distance from the start of
 * the blob. If the search needs most of the range's text, the blobs also have their original distances from each other.
 * Otherwise the blobs that the search does not need are left out. Threads claim one window at a time, and check between
 * windows whether the search was aborted or has timed out.
 */

import {
  countBitsBetween,
  emptyBitset,
  hasBit,
  nextBit,
  setBit,
  wordsFor,
  type Bitset,
} from "../../../base/bitset.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { unlessCorrupt } from "../../../store/format/sealed.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";

/** The maximum number of bytes of text in a window, unless a single blob is longer. */
export const WINDOW_BYTES = 2 ** 20;
/** The largest value in `tails`. */
const MOST_TAIL = 2 ** 16 - 1;
/**
 * If at least this share of a window's text will be loaded, and no blobs are left out, the whole window is read at
 * once. Reading 1 MiB at once takes 55 µs, as long as reading 37 pages separately. If the system has cached the file in
 * small pieces, it takes 160 µs, as long as reading 83 pages. With a half instead of a third, a search for
 * `[a-z]+_lock` takes a tenth longer. With a quarter, a search for `dev_err` takes 6 % longer.
 */
const WHOLE_PART = 1 / 3;
/** If the visited blobs have less than this share of a window's text, the other blobs are left out. */
const SPARSE_PART = 1 / 2;
/**
 * The maximum number of bytes between two pages that are read together. The system takes 1.1 µs for a read, and 0.05 to
 * 0.16 µs for each KiB of it. With a limit of 8 KiB, searches for frequent words take 3 % longer.
 */
const MOST_GAP = 16_384;
/**
 * The maximum number of blobs with candidate files in a window that consists of several windows. Evaluating so many
 * files takes about a millisecond.
 */
export const MOST_JOINED = 1024;
/**
 * The number of bytes that are kept free before and after the text. SIMD instructions read beyond the end of the text,
 * and the byte before a match is read, too.
 */
const MARGIN = 64;

/**
 * Divides a segment into windows of about 1 MiB of text. Returns the first blob of each window, then the number of
 * blobs. There is at least one window, because files without content are processed with the first window.
 */
export function windowsOf(reader: SegmentReader): Uint32Array {
  const { blobStarts, header } = reader;
  const starts = [0];
  for (let blob = 1; blob < header.blobs; blob++)
    if (blobStarts[blob + 1]! - blobStarts[starts.at(-1)!]! > WINDOW_BYTES) starts.push(blob);
  return Uint32Array.from([...starts, header.blobs]);
}

/**
 * Joins neighbouring windows if a search visits only a few of their blobs. Each window costs about 20 µs, and without
 * joining, most matches of a rare word would need one window each. A joined window has at most 1 MiB of text in
 * visited blobs. `work` contains the blobs that are evaluated, which may be more than those in `visit`.
 */
export function joinedWindows(
  windows: Uint32Array,
  { visit, work }: { readonly visit: Bitset; readonly work: Bitset },
  { blobStarts, header }: SegmentReader,
): Uint32Array {
  const starts: number[] = [];
  let [bytes, evaluated, mayGrow] = [0, 0, false];
  let blob = nextBit(visit, 0);
  for (let window = 0; window + 1 < windows.length; window++) {
    const [first, end] = [windows[window]!, windows[window + 1]!];
    let visited = 0;
    for (; blob >= 0 && blob < end; blob = nextBit(visit, blob + 1))
      visited += blobStarts[blob + 1]! - blobStarts[blob]!;
    const isSparse =
      visited === 0 || isMostlySkipped(visited, blobStarts[end]! - blobStarts[first]!);
    const blobs = countBitsBetween(work, first, end);
    if (
      mayGrow &&
      isSparse &&
      bytes + visited <= WINDOW_BYTES &&
      evaluated + blobs <= MOST_JOINED
    ) {
      bytes += visited;
      evaluated += blobs;
    } else {
      starts.push(first);
      [bytes, evaluated, mayGrow] = [visited, blobs, isSparse];
    }
  }
  return Uint32Array.from([...starts, header.blobs]);
}

/** Whether a search visits so little of a window's text that the other blobs are left out. */
const isMostlySkipped = (visited: number, bytes: number): boolean => visited < SPARSE_PART * bytes;

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
  #addresses = new Uint32Array(512);

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /** Returns the address of `length` free bytes for text. */
  room(length: number): number {
    if (length + 2 * MARGIN > this.#length) {
      this.#length = Math.max(2 * WINDOW_BYTES, Math.ceil(1.5 * length)) + 2 * MARGIN;
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

  /** Returns an array for the addresses of `blobs` blobs, with arbitrary contents. It is valid until the next call. */
  addresses(blobs: number): Uint32Array {
    if (blobs > this.#addresses.length) this.#addresses = new Uint32Array(2 * blobs);
    return this.#addresses;
  }
}

/** The blobs of a window. */
export interface WindowBlobs {
  /** The first blob of the window, and the first blob after it. */
  readonly firstBlob: number;
  readonly endBlob: number;
  /** The blobs in the window that may be loaded, in ascending order. */
  readonly visited: readonly number[];
}

export interface WindowOptions {
  readonly snapshot: Snapshot;
  readonly memory: WindowMemory;
  /** The number of bytes that will probably be loaded. Default 0. */
  readonly expectedBytes?: number;
}

export class Window {
  readonly reader: SegmentReader;
  /** The number of bytes of text that were loaded. */
  bytesLoaded = 0;
  readonly #snapshot: Snapshot;
  readonly #kernel: Kernel;
  readonly #firstBlob: number;
  /** The address of each visited blob's text. The index is the number of the blob minus #firstBlob. */
  readonly #addresses: Uint32Array;
  /** Whether all text of the window was read when it was opened. */
  readonly #isWhole: boolean;
  readonly #firstPage: number;
  readonly #marks: PageMarks;
  /** The ranges of the segment's text that readAhead() has read, as pairs of offsets in ascending order. */
  #ahead: number[] = [];
  /** The index in #ahead at which the last search of #isAhead() ended. */
  #lastAhead = 0;

  constructor(
    reader: SegmentReader,
    { firstBlob, endBlob, visited }: WindowBlobs,
    { snapshot, memory, expectedBytes = 0 }: WindowOptions,
  ) {
    this.reader = reader;
    this.#snapshot = snapshot;
    this.#kernel = memory.kernel;
    this.#firstBlob = firstBlob;
    this.#addresses = memory.addresses(endBlob - firstBlob);
    const from = reader.blobStarts[firstBlob]!;
    const bytes = reader.blobStarts[endBlob]! - from;
    const visitedBytes = visited.reduce((sum, blob) => sum + this.length(blob), 0);
    const isSparse = isMostlySkipped(visitedBytes, bytes);
    let at = memory.room(isSparse ? visitedBytes : bytes);
    const isWorthIt = expectedBytes > 0 && expectedBytes >= WHOLE_PART * bytes;
    this.#isWhole = !isSparse && isWorthIt && this.#readWhole(from, bytes, at);
    if (isSparse) {
      for (const blob of visited) {
        this.#addresses[blob - firstBlob] = at;
        at += this.length(blob);
      }
    } else {
      for (const blob of visited)
        this.#addresses[blob - firstBlob] = at + reader.blobStarts[blob]! - from;
    }
    this.#firstPage = reader.firstPages[firstBlob]!;
    this.#marks = memory.marks(reader.firstPages[endBlob]! - this.#firstPage);
  }

  /** Returns the address of a visited blob's text, even if the text is not loaded. */
  address(blob: number): number {
    return this.#addresses[blob - this.#firstBlob]!;
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
   * Reads those pages of the blobs that are in `pages`, or all their pages if `pages` is undefined, with `margin` bytes
   * before and after them. Pages that are close to each other are read together. Bytes do not count as loaded until
   * load() or loadBytes() is called for them.
   * REQUIRES: `blobs` is in ascending order.
   */
  readAhead(blobs: readonly number[], pages: Bitset | undefined, margin: number): void {
    const { header, blobStarts, firstPages, pageBytes } = this.reader;
    const { content } = header;
    this.#ahead = [];
    this.#lastAhead = 0;
    if (this.#isWhole || !this.#snapshot.hasOpenText?.(content)) return;
    let [from, to, shift] = [0, 0, 0]; // the range that is read next, and the distance to its address
    const read = () => {
      if (from === to) return;
      // damage is ignored here, because the search may not need the damaged part
      const isRead = unlessCorrupt(() => (this.#read(from, to, from + shift), true));
      if (isRead) this.#ahead.push(from, to);
    };
    for (const blob of blobs) {
      const [start, end] = [blobStarts[blob]!, blobStarts[blob + 1]!];
      const own = this.address(blob) - start;
      for (let page = firstPages[blob]!; page < firstPages[blob + 1]!; page++) {
        if ((pages && !hasBit(pages, page)) || this.holds(page)) continue;
        const at = start + (page - firstPages[blob]!) * pageBytes;
        const last = Math.min(end, at + pageBytes + margin);
        const first = Math.max(start, at - margin);
        if (own === shift && from < to && first <= to + MOST_GAP) to = last;
        else {
          read();
          [from, to, shift] = [first, last, own];
        }
      }
    }
    read();
  }

  /** Returns true if readAhead() has read the bytes [from, to) of the segment's text. */
  #isAhead(from: number, to: number): boolean {
    const ahead = this.#ahead;
    // pages are mostly loaded in ascending order, so the pair that was found last is near
    let at = this.#lastAhead;
    if (at > 0 && ahead[at - 1]! >= to) at = 0;
    while (at < ahead.length && ahead[at + 1]! < to) at += 2;
    this.#lastAhead = at;
    return at < ahead.length && ahead[at]! <= from;
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
        this.#copy(blob, missing, at);
        missing = Math.min(stop, at + pageBytes);
      }
    }
    if (stop === to || this.holds(end)) return this.#copy(blob, missing, stop);
    const { tails } = this.#marks;
    const tail = end - this.#firstPage;
    // page `end` has a tail only if the page before it was already loaded, so the pages [first, end) are complete then
    const next = missing === stop ? stop + tails[tail]! : missing;
    const limit = Math.min(to, stop + beyond);
    this.#copy(blob, next, limit);
    tails[tail] = Math.max(tails[tail]!, Math.min(limit - stop, MOST_TAIL));
  }

  /** Loads the bytes of a blob at the addresses [from, to). Does not load the rest of their pages. */
  loadBytes(blob: number, from: number, to: number): void {
    const start = this.address(blob) - this.reader.blobStarts[blob]!;
    this.#copy(blob, from - start, to - start);
  }

  /** Returns true if a page of the window's blobs was loaded. */
  holds(page: number): boolean {
    return hasBit(this.#marks.loaded, page - this.#firstPage);
  }

  /**
   * Reads the bytes [from, to) of the segment's text, which belong to a blob, unless they are in memory already. The
   * bytes count as loaded in both cases.
   */
  #copy(blob: number, from: number, to: number): void {
    if (from >= to) return;
    this.bytesLoaded += to - from;
    if (this.#isWhole || this.#isAhead(from, to)) return;
    this.#read(from, to, this.address(blob) + from - this.reader.blobStarts[blob]!);
  }

  /**
   * Reads all text of the window to the address `at`, and returns true. Returns false if the text is not in an open
   * file. Also returns false if some of the text is damaged, because the search may not need the damaged part.
   */
  #readWhole(from: number, bytes: number, at: number): boolean {
    if (!this.#snapshot.hasOpenText?.(this.reader.header.content)) return false;
    return unlessCorrupt(() => (this.#read(from, from + bytes, at), true)) ?? false;
  }

  #read(from: number, to: number, at: number): void {
    this.reader.copyText(this.#snapshot, from, to, this.#kernel.bytes, at);
  }
}
