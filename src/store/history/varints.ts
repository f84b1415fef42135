/** Writes and reads streams of numbers. A number below 2^53 takes one byte for each seven bits. */

import { corrupt } from "../format/sealed.ts";

export class VarintWriter {
  #data = new Uint8Array(256);
  length = 0;

  /** A view of the bytes that were written so far. REQUIRES: the view is not used after the next write. */
  get view(): Uint8Array {
    return this.#data.subarray(0, this.length);
  }

  number(value: number): void {
    if (this.length + 8 > this.#data.length) this.#grow(8);
    let rest = value;
    for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 128))
      this.#data[this.length++] = (rest % 128) | 0x80;
    for (; rest > 0x7f; rest >>>= 7) this.#data[this.length++] = (rest & 0x7f) | 0x80;
    this.#data[this.length++] = rest;
  }

  /** Writes a number that may be negative. Small numbers of either sign are short. */
  signed(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#data.length) this.#grow(bytes.length);
    this.#data.set(bytes, this.length);
    this.length += bytes.length;
  }

  clear(): void {
    this.length = 0;
  }

  #grow(more: number): void {
    const larger = new Uint8Array(Math.max(2 * this.#data.length, this.length + more));
    larger.set(this.view);
    this.#data = larger;
  }
}

export class VarintReader {
  readonly #data: Uint8Array;
  readonly #what: string;
  at: number;

  /** `what` names the data in the error message. */
  constructor(data: Uint8Array, what: string, at = 0) {
    this.#data = data;
    this.#what = what;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#data.length;
  }

  number(): number {
    const data = this.#data;
    let byte = data[this.at++]!;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let scale = 128; scale < 2 ** 53; scale *= 128) {
      byte = data[this.at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw corrupt(this.#what); // also if the data ends early, because `byte` is then undefined
  }

  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  bytes(length: number): Uint8Array {
    const from = this.at;
    this.at += length;
    if (this.at > this.#data.length) throw corrupt(this.#what);
    return this.#data.subarray(from, this.at);
  }

  /** Throws unless everything was read. */
  end(): void {
    if (this.at !== this.#data.length) throw corrupt(this.#what);
  }
}
