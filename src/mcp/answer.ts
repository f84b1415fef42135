/**
 * The text of one answer, within its budget. Lines are counted one by one when they are added, so an answer
 * is never longer than its budget, and what is added first is what is shown. Room for the last line, which
 * tells what was left out, is kept from the beginning.
 */

import { tokenBound } from "./token-bound.ts";

export type CountTokens = (text: string) => number;

/** What the totals, the cursor and the state come to in structuredContent, and the line that tells what was left out. */
const KEPT = 110;

export class Answer {
  readonly #count: CountTokens;
  readonly #head: string[] = [];
  readonly #blocks: string[][] = [];
  readonly #tail: string[] = [];
  #left: number;

  constructor(maxTokens: number, count: CountTokens = tokenBound) {
    this.#count = count;
    this.#left = maxTokens - KEPT;
  }

  /** What a block of so many lines would take. */
  costOf(lines: readonly string[]): number {
    return lines.reduce((sum, line) => sum + this.#count(`${line}\n`), 0);
  }

  /** Whether there is room for lines; takes it if there is. */
  take(lines: readonly string[]): boolean {
    const cost = this.costOf(lines);
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }

  /** Lines that must not be missing, each cut to the room there is. */
  cut(lines: readonly string[]): string[] {
    return lines.map((line) => cutTo(line, (text) => this.take([text])));
  }

  /** The part of some lines that there is room for, from the first on. */
  takeSome(lines: readonly string[]): string[] {
    const taken: string[] = [];
    for (const line of lines) {
      if (!this.take([line])) break;
      taken.push(line);
    }
    return taken;
  }

  /** As takeSome(), but where not even the first line has room it is cut: so that an answer tells one at least. */
  fill(lines: readonly string[]): string[] {
    const taken = this.takeSome(lines);
    return taken.length > 0 ? taken : this.cut(lines.slice(0, 1));
  }

  /** A line that comes first, cut where there is no room for it. */
  head(line: string): void {
    const words = cutTo(line, (text) => this.take([text]));
    if (words !== "") this.#head.push(words);
  }

  /** Lines for which room was taken. */
  add(lines: readonly string[]): void {
    this.#blocks.push([...lines]);
  }

  /** The last line, for which room was kept. */
  tail(line: string): void {
    this.#tail.push(line);
  }

  get text(): string {
    return [...this.#head, ...this.#blocks.flat(), ...this.#tail].join("\n");
  }
}

/** The longest beginning of a line that is taken, in halves. */
function cutTo(line: string, take: (text: string) => boolean): string {
  if (take(line)) return line;
  for (let length = Math.floor(line.length / 2); length > 20; length = Math.floor(length / 2)) {
    const text = `${line.slice(0, length)}…`;
    if (take(text)) return text;
  }
  return "";
}

/** UTF-16 units of a line that are shown, most of them behind where the match begins. */
const SHOWN = 240;
const BEFORE = 60;

/** A line cut around the place where its match begins. */
export function cutLine(line: string, at: number): string {
  const text = line.trimEnd();
  if (text.length <= SHOWN) return text;
  const from = Math.max(0, Math.min(at - BEFORE, text.length - SHOWN));
  const to = Math.min(text.length, from + SHOWN);
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}
