/** Defines the functions and caches that all histories of an engine share. */

import type { LruCache } from "../base/lru-cache.ts";
import type { RepositoryPlace } from "../git/open-repository.ts";
import type { FileContent } from "../repository.ts";
import type { RepositoryRecord } from "../store/format/records.ts";
import type { CommitLists } from "./commit-lists.ts";
import type { Author } from "./history.ts";
import type { Operation } from "./operation.ts";

/** A file of a revision, without the web addresses that `present` adds. */
export interface FoundFile {
  readonly path: string;
  /** The name of the revision, as the caller passed it. */
  readonly revision: string;
  readonly language: string;
  readonly bytes: Uint8Array;
}

/** The paths of a repository that has a history. */
export interface HistoryPlace extends RepositoryPlace {
  /**
   * The path of the file in which git keeps the boundary of a shallow clone. In other repositories, this file does
   * not exist.
   */
  readonly shallowFile: string;
}

export interface Shared {
  readonly present: (record: RepositoryRecord, file: FoundFile) => Promise<FileContent>;
  readonly lists: CommitLists;
  readonly authors: LruCache<string, readonly Author[]>;
  /** Runs an operation when fewer than the maximum number of operations are running, and limits its duration. */
  run<T>(
    place: HistoryPlace,
    signal: AbortSignal | undefined,
    work: (operation: Operation) => Promise<T>,
  ): Promise<T>;
  /** Resolves to the paths of the clone. Rejects with HISTORY_NOT_AVAILABLE if the clone does not exist. */
  locate(record: RepositoryRecord): Promise<HistoryPlace>;
}
