/** Finds the lines of a file. Yields to the event loop in between, because a hostile file may have a million lines. */

import { firstIndex } from "../base/binary-search.ts";
import { decodeText } from "../base/decode-text.ts";
import { GrowableWords } from "../base/growable.ts";
import type { Pause } from "../base/yield.ts";

const NEWLINE = 10;
/** The number of bytes that are read between two pauses. Reading them takes about 0.1 ms. */
const STEP_BYTES = 64 * 1024;

/** The lines of a text, numbered from 1. A newline at the end does not begin another line. */
export class TextLines {
  readonly bytes: Uint8Array;
  /** The byte offset at which each line begins. */
  readonly #starts: Uint32Array;

  private constructor(bytes: Uint8Array, starts: Uint32Array) {
    this.bytes = bytes;
    this.#starts = starts;
  }

  static async of(bytes: Uint8Array, pause: Pause): Promise<TextLines> {
    const starts = new GrowableWords();
    if (bytes.length > 0) starts.push(0);
    const last = bytes.length - 1;
    for (let from = 0; from < last; from += STEP_BYTES) {
      const to = Math.min(from + STEP_BYTES, last);
      for (let at = from; at < to; at++) if (bytes[at] === NEWLINE) starts.push(at + 1);
      await pause();
    }
    return new TextLines(bytes, starts.view);
  }

  get count(): number {
    return this.#starts.length;
  }

  /** Returns the byte offset at which a line begins. */
  startOf(line: number): number {
    return this.#starts[line - 1]!;
  }

  /** Returns the number of the line that contains the byte at `byteOffset`. */
  lineAt(byteOffset: number): number {
    return firstIndex(0, this.count, (i) => this.#starts[i]! > byteOffset);
  }

  /** Returns a line without its newline, or `""` if there is no such line. */
  at(line: number): string {
    if (line < 1 || line > this.count) return "";
    const next = this.#starts[line] ?? this.bytes.length;
    const end = this.bytes[next - 1] === NEWLINE ? next - 1 : next;
    return decodeText(this.bytes.subarray(this.startOf(line), end));
  }

  /** Returns the lines from `first` to `last`, both included. */
  slice(first: number, last: number): string[] {
    const count = Math.max(0, Math.min(last, this.count) - first + 1);
    return Array.from({ length: count }, (_, i) => this.at(first + i));
  }
}
