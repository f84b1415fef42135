/**
 * Owns the posting lists that searches on all threads share. The engine's thread creates their memory, and passes it to
 * the other threads.
 */

import {
  KeptLists,
  newKeptListsMemory,
  type KeptListsMemory,
} from "../../store/segments/kept-lists.ts";
import { contentOf, type ManifestSegment } from "../../store/catalog/manifest.ts";
import type { OwnPool } from "../../threads/pool.ts";

interface Lists {
  readonly memory: KeptListsMemory;
  readonly lists: KeptLists;
}

export class Kept {
  #lists = newLists();

  /** The posting lists for a new thread. */
  get listsMemory(): KeptListsMemory | undefined {
    return this.#lists?.memory;
  }

  /** Returns the lists. If they are full, clears them, unless a thread may be reading them. */
  listsFor({ isIdle }: Pick<OwnPool, "isIdle">): KeptLists | undefined {
    const lists = this.#lists?.lists;
    if (isIdle && lists?.isFull) lists.clear();
    return lists;
  }

  /** Keeps only the data of these segments, with these editions of their symbols. */
  dropOthers(segments: Iterable<Pick<ManifestSegment, "segment" | "content" | "symbols">>): void {
    const editions = new Map<number, number>();
    for (const one of segments) editions.set(contentOf(one), one.symbols);
    this.#lists?.lists.dropOthers(
      (segment, edition) =>
        editions.has(segment) && (edition === 0 || edition === editions.get(segment)),
    );
  }

  /** Starts again with empty lists. After its current search, each thread releases all that it caches. */
  async trim(pool: OwnPool): Promise<void> {
    this.close();
    this.#lists = newLists();
    const renew = (worker: number) => {
      const shared = { keptLists: this.listsMemory };
      return pool.run("search.trim", shared, { lane: "search", worker, isUrgent: true });
    };
    // fails for a thread that has died or is closed; such a thread has released its caches as well
    await Promise.allSettled(pool.started.map(renew));
  }

  close(): void {
    this.#lists = undefined;
  }
}

/** Creates empty lists. Returns undefined if there is not enough memory; each thread then reads lists for itself. */
function newLists(): Lists | undefined {
  try {
    const memory = newKeptListsMemory();
    return { memory, lists: new KeptLists(memory) };
  } catch {
    return undefined;
  }
}
