/**
 * Runs searches and drops their answers while an engine is idle. V8 compiles only code that runs often, so without a
 * warm-up the first searches of a host take many times as long as the tenth.
 *
 * The warm-up regularly checks whether the engine is idle, and begins after two such checks in a row. It stops as soon
 * as the engine is used, and continues later. It keeps no process alive. If a host opens an engine, uses it immediately
 * and closes it, there is no warm-up.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { SearchOptions, SearchRequest } from "../messages/request.ts";

/**
 * How long the engine waits before it first checks whether there is anything to search. Programs that do only one thing
 * have ended by then. Each wait is twice as long as the previous one, so that an index that stays empty costs little.
 */
const FIRST_REST_MS = 50;
const MOST_REST_MS = 5000;
/** The total time of all searches, in which V8 compiles their code. docs/speed.md says what this gains. */
const WARM_MS = 1000;
/** The time-out of each search. A host's own request waits for about this long at most. */
const QUESTION_MS = 10;
/**
 * The minimum and maximum number of searches. The minimum lets V8 compile their code even on a busy machine, where
 * little work is done in WARM_MS. The maximum limits the work in a small index, where a search takes 0.5 ms.
 */
const LEAST_QUESTIONS = 40;
const MOST_QUESTIONS = 400;

/** Searches like those of hosts: words, a phrase, expressions, names, paths, and a word that does not occur. */
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
  /**
   * Whether the engine is doing nothing that a host has asked for. Called only while the warm-up runs no search of its
   * own.
   */
  readonly isIdle: () => boolean;
  /** Resolves to whether there is anything to search. */
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
      // the host's own searches report damage; close() may have ended this one
    }
  }

  async #ask(): Promise<void> {
    const began = performance.now();
    const question = QUESTIONS[this.#asked++ % QUESTIONS.length]!;
    const { signal } = this.#end;
    await this.#options.search(question, { timeoutMs: QUESTION_MS, signal });
    this.#spentMs += performance.now() - began;
    // not setImmediate(), because an unreferenced one does not wake a sleeping event loop. The signal ends the sleep,
    // because close() waits for it: otherwise the process might exit first, as the timer does not keep it alive
    await sleep(1, undefined, { ref: false, signal });
  }
}
