/**
 * Runs searches while an engine is idle, and discards their answers. V8 compiles only code that runs often. Without a
 * warm-up, the first searches of a host would therefore take many times as long as the tenth.
 *
 * The warm-up regularly checks whether the engine is idle, and begins after two such checks in a row have found it
 * idle. It stops as soon as the engine is used, and continues later. The warm-up does not keep the process alive. If
 * a host opens an engine, uses it immediately and closes it, there is no warm-up.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { SearchOptions, SearchRequest } from "../messages/request.ts";

/**
 * The time before the first check whether the engine is idle. Programs that do only one thing have ended by then.
 * Each wait is twice as long as the previous one, up to MOST_REST_MS, so that an index that stays empty costs little.
 */
const FIRST_REST_MS = 50;
const MOST_REST_MS = 5000;
/**
 * The total time of all searches of the warm-up. In this time, V8 compiles their code. docs/speed.md says what this
 * gains.
 */
const WARM_MS = 1000;
/**
 * The time-out of each search of the warm-up. If the host makes a request meanwhile, that request waits for about
 * this long at most.
 */
const QUESTION_MS = 10;
/**
 * The minimum and maximum number of searches in a warm-up. The minimum lets V8 compile their code even on a busy
 * machine, where little work is done in WARM_MS. The maximum limits the work in a small index, where a search takes
 * 0.5 ms.
 */
const LEAST_QUESTIONS = 40;
const MOST_QUESTIONS = 400;

/**
 * The searches of the warm-up, which are like those of hosts. They have words, a phrase, expressions, names, paths,
 * and a word that does not occur.
 */
const QUESTIONS: readonly SearchRequest[] = [
  { query: "the" },
  { query: "return value" },
  { query: "[a-z]+_t\\b", isRegexEnabled: true },
  { query: "sym:init" },
  { query: "error", isCaseSensitivityEnabled: true },
  { query: "file:a" },
  { query: "quern_warms_up_with_this" },
].map((request) => ({ ...request, matches: 50 }));

export interface WarmUpOptions {
  /** Returns true if no request of the host is running. Called only between two searches of the warm-up. */
  readonly isIdle: () => boolean;
  /** Resolves to true if the index has anything to search. */
  readonly hasContent: () => Promise<boolean>;
  readonly search: (request: SearchRequest, options: SearchOptions) => Promise<unknown>;
}

export class WarmUp {
  readonly #options: WarmUpOptions;
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #restMs = FIRST_REST_MS;
  #wasIdle = false;
  #running: Promise<void> = Promise.resolve();
  #spentMs = 0;
  #asked = 0;

  constructor(options: WarmUpOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Ends the warm-up. Resolves when all of its searches have ended. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#end.abort();
    await this.#running;
  }

  #wait(): void {
    this.#timer = setTimeout(() => this.#look(), this.#restMs).unref();
    this.#restMs = Math.min(2 * this.#restMs, MOST_REST_MS);
  }

  #look(): void {
    const isIdle = this.#options.isIdle();
    if (isIdle && this.#wasIdle) this.#running = this.#run();
    else this.#wait();
    this.#wasIdle = isIdle;
  }

  get #isOver(): boolean {
    const least = this.#spentMs < WARM_MS ? MOST_QUESTIONS : LEAST_QUESTIONS;
    return this.#end.signal.aborted || this.#asked >= least;
  }

  async #run(): Promise<void> {
    try {
      if (await this.#options.hasContent())
        while (!this.#isOver && this.#options.isIdle()) await this.#ask();
      if (!this.#isOver) this.#wait();
    } catch {
      // the host's own searches report damage as well, and close() may have aborted this search
    }
  }

  async #ask(): Promise<void> {
    const began = performance.now();
    const question = QUESTIONS[this.#asked++ % QUESTIONS.length]!;
    const { signal } = this.#end;
    await this.#options.search(question, { timeoutMs: QUESTION_MS, signal });
    this.#spentMs += performance.now() - began;
    // This is not setImmediate(), because an unreferenced immediate does not wake a sleeping event loop. The signal
    // ends the sleep, because close() waits for its end. The timer does not keep the process alive, so without the
    // signal the process might exit before close() resolves.
    await sleep(1, undefined, { ref: false, signal });
  }
}
