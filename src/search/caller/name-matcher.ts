/**
 * Tests which names of repositories, or which paths, an expression matches. A short expression runs on the calling
 * thread, and its answers are cached. Any other expression may take long to compile, so it runs on a worker.
 */

import type { Pause } from "../../base/yield.ts";
import { Arena } from "../../kernel/arena.ts";
import { createKernel } from "../../kernel/kernel.ts";
import type { Pool } from "../../threads/pool.ts";
import {
  packTexts,
  textMatcher,
  type Expression,
  type TextsQuestion,
} from "../meaning/match-texts.ts";
import { isShort } from "../meaning/meaning.ts";

const MOST_KEPT = 10_000;

export type MatchTexts = (
  expression: Expression,
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

  /** Resolves to the texts that the expression matches. */
  async matching(
    expression: Expression,
    texts: readonly string[],
    pause: Pause,
  ): Promise<ReadonlySet<string>> {
    if (texts.length === 0) return new Set();
    if (isShort(expression.pattern)) return this.#here(expression, texts, pause);
    const question: TextsQuestion = { ...expression, texts: await packTexts(texts, pause) };
    const how = { lane: "search", isUrgent: true } as const;
    const places = await this.#pool.run<Uint32Array>("search.texts", question, how);
    const matching = new Set<string>();
    for (const place of places) {
      matching.add(texts[place]!);
      const wait = pause();
      if (wait) await wait;
    }
    return matching;
  }

  async #here(
    expression: Expression,
    texts: readonly string[],
    pause: Pause,
  ): Promise<Set<string>> {
    const { pattern, caseSensitive } = expression;
    if (this.#answers.size + texts.length > MOST_KEPT) this.#answers = new Map();
    // another call may replace the cache while this call waits; if there are too many answers, they are not cached
    const answers = texts.length > MOST_KEPT ? undefined : this.#answers;
    let test: Awaited<ReturnType<typeof textMatcher>> | undefined;
    const scratch = { kernel: this.#kernel, arena: this.#arena };
    const matching = new Set<string>();
    for (const text of texts) {
      const question = `${caseSensitive}\0${pattern}\0${text}`;
      let answer = answers?.get(question);
      if (answer === undefined) {
        test ??= await textMatcher(expression, scratch, { pause, isShared: true });
        const tested = test(text);
        answer = typeof tested === "boolean" ? tested : await tested;
        answers?.set(question, answer);
      }
      if (answer) matching.add(text);
      const wait = pause();
      if (wait) await wait;
    }
    return matching;
  }
}
