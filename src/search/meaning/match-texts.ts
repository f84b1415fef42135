/** Which of many short texts, names of repositories or paths, an expression matches. */

import type { Pause } from "../../base/yield.ts";
import type { Arena } from "../../kernel/arena.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { compileExpression } from "../../regex/expression.ts";
import { createMatcher } from "../../regex/matcher.ts";

export interface TextsQuestion {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly texts: readonly string[];
}

export interface Scratch {
  readonly kernel: Kernel;
  readonly arena: Arena;
}

/** Tests one text after another. The memory is used only within a call. */
export function textMatcher(
  { pattern, caseSensitive }: Omit<TextsQuestion, "texts">,
  { kernel, arena }: Scratch,
): (text: string) => boolean {
  const matcher = createMatcher(kernel, compileExpression(pattern, { caseSensitive }));
  return (text) => {
    const mark = arena.mark();
    const bytes = Buffer.from(text);
    const at = arena.put(bytes);
    const matches = matcher.count(at, at + bytes.length) > 0;
    arena.release(mark);
    return matches;
  };
}

/** Resolves to the matching texts. */
export async function matchTexts(
  { texts, ...expression }: TextsQuestion,
  scratch: Scratch,
  pause: Pause,
): Promise<string[]> {
  const matches = textMatcher(expression, scratch);
  const matching: string[] = [];
  for (const text of texts) {
    if (matches(text)) matching.push(text);
    const turn = pause();
    if (turn) await turn;
  }
  return matching;
}
