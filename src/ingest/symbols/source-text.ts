/**
 * Decodes the bytes of a file to UTF-16 units, which the parser reads, and maps each unit back to its byte. Most
 * files are pure ASCII. For such a file, neither a copy nor a map is made, because unit i is byte i.
 *
 * Invalid UTF-8 is parsed, too. Each byte that does not start a valid sequence becomes one U+FFFD, so positions stay
 * exact. The units and the map of a file that is not ASCII take 6 bytes of memory per byte. Their arrays are reused
 * for the next file.
 */

import { isAscii } from "node:buffer";

export interface SourceText {
  /** The length in UTF-16 units. */
  readonly length: number;
  /** Returns at most `count` units from `start` on as a string, which is empty at the end of the text. */
  slice(start: number, count: number): string;
  /**
   * Returns the offset in bytes of the character to which a unit belongs. If `unit` is the length of the text or
   * more, returns the length in bytes.
   */
  byteOf(unit: number): number;
}

/**
 * Decodes files, one after another. REQUIRES: a text is not used after the next call of decode(), and its bytes do
 * not change.
 */
export class Decoder {
  #units = new Uint16Array(1 << 12);
  #offsets = new Uint32Array(1 << 12);

  decode(bytes: Uint8Array): SourceText {
    if (isAscii(bytes)) return new AsciiText(bytes);
    if (this.#units.length < bytes.length + 1) {
      const capacity = bytes.length + (bytes.length >> 2) + 1;
      this.#units = new Uint16Array(capacity);
      this.#offsets = new Uint32Array(capacity);
    }
    const length = decodeUtf8(bytes, this.#units, this.#offsets);
    return new MappedText(this.#units.subarray(0, length), this.#offsets);
  }
}

class AsciiText implements SourceText {
  readonly length: number;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  slice(start: number, count: number): string {
    return this.#bytes.toString("latin1", start, Math.min(start + count, this.length));
  }

  byteOf(unit: number): number {
    return Math.min(unit, this.length);
  }
}

class MappedText implements SourceText {
  readonly length: number;
  readonly #units: Buffer;
  readonly #offsets: Uint32Array;

  constructor(units: Uint16Array, offsets: Uint32Array) {
    this.length = units.length;
    this.#units = Buffer.from(units.buffer, units.byteOffset, units.byteLength);
    this.#offsets = offsets;
  }

  slice(start: number, count: number): string {
    return this.#units.toString("utf16le", 2 * start, 2 * Math.min(start + count, this.length));
  }

  byteOf(unit: number): number {
    return this.#offsets[Math.min(unit, this.length)]!;
  }
}

/**
 * Writes the UTF-16 units of a text to `units`. For each unit, writes the offset in bytes of its character to
 * `offsets`, followed by the offset of the text's end. Returns the number of units.
 */
function decodeUtf8(bytes: Uint8Array, units: Uint16Array, offsets: Uint32Array): number {
  let count = 0;
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at]!;
    offsets[count] = at;
    if (lead < 0x80) {
      units[count++] = lead;
      at++;
      continue;
    }
    const point = codePointAt(bytes, at);
    if (point > 0xffff) {
      offsets[count + 1] = at;
      units[count++] = 0xd800 + ((point - 0x10000) >> 10);
      units[count++] = 0xdc00 + (point & 0x3ff);
      at += 4;
    } else {
      units[count++] = point < 0 ? 0xfffd : point;
      at += point < 0 ? 1 : point < 0x800 ? 2 : 3;
    }
  }
  offsets[count] = at;
  return count;
}

/**
 * Returns the code point of the UTF-8 sequence that starts at `at`, or -1 if there is no valid sequence. REQUIRES:
 * bytes[at] >= 0x80.
 */
function codePointAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0) return -1;
  let point = lead & (0xff >> (length + 1));
  for (let next = at + 1; next < at + length; next++) {
    const byte = bytes[next];
    if (byte === undefined || (byte & 0xc0) !== 0x80) return -1;
    point = (point << 6) | (byte & 0x3f);
  }
  const least = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000;
  const surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < least || point > 0x10ffff || surrogate ? -1 : point;
}
