/**
 * One expression made ready in one kernel. The automaton counts and locates; an expression that needs
 * ever new states, and whose matches each lie in one line, is taken over by RE2 in windows that end
 * at line ends. One that needs ever new states and crosses lines stays with the automaton, which then
 * builds a state a byte: slow, in time that grows with text and expression, with the budget asked on
 * the way.
 */

import type { Kernel } from "../kernel/kernel.ts";
import { Automaton, type Budget } from "./automaton.ts";
import type { Expression } from "./expression.ts";
import { newRangeList, shiftRanges, type RangeList } from "./range-list.ts";
import { scanLinesWithRe2 } from "./re2-lines.ts";
import { PLACES } from "./run.ts";

/** What finds an expression's matches in texts that lie in kernel memory. */
export interface Matcher {
  /**
   * Appends the ranges of all matches of the text [from, to), in order, relative to `from`, and returns
   * how many. They are RE2's: leftmost-first, not overlapping, no empty match that touches the match
   * before. `budget` is asked at least every 64 KiB of bytes run, with what was found so far in `out`;
   * when it says true that is the result, and `stopped` is set.
   * REQUIRES: the text is a whole file, or, unless the expression crosses lines, any whole lines of one.
   * A region of another kernel, or one that moves meanwhile, is not seen.
   */
  ranges(from: number, to: number, out: RangeList, budget?: Budget): number;
  /**
   * Appends the ranges of one text after another, as addresses: pairs (start, end) in a table of the
   * kernel's memory. A call for each would cost as much as half a KiB of text. REQUIRES: the
   * expression matches no empty text; else as for ranges().
   */
  rangesOfTexts(table: number, count: number, out: RangeList, budget?: Budget): number;
  /** How many ranges() would find: faster, as no start is looked for. */
  count(from: number, to: number, budget?: Budget): number;
  /** Whether the budget ended the last call. */
  readonly stopped: boolean;
}

const matchers = new WeakMap<Kernel, Map<string, LazyMatcher>>(); // the latest last

/** The same matcher for the same expression, while it is among the kernel's latest: as many as have a place. */
export function createMatcher(kernel: Kernel, expression: Expression): Matcher {
  let known = matchers.get(kernel);
  if (!known) matchers.set(kernel, (known = new Map()));
  const key = `${expression.caseSensitive}${expression.source}`;
  const matcher = known.get(key) ?? new LazyMatcher(kernel, expression);
  known.delete(key);
  known.set(key, matcher);
  for (const [oldest] of known) {
    if (known.size <= PLACES) break;
    known.delete(oldest);
  }
  return matcher;
}

class LazyMatcher implements Matcher {
  readonly #kernel: Kernel;
  readonly #expression: Expression;
  #automaton: Automaton | undefined;
  stopped = false;

  constructor(kernel: Kernel, expression: Expression) {
    this.#kernel = kernel;
    this.#expression = expression;
  }

  count(from: number, to: number, budget?: Budget): number {
    if (this.#isLate(budget)) return 0;
    if (!this.#isForRe2) {
      const count = this.#ready.count(from, to, budget);
      this.stopped = this.#ready.stopped;
      if (!this.#isForRe2) return count;
    }
    return this.#re2(from, to, newRangeList(), budget);
  }

  ranges(from: number, to: number, out: RangeList, budget?: Budget): number {
    if (this.#isLate(budget)) return 0;
    if (!this.#isForRe2) {
      const before = out.length;
      const count = this.#ready.ranges(from, to, out, budget);
      this.stopped = this.#ready.stopped;
      if (!this.#isForRe2) return count;
      out.length = before;
    }
    return this.#re2(from, to, out, budget);
  }

  rangesOfTexts(table: number, count: number, out: RangeList, budget?: Budget): number {
    if (this.#isLate(budget)) return 0;
    const before = out.length;
    if (!this.#isForRe2) {
      this.#ready.rangesOfTexts(table, count, out, budget);
      this.stopped = this.#ready.stopped;
      if (!this.#isForRe2) return out.length - before;
      out.length = before;
    }
    this.stopped = false;
    for (let text = table >>> 2; text < (table >>> 2) + 2 * count && !this.stopped; text += 2) {
      const first = out.length;
      const from = this.#kernel.words[text]!;
      this.#re2(from, this.#kernel.words[text + 1]!, out, budget);
      shiftRanges(out, first, from);
    }
    return out.length - before;
  }

  /** A large automaton takes up to 20 ms to build: it is not begun when time is up. */
  #isLate(budget: Budget | undefined): boolean {
    this.stopped = this.#automaton === undefined && (budget?.() ?? false);
    return this.stopped;
  }

  get #ready(): Automaton {
    return (this.#automaton ??= new Automaton(this.#kernel, this.#expression.syntax, {
      matchesEmpty: this.#expression.matchesEmpty,
      mayGiveUp: !this.#expression.crossesLines,
    }));
  }

  get #isForRe2(): boolean {
    return !this.#expression.crossesLines && this.#ready.isThrashing;
  }

  #re2(from: number, to: number, out: RangeList, budget: Budget | undefined): number {
    const before = out.length;
    const text = { start: from, end: to };
    const outcome = scanLinesWithRe2(this.#expression, this.#kernel.bytes, text, { out, budget });
    this.stopped = outcome === "stopped";
    if (outcome !== "line too long") return out.length - before;
    out.length = before;
    const patient = new Automaton(this.#kernel, this.#expression.syntax, { matchesEmpty: false });
    const count = patient.ranges(from, to, out, budget);
    this.stopped = patient.stopped;
    return count;
  }
}
