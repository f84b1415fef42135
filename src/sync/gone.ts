/** Handles repositories that their host no longer lists, or that the configuration no longer includes. */

import type { Engine } from "../engine.ts";
import { removeState, type RepositoryState, writeState } from "./records.ts";
import type { SyncedRepository } from "./report.ts";

export interface Gone {
  /** The folder of the repository's record and clone. */
  readonly folder: string;
  readonly state: RepositoryState;
  /**
   * Whether the host still lists the repository, but the configuration excludes it. If so, the repository is removed
   * immediately.
   */
  readonly isUnwanted: boolean;
  /** How long the repository stays in the index after its host has stopped listing it. */
  readonly removeAfterMs: number;
}

export interface Index {
  /** Maps the names of indexed repositories to their folders. */
  readonly known: Map<string, string | undefined>;
  /** Whether the name of the gone repository belongs to another repository now. */
  readonly isTaken: boolean;
}

export async function forget(
  engine: Engine,
  { folder, state, isUnwanted, removeAfterMs }: Gone,
  { known, isTaken }: Index,
): Promise<SyncedRepository> {
  const { name, goneSince = Date.now() } = state;
  const until = goneSince + removeAfterMs;
  if (!isUnwanted && until > Date.now()) {
    await writeState(folder, { ...state, goneSince });
    const message = `its host no longer lists it; it stays until ${new Date(until).toISOString()}`;
    return { name, outcome: "gone", message };
  }
  if (!isTaken && known.get(name) === state.folder) {
    await engine.remove(name);
    known.delete(name);
  }
  await removeState(folder);
  return { name, outcome: "removed" };
}
