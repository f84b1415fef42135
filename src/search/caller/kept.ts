/**
 * Owns the memory that the search threads of an engine share: posting lists, and tables of segments. The engine's
 * thread creates this memory and passes it to the other threads.
 */

import { KeptLists, newKeptListsMemory } from "../../store/segments/kept-lists.ts";
import {
  newSharedTablesMemory,
  SharedTables,
  type SharedMemory,
} from "../../store/segments/shared-tables.ts";
import { contentOf, type ManifestSegment } from "../../store/catalog/manifest.ts";
import type { OwnPool } from "../../threads/pool.ts";

/**
 * The number of bytes of posting lists to cache for each segment, and the minimum and maximum for all segments
 * together. The minimum is enough for about twenty queries in the source code of Linux. docs/limits.md promises the
 * maximum.
 */
const LISTS_A_SEGMENT = 256 * 1024;
const LEAST_LISTS = 16 * 2 ** 20;
const MOST_LISTS = 128 * 2 ** 20;

/** The memory of tables is replaced if it is full and dropped tables take more than this share of it. */
const MOST_DROPPED = 1 / 2;

type Segments = readonly Pick<ManifestSegment, "segment" | "content" | "symbols">[];

export class Kept {
  readonly #tableBytes: number;
  #lists: KeptLists | undefined;
  #tables: SharedTables | undefined;
  #segments: Segments = [];
  /** The share of the memory of tables that dropped tables take, from 0 to 1. */
  #dropped = 0;

  /** `tableBytes` is the maximum size of the shared tables. */
  constructor(tableBytes: number) {
    this.#tableBytes = tableBytes;
    this.#create();
  }

  #create(): void {
    this.#lists = unlessNoMemory(() => new KeptLists(newKeptListsMemory(MOST_LISTS)));
    this.#tables = this.#newTables();
    this.dropOthers(this.#segments);
  }

  /** The shared memory to pass to a new thread. */
  get memory(): SharedMemory {
    return { keptLists: this.#lists?.memory, tables: this.#tables?.memory };
  }

  /** Makes room if the memory of lists or tables is full, unless a thread may be using it. */
  makeRoom(pool: OwnPool): void {
    if (!pool.isIdle) return;
    if (this.#lists?.isFull) this.#lists.clear();
    if (this.#tables?.isFull && this.#dropped > MOST_DROPPED) this.#replaceTables(pool);
  }

  #newTables(): SharedTables | undefined {
    return unlessNoMemory(() => new SharedTables(newSharedTablesMemory(this.#tableBytes)));
  }

  /** Creates an empty memory for the tables of segments, and makes all threads use it instead of the old one. */
  #replaceTables(pool: OwnPool): void {
    const tables = this.#newTables();
    if (!tables) return;
    this.#tables = tables;
    this.#dropped = 0;
    const share = (worker: number) =>
      pool.run("search.shareTables", tables.memory, { lane: "search", worker, isUrgent: true });
    void Promise.allSettled(pool.started.map(share));
  }

  /**
   * Drops the lists and tables of all segments except the given ones. Also drops those of a given segment's symbols if
   * they belong to another edition.
   */
  dropOthers(segments: Segments): void {
    this.#segments = segments;
    const stored = new Set(segments.flatMap((one) => [one.segment, contentOf(one)]));
    const editions = new Map(segments.map((one) => [contentOf(one), one.symbols]));
    const isKept = (segment: number, edition: number) =>
      stored.has(segment) && (edition === 0 || edition === editions.get(segment));
    this.#lists?.allow(listsBytes(segments.length));
    this.#lists?.dropOthers(isKept);
    this.#dropped = this.#tables?.dropOthers(isKept) ?? 0;
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
    this.#lists = undefined;
    this.#tables = undefined;
  }
}

/** Returns how many bytes of posting lists are cached for an index with this many segments. */
const listsBytes = (segments: number): number =>
  Math.min(MOST_LISTS, Math.max(LEAST_LISTS, LISTS_A_SEGMENT * segments));

/** Returns undefined if there is not enough memory. In that case, each thread reads a copy of its own. */
function unlessNoMemory<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
