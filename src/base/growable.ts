/**
 * Provides typed arrays that grow by doubling. They are used for columns that are filled value by value, without an
 * object for each row.
 */

export class GrowableBytes {
  #data: Uint8Array;
  length = 0;

  constructor(capacity = 1024) {
    this.#data = new Uint8Array(capacity);
  }

  push(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#data.set(bytes, this.length);
    this.length += bytes.length;
  }

  pushByte(byte: number): void {
    this.#reserve(1);
    this.#data[this.length++] = byte;
  }

  /** A view of the bytes that were pushed so far. REQUIRES: the view is not used after the next push. */
  get view(): Uint8Array {
    return this.#data.subarray(0, this.length);
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#data.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#data.length, this.length + more));
    larger.set(this.view);
    this.#data = larger;
  }
}

export class GrowableWords {
  #data: Uint32Array;
  length = 0;

  /**
   * Creates an empty list with room for `capacity` words. The default room is 64 bytes, which V8 allocates in 24 ns.
   * Longer arrays are allocated outside V8's heap, which takes 0.2 to 1 µs.
   */
  constructor(capacity = 16) {
    this.#data = new Uint32Array(capacity);
  }

  push(word: number): void {
    if (this.length === this.#data.length) {
      const larger = new Uint32Array(2 * this.#data.length);
      larger.set(this.#data);
      this.#data = larger;
    }
    this.#data[this.length++] = word;
  }

  /** Makes room for `more` words, so that pushing them allocates nothing. */
  reserve(more: number): void {
    const end = this.length + more;
    if (end <= this.#data.length) return;
    const larger = new Uint32Array(Math.max(2 * this.length, end));
    larger.set(this.view);
    this.#data = larger;
  }

  /** Adds `shift` to each of the words [from, to) and pushes the sums. */
  pushAll(words: Uint32Array, shift: number, from = 0, to = words.length): void {
    this.reserve(to - from);
    const end = this.length + to - from;
    for (let i = from, at = this.length; at < end; i++, at++) this.#data[at] = words[i]! + shift;
    this.length = end;
  }

  /** A view of the words that were pushed so far. REQUIRES: the view is not used after the next push. */
  get view(): Uint32Array {
    return this.#data.subarray(0, this.length);
  }
}

export const bytesOf = (words: Uint32Array | Uint16Array | Uint8Array | Float32Array): Uint8Array =>
  new Uint8Array(words.buffer, words.byteOffset, words.byteLength);

/** Copies little-endian bytes into words. REQUIRES: the length is a multiple of four. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(bytes.length >>> 2);
  bytesOf(words).set(bytes.subarray(0, words.byteLength));
  return words;
}
