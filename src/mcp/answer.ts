/**
 * Writes the text of one answer, within its budget. The budget is charged for each line as it is added, so an answer
 * never exceeds its budget, and lines that are added first are shown first. The last line says what was left out. Its
 * tokens are reserved from the beginning.
 */

import { firstIndex } from "../base/binary-search.ts";
import { tokenBound } from "./token-bound.ts";

export type CountTokens = (text: string) => number;

/** A line as long as the last line of most answers. */
const LAST_LINE = 'Not all shown. The next ones: cursor "123456789012"';
/** The part of the budget that may stay unused. If more is left, a line is cut to use it. */
const UNUSED = 0.04;
/** The minimum number of UTF-16 units that a cut line must have to be useful. */
const LEAST_CUT = 12;
/**
 * The maximum number of UTF-16 units of a first line, which may quote the request. It is limited because cutting a line
 * counts its tokens a dozen times.
 */
const MOST_HEAD = 1_000;

export class Answer {
  readonly #count: CountTokens;
  readonly #budget: number;
  readonly #head: string[] = [];
  readonly #blocks: string[][] = [];
  readonly #tail: string[] = [];
  #left: number;
  #kept: number;

  /** Reserves as many tokens for the last line as `lastLine` takes. */
  constructor(maxTokens: number, count: CountTokens = tokenBound, lastLine = LAST_LINE) {
    this.#count = count;
    this.#budget = maxTokens;
    this.#kept = this.#costOf([lastLine]);
    this.#left = maxTokens - this.#kept;
  }

  #costOf(lines: readonly string[]): number {
    return lines.reduce((sum, line) => sum + this.#count(`${line}\n`), 0);
  }

  /** How many tokens are left. */
  get left(): number {
    return this.#left;
  }

  /** Whether enough tokens are left to show a part of something that does not fit as a whole. */
  get isRoomy(): boolean {
    return this.#left > this.#budget * UNUSED;
  }

  /** Charges the budget for the lines if they fit. Returns whether they did. */
  take(lines: readonly string[]): boolean {
    const cost = this.#costOf(lines);
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }

  /**
   * Charges the budget for a line, or for as much of its beginning as fits. Returns that text, or `""` if nothing
   * fits.
   */
  takeCut(line: string): string {
    if (this.take([line])) return line;
    const isTooLong = (end: number) => this.#costOf([beginningOf(line, end)]) > this.#left;
    const length = firstIndex(1, line.length, isTooLong) - 1;
    const cut = beginningOf(line, length);
    return length >= LEAST_CUT && this.take([cut]) ? cut : "";
  }

  /**
   * Charges the budget for the first lines that fit, and returns these lines. If not even the first line fits, it is
   * cut.
   */
  takeSome(lines: readonly string[]): string[] {
    const end = lines.findIndex((line) => !this.take([line]));
    if (end < 0) return [...lines];
    const cut = end === 0 ? this.takeCut(lines[0]!) : "";
    return cut === "" ? lines.slice(0, end) : [cut];
  }

  /** Charges the budget and returns lines as takeSome() does, and also cuts the next line if many tokens are left. */
  fillWith(lines: readonly string[]): string[] {
    const taken = this.takeSome(lines);
    const next = lines[taken.length];
    const cut = next !== undefined && taken.length > 0 && this.isRoomy ? this.takeCut(next) : "";
    return cut === "" ? taken : [...taken, cut];
  }

  /** Adds a line at the beginning, cut if it does not fit. */
  head(line: string): void {
    const words = this.takeCut(line.length > MOST_HEAD ? beginningOf(line, MOST_HEAD) : line);
    if (words !== "") this.#head.push(words);
  }

  /** Adds lines that were already charged. */
  add(lines: readonly string[]): void {
    this.#blocks.push([...lines]);
  }

  /** Adds the last line, whose tokens were reserved. Called once. */
  tail(line: string): void {
    this.#left += this.#kept;
    this.#kept = 0;
    const words = this.takeCut(line);
    if (words !== "") this.#tail.push(words);
  }

  get text(): string {
    return [...this.#head, ...this.#blocks.flat(), ...this.#tail].join("\n");
  }
}

const beginningOf = (line: string, length: number): string => `${stretchOf(line, 0, length)}…`;

/** Returns a part of a text, without halves of surrogate pairs. */
function stretchOf(text: string, from: number, to: number): string {
  const begin = isLow(text.charCodeAt(from)) ? from + 1 : from;
  return text.slice(begin, isLow(text.charCodeAt(to)) ? to - 1 : to);
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** The maximum number of UTF-16 units of a line that are shown. */
export const SHOWN = 240;
/** The share of SHOWN that comes before the match. */
const BEFORE = 1 / 4;

/** Cuts a line around the position where its match begins. */
export function cutLine(line: string, at: number, shown = SHOWN): string {
  const text = line.trimEnd();
  if (text.length <= shown) return text;
  const from = Math.max(0, Math.min(at - Math.floor(shown * BEFORE), text.length - shown));
  const to = Math.min(text.length, from + shown);
  const cut = stretchOf(text, from, to);
  return `${from > 0 ? "…" : ""}${cut}${to < text.length ? "…" : ""}`;
}
