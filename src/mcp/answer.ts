/**
 * Writes the text of one answer within a budget of tokens. Each line is charged to the budget before it is added, so
 * an answer never exceeds its budget. The last line says what was left out. The tokens for the last line are reserved
 * from the beginning.
 *
 * An answer consists of quern's own words, which head(), say() and tail() add, and lines of repositories, which add()
 * adds. delimit.ts defines how a reader tells them apart.
 */

import { firstIndex } from "../base/binary-search.ts";
import { contentLine, ownLine } from "./delimit.ts";
import { MASK } from "../overlay/mask.ts";
import { tokenBound } from "./token-bound.ts";

export type CountTokens = (text: string) => number;

/** Occurs in each line that shows a masked value. */
const MASKED = MASK.repeat(4);
/** A line that takes as many tokens as the last line of most answers. */
const LAST_LINE = 'Not all shown. The next ones: cursor "123456789012"';
/** The share of the budget that may stay unused. If a larger share is left, the beginning of the next line is added. */
const UNUSED = 0.04;
/** The minimum number of UTF-16 units of a cut line. A shorter line would be useless, and is left out. */
const LEAST_CUT = 12;
/**
 * The maximum number of UTF-16 units of a line passed to head(). The limit is needed because such a line may quote a
 * long request, and cutting a line counts its tokens a dozen times.
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
  #saysMasked = false;

  /** Reserves as many tokens for the last line as `lastLine` takes. */
  constructor(maxTokens: number, count: CountTokens = tokenBound, lastLine = LAST_LINE) {
    this.#count = count;
    this.#budget = maxTokens;
    this.#kept = this.#costOf([ownLine(lastLine)]);
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

  /** Charges the budget for lines of a repository if they fit. Returns whether they did. */
  take(lines: readonly string[]): boolean {
    return this.#charge(lines.map(contentLine));
  }

  #charge(lines: readonly string[]): boolean {
    const cost = this.#costOf(lines);
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }

  /**
   * Charges the budget for a line of a repository, or for as much of its beginning as fits. Returns the text that was
   * charged, or `""` if nothing fits.
   */
  takeCut(line: string): string {
    return this.#chargeCut(contentLine(line));
  }

  #chargeCut(line: string): string {
    if (this.#charge([line])) return line;
    const isTooLong = (end: number) => this.#costOf([beginningOf(line, end)]) > this.#left;
    const length = firstIndex(1, line.length, isTooLong) - 1;
    const cut = beginningOf(line, length);
    return length >= LEAST_CUT && this.#charge([cut]) ? cut : "";
  }

  /**
   * Charges the budget for one line after another, until a line does not fit. Returns the charged lines. If not even
   * the first line fits, cuts it.
   */
  takeSome(lines: readonly string[]): string[] {
    const end = lines.findIndex((line) => !this.take([line]));
    if (end < 0) return [...lines];
    const cut = end === 0 ? this.takeCut(lines[0]!) : "";
    return cut === "" ? lines.slice(0, end) : [cut];
  }

  /**
   * Charges the budget and returns lines as takeSome() does. If many tokens are left, adds the beginning of the next
   * line.
   */
  fillWith(lines: readonly string[]): string[] {
    const taken = this.takeSome(lines);
    const next = lines[taken.length];
    const cut = next !== undefined && taken.length > 0 && this.isRoomy ? this.takeCut(next) : "";
    return cut === "" ? taken : [...taken, cut];
  }

  /** Charges the budget for own words at the beginning of the answer, and adds them. If they do not fit, cuts them. */
  head(words: string): void {
    const line = this.#chargeCut(
      ownLine(words.length > MOST_HEAD ? beginningOf(words, MOST_HEAD) : words),
    );
    if (line !== "") this.#head.push(line);
  }

  /** Charges the budget for own words, and adds them after what was added before, one line after another while they fit. */
  say(words: readonly string[]): void {
    const lines: string[] = [];
    for (const line of words.map(ownLine)) {
      if (!this.#charge([line])) break;
      lines.push(line);
    }
    this.#blocks.push(lines);
  }

  /** Adds lines of a repository that were already charged to the budget. */
  add(lines: readonly string[]): void {
    if (!this.#saysMasked && lines.some((line) => line.includes(MASKED))) {
      this.#saysMasked = true;
      this.head(`${MASKED}… is the mask of a value that looks like a secret.`);
    }
    this.#blocks.push(lines.map(contentLine));
  }

  /** Adds own words as the last line, for which tokens were reserved. REQUIRES: called at most once. */
  tail(words: string): void {
    this.#left += this.#kept;
    this.#kept = 0;
    const line = this.#chargeCut(ownLine(words));
    if (line !== "") this.#tail.push(line);
  }

  get text(): string {
    return [...this.#head, ...this.#blocks.flat(), ...this.#tail].join("\n");
  }
}

const beginningOf = (line: string, length: number): string => `${stretchOf(line, 0, length)}…`;

/**
 * Returns the part of a text from `from` to `to`. If only one half of a surrogate pair is in this part, leaves that
 * half out.
 */
function stretchOf(text: string, from: number, to: number): string {
  const begin = isLow(text.charCodeAt(from)) ? from + 1 : from;
  return text.slice(begin, isLow(text.charCodeAt(to)) ? to - 1 : to);
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** The number of UTF-16 units to which a longer line is cut by default. */
export const SHOWN = 240;
/** The share of a cut line that comes before its match. */
const BEFORE = 1 / 4;

/** Cuts a line to `shown` UTF-16 units. Keeps the text around `at`, the offset at which the match begins. */
export function cutLine(line: string, at: number, shown = SHOWN): string {
  const text = line.trimEnd();
  if (text.length <= shown) return text;
  const from = Math.max(0, Math.min(at - Math.floor(shown * BEFORE), text.length - shown));
  const to = Math.min(text.length, from + shown);
  const cut = stretchOf(text, from, to);
  return `${from > 0 ? "…" : ""}${cut}${to < text.length ? "…" : ""}`;
}
