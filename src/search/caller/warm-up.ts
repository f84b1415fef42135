/**
 * Runs searches while an engine is idle, and discards their answers. V8 compiles only code that runs often. Without a
 * warm-up, the first searches of a host would therefore take many times as long as the tenth.
 *
 * The warm-up regularly checks whether the engine is idle, and begins after two such checks in a row have found it
 * idle. It stops as soon as the engine is used for a search, and continues later. The warm-up does not keep the process
 * alive. If a host opens an engine, uses it immediately and closes it, there is no warm-up.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { SearchOptions, SearchRequest } from "../messages/request.ts";
import type { FileResult, SearchResponse } from "../messages/response.ts";

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
const WARM_MS = 4000;
/**
 * The time-out of each search of the warm-up. At first, a search for a frequent word takes more than ten times as long
 * as usual. With 30 ms, such searches never reach their later steps, and a search for `task_struct` takes twice as long
 * at first.
 */
const QUESTION_MS = 120;
/**
 * The minimum and maximum number of searches in a warm-up. The minimum lets V8 compile their code even on a busy
 * machine, where little work is done in WARM_MS. The maximum limits the work in a small index, where a search takes
 * 0.5 ms.
 */
const LEAST_QUESTIONS = 40;
const MOST_QUESTIONS = 1000;

/** General searches, like those of hosts: for words, an expression, names, paths, and a word that does not occur. */
const QUESTIONS: readonly SearchRequest[] = [
  { query: "the" },
  { query: "return value" },
  { query: "[a-z]+_t\\b", isRegexEnabled: true },
  { query: "sym:init" },
  { query: "error", isCaseSensitivityEnabled: true },
  { query: "file:a" },
  { query: "quern_warms_up_with_this" },
].map((request) => ({ ...request, matches: 50 }));

/**
 * Returns searches that find a file: for a word in it that is probably rare, for its name, and for its language. Each
 * is asked twice, so that the calling thread answers one of them even if a worker must first open a segment.
 */
function questionsAbout({ fileName, language, chunks }: FileResult): SearchRequest[] {
  const words = chunks[0]?.content.match(/[a-z]\w+/gi) ?? [];
  const word = words.reduce((longest, one) => (one.length > longest.length ? one : longest), "the");
  const name = fileName.text.split("/").at(-1)!.replaceAll(/\W/g, ".");
  return [
    { query: word },
    { query: `${word}\\b`, isRegexEnabled: true },
    { query: `file:${name}` },
    ...(language === "" ? [] : [{ query: `lang:"${language}"` }]),
  ].flatMap((request) => {
    const question = { ...request, matches: 50 };
    return [question, question];
  });
}

export interface WarmUpOptions {
  /** Returns true if no request of the host is running. Called only between two searches of the warm-up. */
  readonly isIdle: () => boolean;
  /** Resolves to true if the index has anything to search. */
  readonly hasContent: () => Promise<boolean>;
  readonly search: (
    request: SearchRequest,
    options: SearchOptions,
  ) => Promise<Pick<SearchResponse, "files">>;
}

export class WarmUp {
  readonly #options: WarmUpOptions;
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #restMs = FIRST_REST_MS;
  #wasIdle = false;
  #running: Promise<void> = Promise.resolve();
  /** Ends the search that runs now. Undefined if none is running. */
  #asking: AbortController | undefined;
  #spentMs = 0;
  #asked = 0;
  /** How often one of QUESTIONS was asked. */
  #askedGeneral = 0;
  /** Searches about the file that was found last. */
  #next: SearchRequest[] = [];

  constructor(options: WarmUpOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Ends the warm-up. Resolves when all of its searches have ended. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#end.abort();
    this.interrupt();
    await this.#running;
  }

  /** Ends the search that runs now, so that a request of the host does not wait for it. The warm-up continues later. */
  interrupt(): void {
    this.#asking?.abort(); // called only if a search runs, because abort() would add 20 µs to each of the host's searches
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
      // the host's own searches report damage as well, and close() may have ended the sleep
    }
  }

  async #ask(): Promise<void> {
    const began = performance.now();
    const general =
      this.#next.length > 0 ? undefined : QUESTIONS[this.#askedGeneral++ % QUESTIONS.length]!;
    const question = general ?? this.#next.pop()!;
    this.#asked++;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      const { files } = await this.#options.search(question, { timeoutMs: QUESTION_MS, signal });
      if (general && files[0]) this.#next = questionsAbout(files[0]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#asking = undefined;
    }
    this.#spentMs += performance.now() - began;
    // This is not setImmediate(), because an unreferenced immediate does not wake a sleeping event loop. The signal
    // ends the sleep, because close() waits for its end. The timer does not keep the process alive, so without the
    // signal the process might exit before close() resolves.
    await sleep(1, undefined, { ref: false, signal: this.#end.signal });
  }
}
