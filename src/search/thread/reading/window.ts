/**
 * A window: a stretch of a segment's text, whole blobs only, about 1 MiB, in kernel memory. Every
 * byte stands at its natural distance from the window's start, but only pages somebody asked for are
 * loaded. Windows are what threads claim, and where a search looks at time-out and abort.
 */

import { emptyBitset, hasBit, setBit, type Bitset } from "../../../base/bitset.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { PAGE_BYTES } from "../../../store/format/format.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";

const WINDOW_BYTES = 2 ** 20;
/** Before the text, for SIMD and for the byte in front of a match. */
const MARGIN = 64;

/** First blob of each window; one more, the number of blobs. At least one window, so that files without content have a place. */
export function windowsOf(reader: SegmentReader): Uint32Array {
  const { blobStarts, header } = reader;
  const starts = [0];
  for (let blob = 1; blob < header.blobs; blob++)
    if (blobStarts[blob]! - blobStarts[starts.at(-1)!]! >= WINDOW_BYTES) starts.push(blob);
  return Uint32Array.from([...starts, header.blobs]);
}

/** Kernel memory that windows use one after another. */
export class WindowMemory {
  readonly kernel: Kernel;
  #at = 0;
  #length = 0;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /** Address of room for `length` bytes of text. */
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
  /** Bytes of text loaded. */
  bytesLoaded = 0;
  readonly #snapshot: Snapshot;
  readonly #kernel: Kernel;
  /** Address of text offset 0, if the window reached so far. */
  readonly #origin: number;
  readonly #firstPage: number;
  readonly #loaded: Bitset;

  constructor(
    reader: SegmentReader,
    snapshot: Snapshot,
    memory: WindowMemory,
    firstBlob: number,
    endBlob: number,
  ) {
    this.reader = reader;
    this.firstBlob = firstBlob;
    this.endBlob = endBlob;
    this.#snapshot = snapshot;
    this.#kernel = memory.kernel;
    const from = reader.blobStarts[firstBlob]!;
    this.#origin = memory.room(reader.blobStarts[endBlob]! - from) - from;
    this.#firstPage = reader.firstPages[firstBlob]!;
    this.#loaded = emptyBitset(reader.firstPages[endBlob]! - this.#firstPage);
  }

  /** Where the blob's text stands, or would. */
  address(blob: number): number {
    return this.#origin + this.reader.blobStarts[blob]!;
  }

  /** The kernel's memory, in which addresses count. REQUIRES: not kept across a reservation. */
  get bytes(): Uint8Array {
    return this.#kernel.bytes;
  }

  length(blob: number): number {
    return this.reader.blobStarts[blob + 1]! - this.reader.blobStarts[blob]!;
  }

  /** Pages [first, end) of a blob, and around them the byte before and `beyond` bytes after, as far as the blob reaches. */
  load(blob: number, first: number, end: number, beyond: number): void {
    const { blobStarts, firstPages } = this.reader;
    const [from, to] = [blobStarts[blob]!, blobStarts[blob + 1]!];
    const start = from + (first - firstPages[blob]!) * PAGE_BYTES;
    const stop = Math.min(to, from + (end - firstPages[blob]!) * PAGE_BYTES);
    // in one piece where it can be: each piece reads its blocks anew
    let missing = first > firstPages[blob]! && !this.holds(first - 1) ? start - 1 : start;
    for (let page = first; page < end; page++) {
      const at = start + (page - first) * PAGE_BYTES;
      if (!this.holds(page)) setBit(this.#loaded, page - this.#firstPage);
      else {
        this.#copy(missing, at);
        missing = Math.min(stop, at + PAGE_BYTES);
      }
    }
    const isTailMissing = stop < to && !this.holds(end);
    this.#copy(missing, isTailMissing ? Math.min(to, stop + beyond) : stop);
  }

  /** Bytes [from, to) of a blob, by address, without the rest of their pages. */
  loadBytes(from: number, to: number): void {
    this.#copy(from - this.#origin, to - this.#origin);
  }

  /** Whether a page of its blobs was loaded. */
  holds(page: number): boolean {
    return hasBit(this.#loaded, page - this.#firstPage);
  }

  #copy(from: number, to: number): void {
    if (from >= to) return;
    this.reader.copyText(this.#snapshot, from, to, this.#kernel.bytes, this.#origin + from);
    this.bytesLoaded += to - from;
  }
}
