/**
 * Short-lived regions of a kernel: taken one after another, given back in reverse. What was taken
 * stays at its address until its mark is released; a kernel's memory grows to the most that was ever
 * needed at once, rounded up by half.
 */

import type { Kernel } from "./kernel.ts";

export class Arena {
  readonly #kernel: Kernel;
  readonly #chunks: { readonly at: number; readonly length: number }[] = [];
  #chunk = 0;
  #used = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Address of `length` bytes with whatever was there before, aligned to 16; SIMD may read 64 bytes past them. */
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
    this.#kernel.bytes.set(bytes, at);
    return at;
  }

  /** What is taken from now on can be given back with release(). */
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
