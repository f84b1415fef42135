/**
 * Finds the lines in which at least one of several expressions matches. One pass runs the automaton of an alternation
 * of all these expressions. Each expression then runs only on the lines that were found, where its ranges are the
 * same as in the whole text. A shared pass is for expressions that do not cross lines and have no required literals.
 * If an expression has required literals, searching for these literals is faster.
 *
 * The table shows milliseconds for 16 MB of C headers. The first column is for one pass per expression. The second
 * column is for one shared pass and a run of each expression over the lines that were found.
 *
 *     2 rare expressions without literals                35      15
 *     3 with Unicode classes, in 1 500 lines             45      18
 *     6 for keys, addresses and numbers, 322 lines       89      17
 *     8 of the form word.*word, 1 458 states            121      23
 *     10 for keys, 4 934 states                         148      55
 *     16 of the form word.*word, ever more states       237   5 586
 *     [a-z]{20}, [A-Z]{20}, one line per 4 KB matches    30      20
 *     [aeiou].{5}[xyz] and another, one per 360 bytes    32      68
 *
 * Because of these results, a shared pass is limited to few expressions, few matches per byte, and automata that do
 * not fill their tables repeatedly. Beyond these limits, each expression runs by itself.
 */

import { LruCache } from "../base/lru-cache.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Node } from "./ast.ts";
import { Automaton, automatonSteps } from "./automaton.ts";
import type { Budget } from "./limits.ts";
import type { Expression } from "./expression.ts";
import { countNodes, NODE_LIMIT } from "./program.ts";
import { newRangeList } from "./range-list.ts";
import { takeAll } from "../base/steps.ts";

/**
 * The maximum number of expressions that share a pass. The numbers of states of several expressions may multiply in
 * their alternation. Also, a kernel has places for only 12 automata, and each expression needs one of these places
 * for itself.
 */
const MOST = 8;
/** A run over one line takes about as long as reading this many bytes of a long text. */
const BYTES_A_RUN = 1024;
/**
 * The number of bytes after which the density of matches is judged. With fewer bytes, a single match could decide.
 */
const SAMPLE = 64 * 1024;

const KEPT = 4; // the number of automata that are cached for each kernel
const automata = new WeakMap<Kernel, LruCache<string, Automaton>>();

/** Returns whether a shared pass may include an expression. */
export const mayShare = ({ crossesLines }: Expression): boolean => !crossesLines;

export class SharedPass {
  readonly #automaton: Automaton;
  readonly #bytesAPlace: number;
  readonly #found = newRangeList();
  #bytes = 0;
  #places = 0;

  /**
   * Returns the shared pass of several expressions, or undefined if there are too few or too many expressions.
   * REQUIRES: mayShare() is true for each expression.
   */
  static of(kernel: Kernel, expressions: readonly Expression[]): SharedPass | undefined {
    if (expressions.length < 2 || expressions.length > MOST) return undefined;
    if (countNodes(alternationOf(expressions)) > NODE_LIMIT) return undefined;
    return new SharedPass(kernel, expressions);
  }

  private constructor(kernel: Kernel, expressions: readonly Expression[]) {
    this.#automaton = automatonOf(kernel, expressions);
    this.#bytesAPlace = BYTES_A_RUN * expressions.length;
  }

  /** Whether each expression should run by itself, because matches are too dense or there are too many states. */
  get isIdle(): boolean {
    return this.#automaton.isThrashing || this.#isDense(this.#bytes, this.#places);
  }

  /**
   * Returns positions in the text [from, to), in ascending order. A line contains such a position if and only if at
   * least one expression matches in the line. Returns undefined if the pass gave up. In this case, each expression
   * must run on the whole text. REQUIRES: what Matcher.ranges() requires.
   */
  places(from: number, to: number, budget: Budget = () => false): Uint32Array | undefined {
    if (this.isIdle) return undefined;
    const found = this.#found;
    found.length = 0;
    let run = 0;
    const isTooDense = () => this.#isDense((run += SAMPLE), found.length);
    this.#automaton.ranges(from, to, found, { budget: () => budget() || isTooDense() });
    this.#bytes += this.#automaton.stopped ? run : to - from;
    this.#places += found.length;
    if (this.#automaton.stopped || this.isIdle) return undefined;
    return Uint32Array.from({ length: found.length }, (_, i) => from + found.data[2 * i]!);
  }

  #isDense(bytes: number, places: number): boolean {
    return places * this.#bytesAPlace > Math.max(bytes, SAMPLE);
  }
}

const alternationOf = (expressions: readonly Expression[]): Node => ({
  kind: "alternate",
  children: expressions.map(({ syntax }) => syntax),
});

/**
 * Returns the automaton of an alternation of the expressions. The automata of recent calls are cached, so that their
 * states are kept.
 */
function automatonOf(kernel: Kernel, expressions: readonly Expression[]): Automaton {
  let known = automata.get(kernel);
  if (!known) automata.set(kernel, (known = new LruCache({ most: KEPT })));
  const key = JSON.stringify(expressions.map((each) => [each.source, each.caseSensitive]));
  return known.getOrMake(
    key,
    () => new Automaton(kernel, takeAll(automatonSteps(alternationOf(expressions))), false),
  );
}
