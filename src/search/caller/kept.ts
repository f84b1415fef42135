/**
 * Owns the cache of posting lists that searches on all threads share. The engine's thread creates the memory of this
 * cache and passes it to the other threads.
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

  /** The memory of the shared posting lists, for a new thread. Undefined if there are no shared lists. */
  get listsMemory(): KeptListsMemory | undefined {
    return this.#lists?.memory;
  }

  /** Returns the shared lists. If their memory is full, clears it first, unless a thread may be reading the lists. */
  listsFor({ isIdle }: Pick<OwnPool, "isIdle">): KeptLists | undefined {
    const lists = this.#lists?.lists;
    if (isIdle && lists?.isFull) lists.clear();
    return lists;
  }

  /**
   * Keeps only the lists of the given segments. Of the lists of their symbols, keeps only those of the given editions.
   */
  dropOthers(segments: Iterable<Pick<ManifestSegment, "segment" | "content" | "symbols">>): void {
    const editions = new Map<number, number>();
    for (const one of segments) editions.set(contentOf(one), one.symbols);
    this.#lists?.lists.dropOthers(
      (segment, edition) =>
        editions.has(segment) && (edition === 0 || edition === editions.get(segment)),
    );
  }

  /**
   * Replaces the shared lists by empty ones. Also makes each thread release everything that it caches, as soon as the
   * thread's current search has ended.
   */
  async trim(pool: OwnPool): Promise<void> {
    this.close();
    this.#lists = newLists();
    const renew = (worker: number) => {
      const shared = { keptLists: this.listsMemory };
      return pool.run("search.trim", shared, { lane: "search", worker, isUrgent: true });
    };
    // the task fails if the thread has died or is closed, but then its caches have been released as well
    await Promise.allSettled(pool.started.map(renew));
  }

  close(): void {
    this.#lists = undefined;
  }
}

/**
 * Creates empty lists. Returns undefined if there is not enough memory. In that case, each thread reads the lists for
 * itself.
 */
function newLists(): Lists | undefined {
  try {
    const memory = newKeptListsMemory();
    return { memory, lists: new KeptLists(memory) };
  } catch {
    return undefined;
  }
}
