/** Finds which of many short texts (names of repositories, or paths) an expression matches. */

import { GrowableWords } from "../../base/growable.ts";
import { SLICE_MS, type Pause } from "../../base/yield.ts";
import type { Arena } from "../../kernel/arena.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { compileExpression } from "../../regex/expression.ts";
import { createMatcher } from "../../regex/matcher.ts";
import type { Steps } from "../../base/steps.ts";

export interface Expression {
  readonly pattern: string;
  readonly caseSensitive: boolean;
}

/** Texts that are packed into shared memory, because copying 100 000 strings to a thread takes 20 ms. */
export interface PackedTexts {
  /** The texts in UTF-8, one after another. */
  readonly bytes: Uint8Array;
  /** The offset at which each text ends. */
  readonly ends: Uint32Array;
}

export interface TextsQuestion extends Expression {
  readonly texts: PackedTexts;
}

export async function packTexts(texts: readonly string[], pause: Pause): Promise<PackedTexts> {
  const ends = new Uint32Array(new SharedArrayBuffer(4 * texts.length));
  let end = 0;
  for (const [place, text] of texts.entries()) {
    ends[place] = end += Buffer.byteLength(text);
    await pause();
  }
  const bytes = Buffer.from(new SharedArrayBuffer(end));
  for (const [place, text] of texts.entries()) {
    bytes.write(text, ends[place - 1] ?? 0);
    await pause();
  }
  return { bytes: new Uint8Array(bytes.buffer), ends };
}

export interface Scratch {
  readonly kernel: Kernel;
  readonly arena: Arena;
}

/**
 * Resolves to a function that tests whether the expression matches a text. The expression is compiled in slices. The
 * returned function uses the kernel's memory only until it returns. If `isShared` is true, and if testing a text
 * takes longer than a slice, that text is tested in slices.
 */
export async function textMatcher(
  { pattern, caseSensitive }: Expression,
  { kernel, arena }: Scratch,
  { pause, isShared }: { readonly pause: Pause; readonly isShared: boolean },
): Promise<(text: string | Uint8Array) => boolean | Promise<boolean>> {
  const matcher = createMatcher(kernel, compileExpression(pattern, { caseSensitive }));
  for (const _ of matcher.prepare()) await pause();
  return (text) => {
    const mark = arena.mark();
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    const at = arena.put(bytes);
    const end = isShared ? performance.now() + SLICE_MS : Infinity;
    const found = matcher.count(at, at + bytes.length, () => performance.now() > end);
    arena.release(mark);
    return matcher.stopped ? inSlices(matcher.occursSteps(bytes), pause) : found > 0;
  };
}

async function inSlices<T>(steps: Steps<T>, pause: Pause): Promise<T> {
  for (;;) {
    await pause();
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Resolves to the positions of the texts that the expression matches. */
export async function matchTexts(
  { texts: { bytes, ends }, ...expression }: TextsQuestion,
  scratch: Scratch & { readonly isInline: boolean },
  pause: Pause,
): Promise<Uint32Array> {
  const how = { pause, isShared: scratch.isInline };
  const matches = await textMatcher(expression, scratch, how);
  const matching = new GrowableWords();
  for (const [place, end] of ends.entries()) {
    const answer = matches(bytes.subarray(ends[place - 1] ?? 0, end));
    if (typeof answer === "boolean" ? answer : await answer) matching.push(place);
    const wait = pause();
    if (wait) await wait;
  }
  return matching.view.slice();
}
