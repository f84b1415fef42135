/**
 * Caches windows of text, which consist of neighbouring blobs, in the memory of a thread's kernel. A search that needs
 * much of a cached window scans it in place. If the search needs little, it copies the pages that it needs, which saves
 * reading them from a file. Each thread has its own cache, so no lock is needed. A thread prefers the same windows in
 * every search (search/messages/control.ts), so different threads cache different windows.
 *
 * A window is cached once the bytes that were read from it amount to half of its length. So loading windows never takes
 * much longer than the searches would have taken without a cache, whatever they read. If all slots are used, the clock
 * algorithm selects the window to evict. This is the next window that was not used since the clock hand last passed it.
 */

import type { Kernel } from "../../kernel/kernel.ts";

/**
 * The size of a slot, which holds the text of one window. A window is at most this long, unless it consists of a single
 * blob.
 */
export const SLOT_BYTES = 2 ** 20;
/** The number of slots that are added to the kernel's memory at a time. */
const SLOTS_AT_ONCE = 8;

/** The maximum number of bytes that the caches of all threads may take together. */
export const MOST_CACHE_BYTES = 4 * 2 ** 30;
/**
 * The maximum number of bytes that the cache of one thread holds. A kernel has at most 4 GiB of memory, and needs some
 * of it for other purposes.
 */
const MOST_THREAD_BYTES = 3.5 * 2 ** 30;

/** A range of neighbouring blobs of a segment. A window contains each of them as a whole. */
export interface TextWindow {
  /** The number of the segment that stores the text. */
  readonly content: number;
  readonly firstBlob: number;
  readonly endBlob: number;
  readonly bytes: number;
}

/** A window whose text is in the cache. */
export interface CachedWindow extends TextWindow {
  /** The address of the text of the window's first blob. */
  readonly address: number;
}

interface Slot {
  readonly address: number;
  window: CachedWindow | undefined;
  /** Whether the slot was used since the clock hand last passed it. */
  isUsed: boolean;
}

/** Records which windows of a segment are cached, and how many bytes of its uncached windows were read. */
interface SegmentWindows {
  /** For each blob, 1 + the index of its window's slot, or 0 if the window is not cached. */
  readonly slots: Uint32Array;
  /** The number of bytes that were read of each blob while it was not cached. */
  readonly read: Uint32Array;
}

export class TextCache {
  readonly #kernel: Kernel;
  /** The maximum number of slots. */
  #most: number;
  readonly #slots: Slot[] = [];
  /** The indexes of the slots without a window. */
  readonly #empty: number[] = [];
  readonly #segments = new Map<number, SegmentWindows>();
  #hand = 0;

  /** `bytes` is the maximum number of bytes of memory that the cache takes. */
  constructor(kernel: Kernel, bytes: number) {
    this.#kernel = kernel;
    const most = Math.min(bytes, MOST_THREAD_BYTES);
    this.#most = Math.floor(most / SLOT_BYTES);
  }

  /** The maximum number of bytes of text that fit into the cache. */
  get bytes(): number {
    return this.#most * SLOT_BYTES;
  }

  /** Returns the cached window that contains these blobs, or undefined if there is none. */
  find({ content, firstBlob, endBlob }: Omit<TextWindow, "bytes">): CachedWindow | undefined {
    const place = this.#segments.get(content)?.slots[firstBlob];
    if (!place) return undefined;
    const slot = this.#slots[place - 1]!;
    if (slot.window!.endBlob < endBlob) return undefined;
    slot.isUsed = true;
    return slot.window;
  }

  /** Counts bytes that were read of a blob that is not cached. `blobs` is the number of blobs of the segment. */
  addRead(
    { content, blob }: { readonly content: number; readonly blob: number },
    bytes: number,
    blobs: number,
  ): void {
    this.#windowsOf(content, blobs).read[blob]! += bytes;
  }

  /**
   * Caches a window if enough of it was read. `load` copies the text to an address of the kernel's memory. Evicts
   * another window only if `mayEvict`. Returns undefined if the window was not cached.
   */
  keep(
    window: TextWindow,
    mayEvict: boolean,
    load: (address: number) => void,
  ): CachedWindow | undefined {
    const windows = this.#segments.get(window.content);
    if (!windows || window.bytes > SLOT_BYTES) return undefined;
    const read = windows.read.subarray(window.firstBlob, window.endBlob);
    if (2 * sumOf(read) < window.bytes) return undefined;
    read.fill(0);
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

  /** Removes all windows of a segment, and the records about them. */
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

  /**
   * Returns the index of an empty slot. If there is none, evicts a window if `mayEvict`. Returns undefined if no slot
   * is available.
   */
  #free(mayEvict: boolean): number | undefined {
    if (this.#empty.length === 0) this.#grow();
    const place = this.#empty.pop();
    return place === undefined && mayEvict ? this.#evict() : place;
  }

  /** Adds empty slots if the cache and the system have room for them. */
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
      this.#empty.push(last - i); // the last element is taken first, so the slots are used in ascending order
    }
  }

  /** Empties the next slot that was not used since the clock hand last passed it, and returns its index. */
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

function sumOf(numbers: Uint32Array): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}
