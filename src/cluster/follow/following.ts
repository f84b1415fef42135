/** Defines how a machine follows publications, so that its searches see them. */

export interface Following {
  /** Starts a check for publications soon. */
  wake(): void;
  /** Resolves when searches see everything that was published before the call. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Returns, for each shard, the generation that searches see. */
  generations(): Map<number, number>;
  close(): Promise<void>;
}
