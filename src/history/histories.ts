/**
 * Manages the histories of an engine: the folders of its repositories, the cached lists of commits, and the number of
 * simultaneous git processes. Permissions are checked elsewhere.
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
  /** Presents a file as engine.read() does. */
  readonly present: (record: RepositoryRecord, file: FoundFile) => Promise<FileContent>;
  /** How long a call may take after it has started. Default 30 s. */
  readonly timeoutMs?: number;
}

/**
 * The key of an engine's method that opens a history as history() does. But if a repository that the viewer may see has
 * no history, this method rejects with HISTORY_NOT_AVAILABLE and the reason.
 */
export const OPEN_HISTORY = Symbol("open history");

export interface OpensHistory {
  [OPEN_HISTORY](
    repository: string,
    options: { viewer?: { repositoryIds: ReadonlySet<number> } },
  ): Promise<History | undefined>;
}

const TIMEOUT_MS = 30_000;
/** How many calls may run git at the same time. The others wait. */
const AT_ONCE = 8;
const MOST_PLACES = 1_000;
const MOST_AUTHOR_LISTS = 100;

export class Histories {
  readonly #shared: Shared;
  readonly #semaphore: Semaphore;
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  /** The located repositories, cached by folder. */
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

  /** Opens a history. Rejects with HISTORY_NOT_AVAILABLE and the reason if there is none. */
  async open(record: RepositoryRecord): Promise<History> {
    await this.#locate(record);
    return openHistory(record, this.#shared);
  }

  /** Opens a history. Resolves to undefined if there is none. */
  async find(record: RepositoryRecord): Promise<History | undefined> {
    try {
      return await this.open(record);
    } catch (error) {
      if (error instanceof QuernError && error.code === "HISTORY_NOT_AVAILABLE") return undefined;
      throw error;
    }
  }

  /** Ends all calls, which reject with ENGINE_CLOSED. */
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

const NO_GIT =
  "it was not indexed from a git repository, or before histories were kept: then index it again";

/** Why there is no history, by the code of the error. The reasons do not name the folder, because clients see them. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  SOURCE_NOT_FOUND: "the clone that was indexed is gone",
  NOT_A_GIT_REPOSITORY: "what was indexed is no git repository any more",
  SOURCE_UNREADABLE: "the clone that was indexed cannot be read",
  GIT_MISSING: "there is no git command where the index is",
};

function notAvailable(name: string, why: string, cause?: unknown): QuernError {
  return new QuernError("HISTORY_NOT_AVAILABLE", `${name} has no history here: ${why}`, { cause });
}
