/**
 * Reads the fields of a protobuf message in bytes that nobody can trust. Each length is checked against the message
 * around it before it is used, and nothing is allocated by a length that the bytes name.
 */

import { QuernError } from "../../../src/base/errors.ts";

/** Returns the error for a damaged index. `offset` is the offset of the damage in the whole file, in bytes. */
export const damaged = (what: string, offset: number): QuernError =>
  new QuernError("INVALID_REQUEST", `the SCIP index is damaged at byte ${offset}: ${what}`);

/** Wire types of protobuf. */
export const VARINT = 0;
export const BYTES = 2;

const MAX_VARINT = 10;

export class Message {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;
  /** The offset of the first of `bytes` in the file. */
  readonly base: number;

  constructor(bytes: Uint8Array, { base = 0, from = 0, end = bytes.length } = {}) {
    this.bytes = bytes;
    this.base = base;
    this.at = from;
    this.end = end;
  }

  get hasMore(): boolean {
    return this.at < this.end;
  }

  fail(what: string): never {
    throw damaged(what, this.base + this.at);
  }

  /** Reads a number. Numbers beyond 2^53 lose their last bits, which no field that is read here has. */
  varint(): number {
    let [value, scale] = [0, 1];
    for (let i = 0; i < MAX_VARINT; i++) {
      if (this.at >= this.end) this.fail("a number is cut off");
      const byte = this.bytes[this.at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    return this.fail("a number is longer than 10 bytes");
  }

  /** Reads the length of a field, and returns where the field ends. */
  fieldEnd(): number {
    const length = this.varint();
    if (length > this.end - this.at) this.fail("a field is longer than its message");
    return this.at + length;
  }

  /** Reads a message in a field. */
  message(): Message {
    const end = this.fieldEnd();
    const inner = new Message(this.bytes, { base: this.base, from: this.at, end });
    this.at = end;
    return inner;
  }

  /** Reads a text of at most `most` bytes. Bytes that are not UTF-8 become U+FFFD. */
  text(most: number): string {
    const end = this.fieldEnd();
    if (end - this.at > most) this.fail(`a text is longer than ${most} bytes`);
    const { buffer, byteOffset } = this.bytes;
    const text = Buffer.from(buffer, byteOffset + this.at, end - this.at).toString("utf8");
    this.at = end;
    return text;
  }

  skip(wire: number): void {
    if (wire === VARINT) this.varint();
    else if (wire === BYTES) this.at = this.fieldEnd();
    else if (wire === 1) this.at += 8;
    else if (wire === 5) this.at += 4;
    else this.fail(`wire type ${wire}`);
    if (this.at > this.end) this.fail("a field is longer than its message");
  }
}
