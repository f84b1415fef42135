/** Defines what the histories of an engine share. */

import type { LruCache } from "../base/lru-cache.ts";
import type { RepositoryPlace } from "../git/open-repository.ts";
import type { FileContent } from "../repository.ts";
import type { RepositoryRecord } from "../store/format/records.ts";
import type { CommitLists } from "./commit-lists.ts";
import type { Author } from "./history.ts";
import type { Operation } from "./operation.ts";

/** A file of some revision, without the host's addresses. */
export interface FoundFile {
  readonly path: string;
  /** The revision as the caller named it. */
  readonly revision: string;
  readonly language: string;
  readonly bytes: Uint8Array;
}

/** The paths of a repository that has a history. */
export interface HistoryPlace extends RepositoryPlace {
  /** The file in which git keeps the boundary of a shallow clone. Other repositories have no such file. */
  readonly shallowFile: string;
}

export interface Shared {
  readonly present: (record: RepositoryRecord, file: FoundFile) => Promise<FileContent>;
  readonly lists: CommitLists;
  readonly authors: LruCache<string, readonly Author[]>;
  /** Runs an operation once a permit is free, and limits its time. */
  run<T>(
    place: HistoryPlace,
    signal: AbortSignal | undefined,
    work: (operation: Operation) => Promise<T>,
  ): Promise<T>;
  /** Resolves to the path of the clone. Rejects with HISTORY_NOT_AVAILABLE if it does not exist. */
  locate(record: RepositoryRecord): Promise<HistoryPlace>;
}
