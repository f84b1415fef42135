/** Tests repository names against `repo:` expressions, on the caller's thread: names are short and their answers kept. */

import { Arena } from "../../kernel/arena.ts";
import { createKernel } from "../../kernel/kernel.ts";
import { compileExpression } from "../../regex/expression.ts";
import { createMatcher } from "../../regex/matcher.ts";

const MOST_KEPT = 10_000;

export class NameMatcher {
  readonly #kernel = createKernel();
  readonly #arena = new Arena(this.#kernel);
  #answers = new Map<string, boolean>();

  matches(
    { pattern, caseSensitive }: { pattern: string; caseSensitive: boolean },
    name: string,
  ): boolean {
    const question = `${caseSensitive}\0${pattern}\0${name}`;
    const known = this.#answers.get(question);
    if (known !== undefined) return known;
    const matcher = createMatcher(this.#kernel, compileExpression(pattern, { caseSensitive }));
    const bytes = Buffer.from(name);
    const mark = this.#arena.mark();
    const at = this.#arena.put(bytes);
    const answer = matcher.count(at, at + bytes.length) > 0;
    this.#arena.release(mark);
    if (this.#answers.size >= MOST_KEPT) this.#answers = new Map();
    this.#answers.set(question, answer);
    return answer;
  }
}
