/**
 * Allocates short-lived regions of a kernel's memory. Releasing a mark frees all regions that were taken after the
 * mark. Until then, they stay at their addresses. The memory grows with the peak use, one chunk at a time. A new chunk
 * has 1.5 times the size of the region that did not fit, but at least 64 KiB.
 */

import { copyBytes } from "../base/copy-bytes.ts";
import type { Kernel } from "./kernel.ts";

export class Arena {
  readonly #kernel: Kernel;
  readonly #chunks: { readonly at: number; readonly length: number }[] = [];
  #chunk = 0;
  #used = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Returns the address of `length` uninitialized bytes, aligned to 16. SIMD loads may read up to 64 bytes after
   * them.
   */
  take(length: number): number {
    const size = (length + 64 + 15) & ~15;
    while (
      this.#chunk < this.#chunks.length &&
      this.#used + size > this.#chunks[this.#chunk]!.length
    ) {
      this.#chunk++;
      this.#used = 0;
    }
    if (this.#chunk === this.#chunks.length) this.#addChunk(size);
    const at = this.#chunks[this.#chunk]!.at + this.#used;
    this.#used += size;
    return at;
  }

  put(bytes: Uint8Array): number {
    const at = this.take(bytes.length);
    copyBytes(bytes, 0, this.#kernel.bytes, at, bytes.length);
    return at;
  }

  /** Returns a mark. Passing the mark to release() frees everything that was allocated after this call. */
  mark(): readonly [chunk: number, used: number] {
    return [this.#chunk, this.#used];
  }

  release([chunk, used]: readonly [chunk: number, used: number]): void {
    this.#chunk = chunk;
    this.#used = used;
  }

  #addChunk(size: number): void {
    const length = Math.max(2 ** 16, Math.ceil(size * 1.5));
    this.#chunks.push({ at: this.#kernel.reserve(length), length });
    this.#used = 0;
  }
}
