/** The text cache as the thread of the engine has it, which hands it to the others and never reads it. */

import { QuernError } from "../../base/errors.ts";
import {
  CacheDirectory,
  newTextCacheMemory,
  type TextCacheMemory,
} from "../../store/segments/text-cache.ts";
import { Parcel } from "../../threads/parcel.ts";
import type { OwnPool } from "../../threads/pool.ts";

interface Cache {
  readonly directory: CacheDirectory;
  readonly memory: Parcel<TextCacheMemory>;
}

export class KeptText {
  readonly #bytes: number;
  #cache: Cache | undefined;

  /** All told it takes so many bytes at most; 0: nothing is kept. The system gives them as they are written. */
  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#cache = newCache(bytes);
  }

  /** For a thread that begins. */
  get memory(): TextCacheMemory | undefined {
    return this.#cache?.memory.copy();
  }

  /** Drops the pages of all segments but these. 0.5 ms for 4 GiB. */
  dropOthers(segments: Iterable<{ readonly segment: number }>): void {
    const kept = new Set<number>();
    for (const { segment } of segments) kept.add(segment);
    this.#cache?.directory.dropOthers(kept);
  }

  /** Begins anew with nothing. Threads give the memory back after the search that they are in. */
  async trim(pool: OwnPool): Promise<void> {
    this.close();
    try {
      this.#cache = newCache(this.#bytes);
    } catch {
      // what is given back is not there yet: it goes on without
    }
    const renew = (worker: number) =>
      pool.run("search.trim", this.memory, { lane: "search", worker, isUrgent: true });
    // one that has died, or is closed, has given it back as well
    await Promise.allSettled(pool.started.map(renew));
  }

  close(): void {
    this.#cache?.memory.drop();
    this.#cache = undefined;
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
