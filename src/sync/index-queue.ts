/**
 * Passes repositories to the engine in batches. Repositories that arrive while a batch is indexed form the next
 * batch. Many small repositories thus share their segments and one symbol pass. If a batch fails, its repositories
 * are indexed again one by one, because a single repository may have caused the failure.
 */

import { aborted } from "../base/abort.ts";
import { QuernError, type ErrorCode } from "../base/errors.ts";
import type { Engine } from "../engine.ts";
import type { IndexProgress, IndexReport } from "../ingest/run/report.ts";
import type { Source } from "../ingest/sources/source.ts";

/** The codes of errors that concern the whole index, and not one repository. */
const EVERYBODYS: readonly ErrorCode[] = [
  "INDEX_LOCKED",
  "INDEX_READ_ONLY",
  "INDEX_CORRUPT",
  "INDEX_VERSION",
  "PERMISSION_DENIED",
  "ENGINE_CLOSED",
  "GIT_MISSING",
  "ABORTED",
];

export const isEverybodys = (error: unknown): boolean =>
  !(error instanceof QuernError) || EVERYBODYS.includes(error.code);

/** The maximum number of repositories in a batch. */
const MOST_AT_ONCE = 200;

interface Waiting {
  readonly source: Source;
  readonly done: (report: IndexReport) => void;
  readonly failed: (error: unknown) => void;
}

export interface QueueOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: IndexProgress) => void;
}

export class IndexQueue {
  readonly #engine: Engine;
  readonly #options: QueueOptions;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(engine: Engine, options: QueueOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** Resolves when the repository is indexed. REQUIRES: no two repositories of the same name wait at the same time. */
  add(source: Source): Promise<IndexReport> {
    return new Promise((done, failed) => {
      this.#waiting.push({ source, done, failed });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_AT_ONCE);
      const isSafe = await this.#index(batch, batch.length === 1);
      if (!isSafe) for (const one of batch) await this.#index([one], true);
    }
    this.#isRunning = false;
  }

  /**
   * Indexes a batch. Resolves to false if its repositories must be indexed again one by one. If `isLast` is true, a
   * failure rejects the promises of the batch instead.
   */
  async #index(batch: readonly Waiting[], isLast: boolean): Promise<boolean> {
    const { signal, onProgress } = this.#options;
    try {
      if (signal.aborted) throw aborted(signal);
      const reports = await this.#engine.index(
        batch.map(({ source }) => source),
        { signal, onProgress },
      );
      const byName = new Map(reports.map((report) => [report.repository, report]));
      for (const { done, source } of batch) done(byName.get(source.name)!);
    } catch (error) {
      if (!isLast && !isEverybodys(error)) return false;
      for (const { failed } of batch) failed(error);
    }
    return true;
  }
}
