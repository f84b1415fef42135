/**
 * Numbers lines: equal lines get equal numbers. The lines are kept as one text, in which each is followed by a newline,
 * and are found through a hash table with open addressing. A line takes 16 to 24 bytes in addition to its text.
 */

import { GrowableWords } from "../../base/growable.ts";

const NEWLINE = 10;

export class LineTable {
  #text = new Uint8Array(2 ** 16);
  #length = 0;
  readonly #ends = new GrowableWords(1024);
  readonly #hashes = new GrowableWords(1024);
  /** The number of a line plus 1, or 0 if the slot is free. */
  #slots = new Uint32Array(2 ** 12);

  get count(): number {
    return this.#ends.length;
  }

  get text(): Uint8Array {
    return this.#text.subarray(0, this.#length);
  }

  /** The end of each line in the text, after its newline. */
  get ends(): Uint32Array {
    return this.#ends.view;
  }

  /** The number of bytes of memory that the table takes. */
  get bytes(): number {
    return this.#length + 8 * this.count + 4 * this.#slots.length;
  }

  /** Returns the number of the line data[from, to), which is added if it is new. */
  number(data: Uint8Array, from: number, to: number): number {
    let hash = 0;
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ data[i]!, 0x01000193) + 0x9e37;
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    hash = (hash ^ (hash >>> 13)) >>> 0;
    const mask = this.#slots.length - 1;
    const hashes = this.#hashes.view;
    let slot = hash & mask;
    for (let found = this.#slots[slot]!; found > 0; found = this.#slots[slot]!) {
      if (hashes[found - 1] === hash && this.#isSame(found - 1, data, from, to)) return found - 1;
      slot = (slot + 1) & mask;
    }
    const line = this.count;
    this.#slots[slot] = line + 1;
    this.#append(data, from, to);
    this.#ends.push(this.#length);
    this.#hashes.push(hash);
    if (3 * line > 2 * mask) this.#grow();
    return line;
  }

  #isSame(line: number, data: Uint8Array, from: number, to: number): boolean {
    const ends = this.#ends.view;
    const start = line === 0 ? 0 : ends[line - 1]!;
    if (ends[line]! - 1 - start !== to - from) return false;
    const text = this.#text;
    for (let i = from, at = start; i < to; i++, at++) if (data[i] !== text[at]) return false;
    return true;
  }

  #append(data: Uint8Array, from: number, to: number): void {
    const end = this.#length + to - from + 1;
    if (end > this.#text.length) {
      const larger = new Uint8Array(Math.max(2 * this.#text.length, end));
      larger.set(this.text);
      this.#text = larger;
    }
    this.#text.set(data.subarray(from, to), this.#length);
    this.#text[end - 1] = NEWLINE;
    this.#length = end;
  }

  #grow(): void {
    const slots = new Uint32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (const [line, hash] of this.#hashes.view.entries()) {
      let slot = hash & mask;
      while (slots[slot]! > 0) slot = (slot + 1) & mask;
      slots[slot] = line + 1;
    }
    this.#slots = slots;
  }
}
