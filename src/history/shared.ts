/** Defines what the calls of one engine's histories share. */

import type { LruCache } from "../base/lru-cache.ts";
import type { RepositoryPlace } from "../git/open-repository.ts";
import type { FileContent } from "../repository.ts";
import type { RepositoryRecord } from "../store/format/records.ts";
import type { CommitLists } from "./commit-lists.ts";
import type { Author } from "./history.ts";
import type { Operation } from "./operation.ts";

/** A file of some revision, before a host's addresses are added. */
export interface FoundFile {
  readonly path: string;
  /** The revision as the caller named it. */
  readonly revision: string;
  readonly language: string;
  readonly bytes: Uint8Array;
}

export interface Shared {
  readonly present: (record: RepositoryRecord, file: FoundFile) => Promise<FileContent>;
  readonly lists: CommitLists;
  readonly authors: LruCache<string, readonly Author[]>;
  /** Runs an operation when one of the permits is free, and within its time. */
  run<T>(
    place: RepositoryPlace,
    signal: AbortSignal | undefined,
    work: (operation: Operation) => Promise<T>,
  ): Promise<T>;
  /** Resolves to the place of the clone. Rejects with HISTORY_NOT_AVAILABLE if there is none. */
  locate(record: RepositoryRecord): Promise<RepositoryPlace>;
}
