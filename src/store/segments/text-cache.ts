/**
 * Keeps windows of text in the memory of a thread's kernel, where searches scan them in place: a page in this memory
 * costs nothing to fetch, and one from LMDB 2 to 3 µs. Each thread has its own cache, so nothing is locked. Threads
 * prefer the same windows in every search (search/messages/control.ts), so they cache different ones.
 *
 * A window is cached when as many bytes of it have been read as its half. So loading windows never takes much longer
 * than the searches would have taken without a cache, whatever is read. If all slots are used, a clock selects the
 * window to evict: the next one that was not used since the hand last passed it.
 */

import type { Kernel } from "../../kernel/kernel.ts";

/** The room for a window's text. Windows are at most this long, unless they consist of a single blob. */
export const SLOT_BYTES = 2 ** 20;
/** The kernel's memory grows by so many slots at a time. */
const SLOTS_AT_ONCE = 8;

/** The most bytes of a cache for all threads. */
export const MOST_CACHE_BYTES = 4 * 2 ** 30;
/** The most bytes of one thread's cache. A kernel has at most 4 GiB of memory, of which it needs some itself. */
const MOST_THREAD_BYTES = 3.5 * 2 ** 30;

/** Whole, neighbouring blobs of a segment. */
export interface TextWindow {
  /** The number of the segment that stores the text. */
  readonly content: number;
  readonly firstBlob: number;
  readonly endBlob: number;
  readonly bytes: number;
}

/** A window in memory. */
export interface CachedWindow extends TextWindow {
  /** The address of the text of its first blob. */
  readonly address: number;
}

interface Slot {
  readonly address: number;
  window: CachedWindow | undefined;
  /** Whether it was used since the hand last passed it. */
  isUsed: boolean;
}

/** Records which windows of a segment are cached, and how much of the others was read. */
interface SegmentWindows {
  /** For each blob, 1 + the slot of its window; 0 if the window is not cached. */
  readonly slots: Uint32Array;
  /** How many bytes of a window were read while it was not cached. The index is the window's first blob. */
  readonly read: Uint32Array;
}

export class TextCache {
  readonly #kernel: Kernel;
  /** The most slots. */
  #most: number;
  readonly #slots: Slot[] = [];
  /** The slots without a window. */
  readonly #empty: number[] = [];
  readonly #segments = new Map<number, SegmentWindows>();
  #hand = 0;

  /** `bytes` is the most memory of this thread's cache. */
  constructor(kernel: Kernel, bytes: number) {
    this.#kernel = kernel;
    const most = Math.min(bytes, MOST_THREAD_BYTES);
    this.#most = Math.floor(most / SLOT_BYTES);
  }

  /** The most bytes of text that fit. */
  get bytes(): number {
    return this.#most * SLOT_BYTES;
  }

  /** Returns the cached window that contains the blobs, or undefined. */
  find({ content, firstBlob, endBlob }: Omit<TextWindow, "bytes">): CachedWindow | undefined {
    const place = this.#segments.get(content)?.slots[firstBlob];
    if (!place) return undefined;
    const slot = this.#slots[place - 1]!;
    if (slot.window!.endBlob < endBlob) return undefined;
    slot.isUsed = true;
    return slot.window;
  }

  /** Remembers that bytes of a window were read that is not cached. `blobs` is the number of the segment's blobs. */
  addRead({ content, firstBlob }: TextWindow, bytes: number, blobs: number): void {
    this.#windowsOf(content, blobs).read[firstBlob]! += bytes;
  }

  /**
   * Caches a window if it was read often enough. `load` copies the text to an address of the kernel's memory. Does not
   * evict any window unless `mayEvict` is set. Returns undefined if the window is not cached.
   */
  keep(
    window: TextWindow,
    mayEvict: boolean,
    load: (address: number) => void,
  ): CachedWindow | undefined {
    const windows = this.#segments.get(window.content);
    if (!windows || window.bytes > SLOT_BYTES) return undefined;
    if (2 * windows.read[window.firstBlob]! < window.bytes) return undefined;
    windows.read[window.firstBlob] = 0;
    const place = this.#free(mayEvict);
    if (place === undefined) return undefined;
    const slot = this.#slots[place]!;
    try {
      load(slot.address);
    } catch (error) {
      this.#empty.push(place);
      throw error;
    }
    slot.window = { ...window, address: slot.address };
    slot.isUsed = true;
    windows.slots.fill(place + 1, window.firstBlob, window.endBlob);
    return slot.window;
  }

  /** Drops all windows of a segment, and the records about them. */
  drop(content: number): void {
    if (!this.#segments.delete(content)) return;
    for (const [place, slot] of this.#slots.entries()) {
      if (slot.window?.content !== content) continue;
      slot.window = undefined;
      this.#empty.push(place);
    }
  }

  #windowsOf(content: number, blobs: number): SegmentWindows {
    let windows = this.#segments.get(content);
    if (!windows) {
      windows = { slots: new Uint32Array(blobs), read: new Uint32Array(blobs) };
      this.#segments.set(content, windows);
    }
    return windows;
  }

  /** Returns an empty slot, after evicting its window if necessary. */
  #free(mayEvict: boolean): number | undefined {
    if (this.#empty.length === 0) this.#grow();
    const place = this.#empty.pop();
    return place === undefined && mayEvict ? this.#evict() : place;
  }

  /** Adds slots, if the cache and the system have room for them. */
  #grow(): void {
    const count = Math.min(SLOTS_AT_ONCE, this.#most - this.#slots.length);
    if (count <= 0) return;
    let at: number;
    try {
      at = this.#kernel.reserve(count * SLOT_BYTES);
    } catch {
      this.#most = this.#slots.length; // the system has no more memory
      return;
    }
    const last = this.#slots.length + count - 1;
    for (let i = 0; i < count; i++) {
      this.#slots.push({ address: at + i * SLOT_BYTES, window: undefined, isUsed: false });
      this.#empty.push(last - i); // the first one is taken first
    }
  }

  /** Empties the next slot that was not used since the hand last passed it. */
  #evict(): number | undefined {
    for (let step = 0; step < 2 * this.#slots.length; step++) {
      const place = this.#hand;
      this.#hand = (place + 1) % this.#slots.length;
      const slot = this.#slots[place]!;
      if (slot.isUsed || !slot.window) {
        slot.isUsed = false;
        continue;
      }
      const { content, firstBlob, endBlob } = slot.window;
      this.#segments.get(content)!.slots.fill(0, firstBlob, endBlob);
      slot.window = undefined;
      return place;
    }
    return undefined;
  }
}
