/**
 * The text of one answer, within its budget. Lines are counted one by one when they are added, so an answer
 * is never longer than its budget, and what is added first is what is shown. Room for the last line, which
 * tells what was left out, is kept from the beginning.
 */

import { tokenBound } from "./token-bound.ts";

export type CountTokens = (text: string) => number;

/** As long as the last line is in most answers. */
const LAST_LINE = 'Not all shown. The next ones: cursor "123456789012"';
/** More room than this part of the budget is filled with a part of a line. */
const UNUSED = 0.04;
/** Less than so many UTF-16 units of a line tell nothing. */
const LEAST_CUT = 12;
/** UTF-16 units of a first line, which may quote what was asked: to cut a line it is counted a dozen times. */
const MOST_HEAD = 1_000;

export class Answer {
  readonly #count: CountTokens;
  readonly #budget: number;
  readonly #head: string[] = [];
  readonly #blocks: string[][] = [];
  readonly #tail: string[] = [];
  #left: number;
  #kept: number;

  /** `lastLine`: as long as the last line may be. */
  constructor(maxTokens: number, count: CountTokens = tokenBound, lastLine = LAST_LINE) {
    this.#count = count;
    this.#budget = maxTokens;
    this.#kept = this.#costOf([lastLine]);
    this.#left = maxTokens - this.#kept;
  }

  #costOf(lines: readonly string[]): number {
    return lines.reduce((sum, line) => sum + this.#count(`${line}\n`), 0);
  }

  /** Whether so much room is left that a part of what does not fit should be told. */
  get isRoomy(): boolean {
    return this.#left > this.#budget * UNUSED;
  }

  /** Whether there is room for lines; takes it if there is. */
  take(lines: readonly string[]): boolean {
    const cost = this.#costOf(lines);
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }

  /** Takes the room of a line, or of its beginning; `""`: there is none. */
  takeCut(line: string): string {
    if (this.take([line])) return line;
    let [least, most] = [0, line.length];
    while (most - least > 1) {
      const middle = (least + most) >> 1;
      if (this.#costOf([beginningOf(line, middle)]) <= this.#left) least = middle;
      else most = middle;
    }
    const cut = beginningOf(line, least);
    return least >= LEAST_CUT && this.take([cut]) ? cut : "";
  }

  /** The part of some lines that there is room for, from the first on; one that has no room by itself is cut. */
  takeSome(lines: readonly string[]): string[] {
    const end = lines.findIndex((line) => !this.take([line]));
    if (end < 0) return [...lines];
    const cut = end === 0 ? this.takeCut(lines[0]!) : "";
    return cut === "" ? lines.slice(0, end) : [cut];
  }

  /** As takeSome(), and the next one is cut where much room is left. */
  fillWith(lines: readonly string[]): string[] {
    const taken = this.takeSome(lines);
    const next = lines[taken.length];
    const cut = next !== undefined && taken.length > 0 && this.isRoomy ? this.takeCut(next) : "";
    return cut === "" ? taken : [...taken, cut];
  }

  /** A line that comes first, cut where there is no room for it. */
  head(line: string): void {
    const words = this.takeCut(line.length > MOST_HEAD ? beginningOf(line, MOST_HEAD) : line);
    if (words !== "") this.#head.push(words);
  }

  /** Lines for which room was taken. */
  add(lines: readonly string[]): void {
    this.#blocks.push([...lines]);
  }

  /** The last line, for which room was kept. Called once. */
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

/** A part of a text, without halves of characters that take two units. */
function stretchOf(text: string, from: number, to: number): string {
  const begin = isLow(text.charCodeAt(from)) ? from + 1 : from;
  return text.slice(begin, isLow(text.charCodeAt(to)) ? to - 1 : to);
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** UTF-16 units of a line that are shown at most. */
export const SHOWN = 240;
/** A fourth of them stand before the match. */
const BEFORE = 1 / 4;

/** A line cut around the place where its match begins. */
export function cutLine(line: string, at: number, shown = SHOWN): string {
  const text = line.trimEnd();
  if (text.length <= shown) return text;
  const from = Math.max(0, Math.min(at - Math.floor(shown * BEFORE), text.length - shown));
  const to = Math.min(text.length, from + shown);
  const cut = stretchOf(text, from, to);
  return `${from > 0 ? "…" : ""}${cut}${to < text.length ? "…" : ""}`;
}
