/**
 * Opens the histories of an engine's repositories. All of them share the cached paths of the repositories and the
 * cached lists of commits. The number of calls that run git at the same time is limited. Permissions are checked
 * elsewhere.
 */

import { stat } from "node:fs/promises";
import { closedError, QuernError, type ErrorCode } from "../base/errors.ts";
import { LruCache } from "../base/lru-cache.ts";
import { locateRepository, shallowFileOf } from "../git/open-repository.ts";
import type { FileContent } from "../repository.ts";
import type { RepositoryRecord } from "../store/format/records.ts";
import { CommitLists } from "./commit-lists.ts";
import type { History } from "./history.ts";
import { operate, type Operation } from "./operation.ts";
import { openHistory } from "./opened-history.ts";
import type { FoundFile, HistoryPlace, Shared } from "./shared.ts";
import { Semaphore } from "../base/semaphore.ts";

export interface HistoriesOptions {
  /** Converts a file to the form in which engine.read() returns files. */
  readonly present: (record: RepositoryRecord, file: FoundFile) => Promise<FileContent>;
  /**
   * The maximum duration of a call in milliseconds, not counting the time that the call waits for other calls to end.
   * Default 30 000.
   */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
/** The maximum number of calls that run git at the same time. Further calls wait. */
const AT_ONCE = 8;
const MOST_PLACES = 1_000;
const MOST_AUTHOR_LISTS = 100;

export class Histories {
  readonly #shared: Shared;
  readonly #semaphore: Semaphore;
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  /** For each indexed folder, the path of its repository, once it was located. */
  readonly #places = new LruCache<string, HistoryPlace>({ most: MOST_PLACES });
  readonly #running = new Set<Promise<unknown>>();

  constructor({ present, timeoutMs = TIMEOUT_MS }: HistoriesOptions) {
    this.#timeoutMs = timeoutMs;
    this.#semaphore = new Semaphore(AT_ONCE);
    this.#shared = {
      present,
      lists: new CommitLists(),
      authors: new LruCache({ most: MOST_AUTHOR_LISTS }),
      run: (place, signal, work) => this.#run(place, signal, work),
      locate: (record) => this.#locate(record),
    };
  }

  /** Opens the history of a repository. If it has none, rejects with HISTORY_NOT_AVAILABLE and the reason. */
  async open(record: RepositoryRecord): Promise<History> {
    await this.#locate(record);
    return openHistory(record, this.#shared);
  }

  /** Ends all running calls, which reject with ENGINE_CLOSED. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  async #locate(record: RepositoryRecord): Promise<HistoryPlace> {
    const { name, gitFolder } = record;
    if (gitFolder === undefined) throw notAvailable(name, NO_GIT);
    const known = this.#places.get(gitFolder);
    if (known !== undefined && (await isFolder(known.gitDir))) return known;
    this.#places.delete(gitFolder);
    try {
      const found = await locateRepository(gitFolder, this.#closing.signal);
      const place = { ...found, shallowFile: await shallowFileOf(found, this.#closing.signal) };
      this.#places.set(gitFolder, place);
      return place;
    } catch (error) {
      if (this.#closing.signal.aborted) throw closedError();
      const why = error instanceof QuernError ? REASONS[error.code] : undefined;
      throw why === undefined ? error : notAvailable(name, why, error);
    }
  }

  async #run<T>(
    place: HistoryPlace,
    signal: AbortSignal | undefined,
    work: (operation: Operation) => Promise<T>,
  ): Promise<T> {
    if (this.#closing.signal.aborted) throw closedError();
    const release = await this.#semaphore.acquire(signal);
    const bounds = { timeoutMs: this.#timeoutMs, closing: this.#closing.signal, signal };
    const running = operate(place, bounds, work).finally(() => {
      release();
      this.#running.delete(running);
    });
    this.#running.add(running);
    return running;
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const NO_GIT = "it was not indexed from a git repository, or by an older version: index it again";

/**
 * The reasons why there is no history, by the code of the error. The reasons do not contain the path of the folder,
 * because they are sent to clients.
 */
const REASONS: Partial<Record<ErrorCode, string>> = {
  SOURCE_NOT_FOUND: "the clone that was indexed is gone",
  NOT_A_GIT_REPOSITORY: "the indexed folder is no longer a git repository",
  SOURCE_UNREADABLE: "the clone that was indexed cannot be read",
  GIT_MISSING: "the machine of the index has no git command",
};

function notAvailable(name: string, why: string, cause?: unknown): QuernError {
  return new QuernError("HISTORY_NOT_AVAILABLE", `${name} has no history here: ${why}`, { cause });
}
