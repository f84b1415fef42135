/** Reads the characters and escapes of a pattern, one after another. Errors contain the position in the pattern. */

import { QuernError } from "../base/errors.ts";
import { isSurrogate, LAST } from "./code-points.ts";

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

export class PatternReader {
  readonly source: string;
  /** The UTF-16 position of the next character. */
  at = 0;

  constructor(source: string) {
    this.source = source;
  }

  get done(): boolean {
    return this.at >= this.source.length;
  }

  /** Returns the next UTF-16 unit without reading it, or "" at the end. */
  peek(): string {
    return this.source.charAt(this.at);
  }

  /** Reads a whole character. REQUIRES: the pattern has not ended. */
  next(): string {
    const cp = this.source.codePointAt(this.at)!;
    if (isSurrogate(cp)) throw this.syntax("invalid UTF-8: a lone surrogate", this.at);
    const char = String.fromCodePoint(cp);
    this.at += char.length;
    return char;
  }

  /** Reads `text` if it comes next. Returns whether `text` was read. */
  take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  /** Reads the rest of an escape, and returns its code point. REQUIRES: the backslash at `start` has been read. */
  escape(start: number): number {
    if (this.done) throw this.syntax("trailing \\", start);
    const char = this.next();
    const control = CONTROL[char];
    if (control !== undefined) return control;
    if (char === "x") return this.#hexadecimal(start);
    if (char === "0" || (/[1-7]/.test(char) && /[0-7]/.test(this.peek()))) return this.#octal(char);
    if (/[1-9gk]/.test(char))
      throw this.syntax(
        `back-references are not supported, invalid escape sequence: \\${char}`,
        start,
      );
    if (char < "\x80" && !/[A-Za-z0-9]/.test(char)) return char.charCodeAt(0);
    throw this.#badEscape(start);
  }

  #hexadecimal(start: number): number {
    const found = /^(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/.exec(this.source.slice(this.at));
    const value = Number.parseInt(found?.[1] ?? found?.[2] ?? "", 16);
    if (!found || value > LAST) {
      this.#passHexadecimal();
      throw this.#badEscape(start);
    }
    this.at += found[0].length;
    return value;
  }

  /** Reads that part of an invalid hexadecimal escape which RE2 quotes in its error message. */
  #passHexadecimal(): void {
    if (!this.take("{")) {
      for (let i = 0; i < 2 && !this.done; i++) this.next();
      return;
    }
    for (let value = 0; value <= LAST && !this.done;) {
      const digit = Number.parseInt(this.next(), 16);
      if (Number.isNaN(digit)) break;
      value = 16 * value + digit;
    }
  }

  #octal(first: string): number {
    const rest = /^[0-7]{0,2}/.exec(this.source.slice(this.at, this.at + 2))![0];
    this.at += rest.length;
    return Number.parseInt(first + rest, 8);
  }

  #badEscape(start: number): QuernError {
    const end = Math.max(this.at, start + 2);
    return this.syntax(`invalid escape sequence: ${this.source.slice(start, end)}`, start);
  }

  syntax(message: string, position: number): QuernError {
    return new QuernError("REGEX_SYNTAX", `regular expression: ${message}`, { position });
  }

  tooLarge(message: string, position: number): QuernError {
    return new QuernError("REGEX_TOO_LARGE", `regular expression: ${message}`, { position });
  }
}
