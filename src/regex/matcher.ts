/** Matches expressions in one kernel, and caches the automata of recent expressions. */

import { LruCache } from "../base/lru-cache.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { Automaton, automatonSteps } from "./automaton.ts";
import type { Budget, Limits } from "./limits.ts";
import type { Expression } from "./expression.ts";
import type { RangeList } from "./range-list.ts";
import { PLACES } from "./run.ts";
import { takeAll, type Steps } from "../base/steps.ts";

/** Finds the matches of one expression in texts that are in the kernel's memory. */
export interface Matcher {
  /**
   * Finds all matches in the text between `from` (inclusive) and `to` (exclusive), and appends their ranges to `out`, in
   * order and relative to `from`. Returns the number of these ranges. The matches are those of RE2, so they are
   * leftmost-first and do not overlap, and no empty match touches the previous match. Whenever the run calls
   * `limits.budget`, `out` already has all ranges that were found so far. If the budget ends the run, no more ranges are
   * found, and `stopped` is set. If the run is paused, `paused` is set, and resume() continues the run.
   * REQUIRES: the text is a whole file, or whole lines of a file if no match of the expression can cross a line end.
   * The text must be in this kernel's memory, and must not move during the run.
   */
  ranges(from: number, to: number, out: RangeList, limits?: Limits): number;
  /**
   * Appends the ranges of several texts to `out`, one text after another, as addresses. `table` is the address of a
   * table in the kernel's memory, which has a pair (start, end) for each text. If ranges() were called for each text
   * instead, each call would cost as much time as reading half a KiB more.
   * REQUIRES: what ranges() requires, and the expression matches no empty text.
   */
  rangesOfTexts(table: number, count: number, out: RangeList, limits?: Limits): number;
  /**
   * Continues a paused run. Returns the number of further ranges. REQUIRES: since the pause, no other expression has
   * run in this kernel, and the kernel's memory has not changed.
   */
  resume(out: RangeList, limits: Limits): number;
  /** Counts the matches. This is faster than ranges(), because the starts of the matches are not needed. */
  count(from: number, to: number, budget?: Budget): number;
  /** Finds in steps whether there is a match in a text, which need not be in the kernel's memory. */
  occursSteps(text: Uint8Array): Steps<boolean>;
  /** Whether the budget ended the last call. */
  readonly stopped: boolean;
  /** Whether the last call was paused. */
  readonly paused: boolean;
  /** Builds the automaton in steps. Without this call, the first run builds it at once. */
  prepare(): Steps<void>;
}

const matchers = new WeakMap<Kernel, LruCache<string, LazyMatcher>>();

/** Returns the matcher of an expression. A kernel caches as many recent matchers as it has places for automata. */
export function createMatcher(kernel: Kernel, expression: Expression): Matcher {
  let known = matchers.get(kernel);
  if (!known) matchers.set(kernel, (known = new LruCache({ most: PLACES })));
  const key = `${expression.caseSensitive}${expression.source}`;
  return known.getOrMake(key, () => new LazyMatcher(kernel, expression));
}

class LazyMatcher implements Matcher {
  readonly #kernel: Kernel;
  readonly #expression: Expression;
  #automaton: Automaton | undefined;
  stopped = false;
  paused = false;

  constructor(kernel: Kernel, expression: Expression) {
    this.#kernel = kernel;
    this.#expression = expression;
  }

  count(from: number, to: number, budget?: Budget): number {
    return this.#run(budget, (automaton) => automaton.count(from, to, budget));
  }

  ranges(from: number, to: number, out: RangeList, limits?: Limits): number {
    return this.#run(limits?.budget, (automaton) => automaton.ranges(from, to, out, limits));
  }

  rangesOfTexts(table: number, count: number, out: RangeList, limits?: Limits): number {
    const run = (automaton: Automaton) => automaton.rangesOfTexts(table, count, out, limits);
    return this.#run(limits?.budget, run);
  }

  resume(out: RangeList, limits: Limits): number {
    return this.#run(limits.budget, (automaton) => automaton.resume(out, limits));
  }

  *occursSteps(text: Uint8Array): Steps<boolean> {
    yield* this.prepare();
    return yield* this.#automaton!.occursSteps(text);
  }

  *prepare(): Steps<void> {
    this.#automaton ??= yield* this.#build();
  }

  *#build(): Steps<Automaton> {
    const { syntax, matchesEmpty } = this.#expression;
    return new Automaton(this.#kernel, yield* automatonSteps(syntax), matchesEmpty);
  }

  /**
   * Runs the automaton, and builds it first if necessary. If the budget is already used up, does not build the
   * automaton, because building a large one takes up to 20 ms.
   */
  #run(budget: Budget | undefined, run: (automaton: Automaton) => number): number {
    this.paused = false;
    this.stopped = this.#automaton === undefined && (budget?.() ?? false);
    if (this.stopped) return 0;
    this.#automaton ??= takeAll(this.#build());
    const found = run(this.#automaton);
    this.stopped = this.#automaton.stopped;
    this.paused = this.#automaton.paused;
    return found;
  }
}
