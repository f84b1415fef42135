/**
 * Converts byte offsets to lines and columns. Lines are 1-based, and a newline belongs to the line that it ends.
 * Columns are 1-based and count code points from the start of the line. These are the code points that TextDecoder
 * returns, so invalid bytes count as U+FFFD.
 *
 * If positions are requested in ascending order, a file is read only once, however many positions there are.
 */

import { decodeText } from "../../../base/decode-text.ts";
import type { Position, Range } from "../../messages/response.ts";

const NEWLINE = 10;
export interface Line {
  readonly number: number;
  readonly start: number;
  /** The position after the line's newline, if there is one. */
  readonly end: number;
}

/** Returns the number of newlines in the part [from, to) of the text. */
export type CountNewlines = (from: number, to: number) => number;

export class Lines {
  readonly text: Buffer;
  readonly #count: CountNewlines;
  #line: Line;
  // the last position whose column was requested, and the start of its line
  #lineStart = 0;
  #offset = 0;
  #column = 1;

  constructor(text: Buffer, count: CountNewlines) {
    this.text = text;
    this.#count = count;
    this.#line = { number: 1, start: 0, end: this.#endAfter(0) };
  }

  #endAfter(offset: number): number {
    const newline = this.text.indexOf(NEWLINE, offset);
    return newline < 0 ? this.text.length : newline + 1;
  }

  /**
   * Returns the line that contains the byte at `offset`. For an offset at the end of the text, returns the last line,
   * which is empty if the text ends with a newline.
   */
  at(offset: number): Line {
    const line = this.#line;
    if (offset < line.start) return this.#back(offset);
    // the last newline of the text is followed by an empty line
    const isEmpty = line.start === line.end;
    const endsHere = isEmpty || this.text[line.end - 1] !== NEWLINE;
    if (offset < line.end || (offset === line.end && endsHere)) return line;
    const number = line.number + this.#count(line.end - 1, offset);
    const start = offset === 0 ? 0 : this.text.lastIndexOf(NEWLINE, offset - 1) + 1;
    return (this.#line = { number, start, end: this.#endAfter(offset) });
  }

  #back(offset: number): Line {
    const start = offset === 0 ? 0 : this.text.lastIndexOf(NEWLINE, offset - 1) + 1;
    const number = this.#line.number - this.#count(offset, this.#line.start);
    return (this.#line = { number, start, end: this.#endAfter(offset) });
  }

  column(lineStart: number, offset: number): number {
    // if the last position is within a character, the column may have counted a part of this character
    const isInside = (this.text[this.#offset]! & 0xc0) === 0x80;
    if (lineStart !== this.#lineStart || offset < this.#offset || isInside) {
      this.#lineStart = lineStart;
      this.#offset = lineStart;
      this.#column = 1;
    }
    this.#column += countPoints(this.text, this.#offset, offset);
    this.#offset = offset;
    return this.#column;
  }

  position(offset: number): Position {
    const { number, start } = this.at(offset);
    return { byteOffset: offset, lineNumber: number, column: this.column(start, offset) };
  }

  range(from: number, to: number): Range {
    const start = this.position(from);
    const line = this.at(Math.max(from, to - 1));
    const end = { byteOffset: to, lineNumber: line.number, column: this.column(line.start, to) };
    return { start, end };
  }
}

/** Returns the number of code points in [from, to). ASCII text has as many code points as bytes. */
function countPoints(text: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && text[at]! < 0x80) at++;
  if (at === to) return to - from;
  let count = at - from;
  // iterating over a string yields its code points
  for (const _ of decodeText(text.subarray(at, to))) count++;
  return count;
}
