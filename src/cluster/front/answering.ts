/**
 * Defines the part of a cluster's engine that answers calls. It is either an engine that holds the whole index, or a
 * front that asks nodes.
 */

import type { Engine } from "../../engine.ts";
import type { OpensHistory } from "../../history/histories.ts";
import type { KnowsRepositories } from "../../repositories.ts";
import type { KnowsPaths } from "../../repository.ts";
import type { KnowsNotIndexed } from "../../search/caller/not-indexed.ts";
import type { Observable } from "../../tracing.ts";

export type Answering = Pick<
  Engine,
  | "generation"
  | "search"
  | "stream"
  | "explain"
  | "repository"
  | "repositories"
  | "read"
  | "list"
  | "history"
  | "check"
  | "trim"
> &
  KnowsRepositories &
  KnowsNotIndexed &
  KnowsPaths &
  OpensHistory &
  Observable;

/** Follows publications, so that searches see them. */
export interface Following {
  /** Starts a check for publications soon. */
  wake(): void;
  /** Resolves when searches see everything that was published before the call. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Returns, for each shard, the generation that searches see. */
  generations(): Map<number, number>;
  close(): Promise<void>;
}
