/**
 * Asks RE2 where the next match of a pattern in a text is.
 *
 * There are up to two instances of RE2. A question that may have to be stopped goes to an instance with a meter. All
 * other questions go to an instance without a meter. The instance with a meter runs at 0.6 times the speed of the
 * other, and takes three times as long to load.
 *
 * Only a few compiled patterns are cached, because each may have a cache of several MiB in a heap of 11 MiB. An
 * instance that was stopped or has aborted is dropped together with its patterns. After an abort, the question is asked
 * again in a new instance, which takes 5 ms to create. If the new instance aborts as well, the pattern is too large.
 *
 * RE2 reports the length of a match in bytes, but its start in "units". The length of a unit depends only on its first
 * byte. For instance, a unit that begins with 0xC2 to 0xDF has two bytes, whatever the second byte is. In valid UTF-8,
 * units are characters. If the text has invalid bytes, or the pattern has \C or \B, a match may start inside a unit. A
 * second question with a pattern that is anchored at the start of the text then gives the end of the match in bytes.
 * The start follows from the end and the length.
 */

import { QuernError } from "../base/errors.ts";
import { LruCache } from "../base/lru-cache.ts";
import { isWord } from "../regex/byte-classes.ts";
import type { ExpressionSource } from "../regex/expression.ts";
import type { Span } from "../regex/iterate.ts";
import { Re2Aborted, Re2Module, Re2Stopped } from "./module.ts";

/** The maximum number of bytes that RE2 reads in one call. Two copies of these bytes must fit into RE2's heap. */
export const RE2_INPUT_LIMIT = 1 << 20;
const PATTERNS_KEPT = 6;
// RE2 takes at most 15 ms to compile a pattern of size SMALL and to run FEW_STEPS steps. The number of steps is the
// size of the pattern times the number of bytes of text
const SMALL = 500;
const FEW_STEPS = 500_000;

/**
 * A function that is called regularly while RE2 works, and that returns true once RE2 must stop. Undefined if RE2 may
 * take any amount of time.
 */
export type MustEnd = (() => boolean) | undefined;

class Instance {
  readonly #isMetered: boolean;
  #module: Re2Module | undefined;
  /** The function that returns true once RE2 must stop working on the current question. */
  #mustEnd: MustEnd;
  readonly #handles = new LruCache<string, number>({
    most: PATTERNS_KEPT,
    onEvict: (handle) => this.module.release(handle),
  });

  constructor(isMetered: boolean) {
    this.#isMetered = isMetered;
  }

  /**
   * The module of this instance, which is loaded when it is first used.
   * REQUIRES: the caller is inside ask().
   */
  get module(): Re2Module {
    return (this.#module ??= new Re2Module(
      this.#isMetered ? () => this.#mustEnd?.() ?? false : undefined,
    ));
  }

  /**
   * Asks a question, which is a function that calls RE2. If the instance aborts, asks the question once more in a new
   * instance. Throws REGEX_TOO_LARGE if that instance aborts as well, and Re2Stopped if `mustEnd` returns true.
   */
  ask<T>(question: () => T, mustEnd?: MustEnd): T {
    this.#mustEnd = mustEnd;
    try {
      return this.#askTwice(question);
    } finally {
      this.#mustEnd = undefined;
    }
  }

  #askTwice<T>(question: () => T): T {
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

  /**
   * Returns the handle of a pattern. Throws if RE2 rejects the pattern, because a rejected pattern matches nothing.
   * REQUIRES: the caller is inside ask().
   */
  accepted(pattern: string, caseSensitive: boolean): number {
    const isNew = !this.#handles.has(`${caseSensitive}${pattern}`);
    const handle = this.handle(pattern, caseSensitive);
    const refusal = isNew ? this.module.error(handle) : undefined;
    if (refusal !== undefined) throw new Re2Aborted(refusal);
    return handle;
  }

  /** Returns the handle of a pattern, even if RE2 rejects it. REQUIRES: the caller is inside ask(). */
  handle(pattern: string, caseSensitive: boolean): number {
    const key = `${caseSensitive}${pattern}`;
    return this.#handles.getOrMake(key, () =>
      this.module.compile(Buffer.from(pattern), !caseSensitive),
    );
  }

  #forget(): void {
    this.#module = undefined;
    this.#handles.clear();
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
  if (mustEnd()) throw new Re2Stopped("no time is left to ask RE2");
  return plain;
}

/**
 * Returns the next match at or after `from` in the text [start, end) of `bytes`. Throws Re2Stopped if `mustEnd` returns
 * true.
 * REQUIRES: RE2 accepts the expression; end - from < RE2_INPUT_LIMIT.
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

/**
 * Returns the part of the text from `from` on, and the number of bytes that were put before this part. If a byte
 * precedes `from` in the text, one byte of the same kind is put before the part, because assertions look at the
 * previous byte.
 */
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
