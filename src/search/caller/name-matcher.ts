/**
 * Tests names of repositories and paths against expressions. A short expression is tried on the
 * caller's thread, and answers are kept; any other may take long to build, and a thread does it.
 */

import type { Pause } from "../../base/yield.ts";
import { Arena } from "../../kernel/arena.ts";
import { createKernel } from "../../kernel/kernel.ts";
import type { Pool } from "../../threads/pool.ts";
import { textMatcher, type TextsQuestion } from "../meaning/match-texts.ts";
import { isShort } from "../meaning/meaning.ts";

const MOST_KEPT = 10_000;

export type MatchTexts = (
  expression: Omit<TextsQuestion, "texts">,
  texts: readonly string[],
  pause: Pause,
) => Promise<ReadonlySet<string>>;

export class NameMatcher {
  readonly #pool: Pool;
  readonly #kernel = createKernel();
  readonly #arena = new Arena(this.#kernel);
  #answers = new Map<string, boolean>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The texts that the expression matches. */
  async matching(...[expression, texts, pause]: Parameters<MatchTexts>): ReturnType<MatchTexts> {
    if (texts.length === 0) return new Set();
    if (isShort(expression.pattern)) return this.#here({ ...expression, texts }, pause);
    const question: TextsQuestion = { ...expression, texts };
    const how = { lane: "search", isUrgent: true } as const;
    return new Set(await this.#pool.run<string[]>("search.texts", question, how));
  }

  async #here({ texts, ...expression }: TextsQuestion, pause: Pause): Promise<Set<string>> {
    const { pattern, caseSensitive } = expression;
    if (this.#answers.size + texts.length > MOST_KEPT) this.#answers = new Map();
    const answers = this.#answers; // another call may begin anew while this one waits
    let test: ((text: string) => boolean) | undefined;
    const matching = new Set<string>();
    for (const text of texts) {
      const question = `${caseSensitive}\0${pattern}\0${text}`;
      let answer = answers.get(question);
      if (answer === undefined) {
        test ??= textMatcher(expression, { kernel: this.#kernel, arena: this.#arena });
        answers.set(question, (answer = test(text)));
      }
      if (answer) matching.add(text);
      const turn = pause();
      if (turn) await turn;
    }
    return matching;
  }
}
