/**
 * Owns the memory that the search threads of an engine share: tables of segments, and a room for each thread. The
 * engine's thread creates this memory and passes it to the other threads.
 */

import { contentOf, type ManifestSegment } from "../../store/catalog/manifest.ts";
import { createMemory, tablesIn, type SharedMemory } from "../../store/segments/shared-memory.ts";
import type { SharedTables } from "../../store/segments/shared-tables.ts";
import type { OwnPool } from "../../threads/pool.ts";

/** The number of rooms for the calling thread, and for threads that are started again after they have died. */
const MORE_ROOMS = 4;

/** The memory is replaced if its tables are full and dropped tables take more than this share of them. */
const MOST_DROPPED = 1 / 2;

type Segments = readonly Pick<ManifestSegment, "segment" | "content" | "symbols">[];

interface Parts {
  readonly memory: SharedMemory;
  readonly tables: SharedTables;
}

export class SearchMemory {
  readonly #tableBytes: number;
  readonly #rooms: number;
  /** Undefined if there is not enough memory. In that case, each thread has tables of its own. */
  #parts: Parts | undefined;
  #segments: Segments = [];
  /** The share of the memory of tables that dropped tables take, from 0 to 1. */
  #dropped = 0;

  /** `tableBytes` is the maximum size of the shared tables. */
  constructor({ tableBytes, workers }: { readonly tableBytes: number; readonly workers: number }) {
    this.#tableBytes = tableBytes;
    this.#rooms = workers + MORE_ROOMS;
    this.#create();
  }

  #create(): void {
    this.#parts = unlessNoMemory(() => {
      const memory = createMemory(this.#tableBytes, this.#rooms);
      return { memory, tables: tablesIn(memory) };
    });
    this.dropOthers(this.#segments);
  }

  /** The shared memory to pass to a new thread. */
  get memory(): SharedMemory | undefined {
    return this.#parts?.memory;
  }

  /** Makes room if the memory of tables is full, unless a thread may be using it. */
  makeRoom(pool: OwnPool): void {
    if (this.#dropped <= MOST_DROPPED || !pool.isIdle) return;
    if (this.#parts?.tables.isFull) void this.trim(pool);
  }

  /**
   * Drops the tables of all segments except the given ones. Also drops those of a given segment's symbols if they belong
   * to another edition.
   */
  dropOthers(segments: Segments): void {
    this.#segments = segments;
    const stored = new Set(segments.flatMap((one) => [one.segment, contentOf(one)]));
    const editions = new Map(segments.map((one) => [contentOf(one), one.symbols]));
    const isKept = (segment: number, edition: number) =>
      stored.has(segment) && (edition === 0 || edition === editions.get(segment));
    this.#dropped = this.#parts?.tables.dropOthers(isKept) ?? 0;
  }

  /**
   * Replaces the shared memory by an empty one. Also makes each thread release everything that it caches, as soon as
   * the thread's current search has ended.
   */
  async trim(pool: OwnPool): Promise<void> {
    this.#create();
    const renew = (worker: number) =>
      pool.run("search.trim", this.memory, { lane: "search", worker, isUrgent: true });
    // the task fails if the thread has died or is closed, but then its caches have been released as well
    await Promise.allSettled(pool.started.map(renew));
  }

  close(): void {
    this.#parts = undefined;
  }
}

/** Returns undefined if there is not enough memory. */
function unlessNoMemory<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
