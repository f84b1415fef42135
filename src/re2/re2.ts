/**
 * RE2 as this library asks it: does it accept a pattern, and where in these bytes is its next match.
 *
 * There are up to two instances: a question that may have to be ended is asked of one with a meter,
 * which reads 0.6 times as fast and takes three times as long to load, any other of one without.
 *
 * Patterns are compiled once and kept, a few at a time: each may grow a cache of some MiB in a heap
 * of 11. An instance that is ended is thrown away. One that aborts is thrown away with its patterns,
 * and the question asked once more of a fresh one (5 ms); one that aborts a fresh instance too is too
 * large.
 *
 * RE2 counts a match's start in "units", by the first byte alone: 0xC2…0xDF two bytes, and so on,
 * whether or not the following bytes belong to it. In valid UTF-8 units are characters. Where a unit
 * may hold the start anywhere inside (invalid bytes, \C, \B), a second question, anchored at the
 * beginning, gives the end in bytes, and the length of the match is always exact.
 */

import { QuernError } from "../base/errors.ts";
import { LruCache } from "../base/lru-cache.ts";
import { isWord } from "../regex/byte-classes.ts";
import type { ExpressionSource } from "../regex/expression.ts";
import type { Span } from "../regex/iterate.ts";
import { Re2Aborted, Re2Module, Re2Stopped } from "./module.ts";

/** RE2 reads at most this much in one call: two copies must fit into its heap. */
export const RE2_INPUT_LIMIT = 1 << 20;
const PATTERNS_KEPT = 6;
// RE2 is done with such a pattern, compiling included, and so many steps in it (its size times the bytes of text) in 15 ms, whatever they are
const SMALL = 500;
const FEW_STEPS = 500_000;

/** Asked now and then while RE2 compiles and runs; undefined: there is time for all of it. */
export type MustEnd = (() => boolean) | undefined;

/** How many instances have been thrown away: tests look at it. */
export let instancesLost = 0;

class Instance {
  readonly #isMetered: boolean;
  #module: Re2Module | undefined;
  /** Of the question that is being asked. */
  #mustEnd: MustEnd;
  readonly #handles = new LruCache<string, number>({
    most: PATTERNS_KEPT,
    onEvict: (handle) => this.module.release(handle),
  });

  constructor(isMetered: boolean) {
    this.#isMetered = isMetered;
  }

  /** REQUIRES: within a question. */
  get module(): Re2Module {
    return (this.#module ??= new Re2Module(
      this.#isMetered ? () => this.#mustEnd?.() ?? false : undefined,
    ));
  }

  /** Asks once more where the instance aborts. Throws Re2Stopped where it must end. */
  ask<T>(question: () => T, mustEnd?: MustEnd): T {
    this.#mustEnd = mustEnd;
    try {
      return question();
    } catch (error) {
      this.#forget();
      if (!(error instanceof Re2Aborted)) throw error;
    }
    try {
      return question();
    } catch (error) {
      this.#forget();
      if (!(error instanceof Re2Aborted)) throw error;
      throw new QuernError("REGEX_TOO_LARGE", "regular expression: too large for RE2's memory", {
        cause: error,
      });
    }
  }

  /** REQUIRES: within a question. What RE2 refuses matches nothing in it: that must not pass for an answer. */
  accepted(pattern: string, caseSensitive: boolean): number {
    const isNew = !this.#handles.has(`${caseSensitive}${pattern}`);
    const handle = this.handle(pattern, caseSensitive);
    const refusal = isNew ? this.module.error(handle) : undefined;
    if (refusal !== undefined) throw new Re2Aborted(refusal);
    return handle;
  }

  /** REQUIRES: within a question. */
  handle(pattern: string, caseSensitive: boolean): number {
    const key = `${caseSensitive}${pattern}`;
    return this.#handles.getOrMake(key, () =>
      this.module.compile(Buffer.from(pattern), !caseSensitive),
    );
  }

  #forget(): void {
    this.#module = undefined;
    this.#handles.clear();
    instancesLost++;
  }
}

const plain = new Instance(false);
const withMeter = new Instance(true);

function instanceFor(
  { size = Infinity }: ExpressionSource,
  bytes: number,
  mustEnd: MustEnd,
): Instance {
  if (!mustEnd) return plain;
  if (size > SMALL || size * bytes > FEW_STEPS) return withMeter;
  if (mustEnd()) throw new Re2Stopped("there is no time left to ask RE2");
  return plain;
}

/** RE2's reason to refuse a pattern, undefined if it accepts: the slow twin of parser and limits. `^` and `$` match at line ends. */
export function re2Refusal({ source, caseSensitive }: ExpressionSource): string | undefined {
  return plain.ask(() => {
    const { module } = plain;
    const handle = module.compile(Buffer.from(`(?m)${source}`), !caseSensitive);
    const error = module.error(handle);
    module.release(handle);
    return error?.replace(": (?m)", ": ");
  });
}

/**
 * The next match at or after `from` in the text [start, end) of `bytes`. Throws Re2Stopped where it must
 * end. REQUIRES: the expression is accepted; end - from < RE2_INPUT_LIMIT.
 */
export function re2Find(
  expression: ExpressionSource,
  bytes: Uint8Array,
  text: Span,
  from: number,
  mustEnd?: MustEnd,
): Span | undefined {
  const [window, skipped] = windowOf(bytes, text, from);
  const instance = instanceFor(expression, window.length, mustEnd);
  return instance.ask(() => {
    const handle = instance.accepted(`(?m)${expression.source}`, expression.caseSensitive);
    const { index, lengths } = instance.module.match(handle, window, skipped, false);
    if (index < 0) return undefined;
    let at = 0;
    let size = 1;
    for (let unit = 0; unit < index; unit++) {
      size = unitSize(window[at]!);
      at += size;
    }
    const isExact = size === 1 || (isWhole(window, at - size, at) && !mayTear(expression.source));
    const start = isExact ? at : anchoredEnd(instance, expression, window, skipped) - lengths[0]!;
    return { start: start - skipped + from, end: start - skipped + from + lengths[0]! };
  }, mustEnd);
}

/** The text from `from` on, behind one byte that stands for its left neighbour: assertions see no more. */
function windowOf(bytes: Uint8Array, text: Span, from: number): [Uint8Array, number] {
  if (from === text.start) return [bytes.subarray(from, text.end), 0];
  const before = bytes[from - 1]!;
  const window = new Uint8Array(text.end - from + 1);
  window[0] = before === 10 ? 10 : isWord(before) ? 97 : 32;
  window.set(bytes.subarray(from, text.end), 1);
  return [window, 1];
}

const unitSize = (lead: number) => ((0xe5000000 >>> ((lead >> 3) & 0x1e)) & 3) + 1;

function isWhole(window: Uint8Array, from: number, to: number): boolean {
  for (let at = from + 1; at < to; at++) if ((window[at]! & 0xc0) !== 0x80) return false;
  return to <= window.length;
}

const mayTear = (source: string) => /\\[CB]/.test(source);

function anchoredEnd(
  instance: Instance,
  { source, caseSensitive }: ExpressionSource,
  window: Uint8Array,
  skipped: number,
): number {
  const prefix = skipped === 0 ? "\\A\\C*?(?m:" : "\\A\\C\\C*?(?m:";
  for (const closing of [")", "\\E)"]) {
    const handle = instance.handle(prefix + source + closing, caseSensitive);
    if (instance.module.error(handle) === undefined)
      return instance.module.match(handle, window, 0, false).lengths[0]!;
  }
  throw new QuernError("INTERNAL", `no anchored form of the expression ${source}`);
}
