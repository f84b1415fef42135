/**
 * Owns the memory that searches on all threads share: the text cache and the posting lists. The engine's thread
 * creates both and passes them to the other threads. It does not read them itself.
 */

import { QuernError } from "../../base/errors.ts";
import {
  CacheDirectory,
  newTextCacheMemory,
  type TextCacheMemory,
} from "../../store/segments/text-cache.ts";
import {
  KeptLists,
  newKeptListsMemory,
  type KeptListsMemory,
} from "../../store/segments/kept-lists.ts";
import { contentOf, type ManifestSegment } from "../../store/catalog/manifest.ts";
import { Parcel } from "../../threads/parcel.ts";
import type { OwnPool } from "../../threads/pool.ts";

interface Cache {
  readonly directory: CacheDirectory;
  readonly memory: Parcel<TextCacheMemory>;
}

interface Lists {
  readonly memory: KeptListsMemory;
  readonly lists: KeptLists;
}

export class Kept {
  readonly #bytes: number;
  #cache: Cache | undefined;
  #lists: Lists | undefined;

  /**
   * Creates the caches. The text cache takes at most `bytes`; 0 means no cache. The system allocates the memory as it
   * is written.
   */
  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#cache = newCache(bytes);
    this.#lists = newLists();
  }

  /** The text cache for a new thread. */
  get text(): TextCacheMemory | undefined {
    return this.#cache?.memory.copy();
  }

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

  /** Keeps only the data of these segments, with these editions of their symbols. Takes 0.5 ms for 4 GiB. */
  dropOthers(segments: Iterable<Pick<ManifestSegment, "segment" | "content" | "symbols">>): void {
    const editions = new Map<number, number>();
    for (const one of segments) editions.set(contentOf(one), one.symbols);
    this.#cache?.directory.dropOthers(new Set(editions.keys()));
    this.#lists?.lists.dropOthers(
      (segment, edition) =>
        editions.has(segment) && (edition === 0 || edition === editions.get(segment)),
    );
  }

  /** Starts again with empty caches. Threads release the old memory after their current search. */
  async trim(pool: OwnPool): Promise<void> {
    this.close();
    try {
      this.#cache = newCache(this.#bytes);
      this.#lists = newLists();
    } catch {
      // the released memory may not be free yet, so the engine continues without a cache
    }
    const renew = (worker: number) => {
      const shared = { textCache: this.text, keptLists: this.listsMemory };
      return pool.run("search.trim", shared, { lane: "search", worker, isUrgent: true });
    };
    // a thread that has died or is closed has released it as well
    await Promise.allSettled(pool.started.map(renew));
  }

  close(): void {
    this.#cache?.memory.drop();
    this.#cache = undefined;
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

function newCache(bytes: number): Cache | undefined {
  const memory = allocate(bytes);
  return memory && { directory: new CacheDirectory(memory.directory), memory: new Parcel(memory) };
}

function allocate(bytes: number): TextCacheMemory | undefined {
  try {
    return newTextCacheMemory(bytes);
  } catch (cause) {
    const message = `open: the system has no room for a textCache of ${bytes} bytes: give it less, or 0 for none`;
    throw new QuernError("INVALID_REQUEST", message, { cause });
  }
}
