/**
 * Where any of several expressions matches, in one pass: the automaton of their alternation. It does
 * not say which of them; each is then run on the few lines that hold a place, where its own ranges are
 * the same as in the whole text. For expressions that do not cross lines and that nothing narrows down:
 * where literals do, looking for those is faster still.
 *
 * Milliseconds for 16 MB of C headers, one pass for each against one for all with the lines behind it:
 *
 *     2 rare expressions without literals                35      15
 *     3 with Unicode classes, in 1 500 lines             45      18
 *     6 for keys, addresses and numbers, 322 lines       89      17
 *     8 of the form word.*word, 1 458 states            121      23
 *     10 for keys, 4 934 states                         148      55
 *     16 of the form word.*word, states without end     237   5 586
 *     [a-z]{20}, [A-Z]{20}, a line in 4 KB               30      20
 *     [aeiou].{5}[xyz] and another, a line in 360 bytes  32      68
 *
 * Hence the limits: a few expressions, no more places than one in so many bytes, and no automaton that
 * fills its tables over and over. What is over them runs by itself.
 */

import { LruCache } from "../base/lru-cache.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Node } from "./ast.ts";
import { Automaton, automatonSteps, type Budget } from "./automaton.ts";
import type { Expression } from "./expression.ts";
import { countNodes, NODE_LIMIT } from "./program.ts";
import { newRangeList } from "./range-list.ts";
import { takeAll } from "./steps.ts";

/** More share no pass: the states of an alternation may multiply, and a kernel runs 12 automata at once. */
const MOST = 8;
/** A run over one line costs about as much as so many bytes of a long one. */
const BYTES_A_RUN = 1024;
/** The density counts from here on: before that one match would decide. */
const SAMPLE = 64 * 1024;

const KEPT = 4; // a kernel
const automata = new WeakMap<Kernel, LruCache<string, Automaton>>();

/** Whether an expression may take part. */
export const mayShare = ({ crossesLines }: Expression): boolean => !crossesLines;

export class SharedPass {
  readonly #automaton: Automaton;
  readonly #bytesAPlace: number;
  readonly #found = newRangeList();
  #bytes = 0;
  #places = 0;

  /** undefined: they are too few, or too many. REQUIRES: each may share. */
  static of(kernel: Kernel, expressions: readonly Expression[]): SharedPass | undefined {
    if (expressions.length < 2 || expressions.length > MOST) return undefined;
    if (countNodes(alternationOf(expressions)) > NODE_LIMIT) return undefined;
    return new SharedPass(kernel, expressions);
  }

  private constructor(kernel: Kernel, expressions: readonly Expression[]) {
    this.#automaton = automatonOf(kernel, expressions);
    this.#bytesAPlace = BYTES_A_RUN * expressions.length;
  }

  /** Whether places lie so close, or states are so many, that each expression is better run by itself. */
  get isIdle(): boolean {
    return this.#automaton.isThrashing || this.#isDense(this.#bytes, this.#places);
  }

  /**
   * Places in the text [from, to), ascending: a line holds one if and only if some expression matches
   * in it. undefined: it is not known, run each on the whole text. REQUIRES: as for Matcher.ranges().
   */
  places(from: number, to: number, budget: Budget = () => false): Uint32Array | undefined {
    if (this.isIdle) return undefined;
    const found = this.#found;
    found.length = 0;
    let run = 0;
    const isTooDense = () => this.#isDense((run += SAMPLE), found.length);
    this.#automaton.ranges(from, to, found, () => budget() || isTooDense());
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

/** The same for the same expressions, while it is among the latest: its states need not be built anew. */
function automatonOf(kernel: Kernel, expressions: readonly Expression[]): Automaton {
  let known = automata.get(kernel);
  if (!known) automata.set(kernel, (known = new LruCache({ most: KEPT })));
  const key = JSON.stringify(expressions.map((each) => [each.source, each.caseSensitive]));
  return known.getOrMake(
    key,
    () => new Automaton(kernel, takeAll(automatonSteps(alternationOf(expressions))), false),
  );
}
