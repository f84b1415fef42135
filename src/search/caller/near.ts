/**
 * Decides which searches the calling thread tries itself (thread/near-thread.ts), and makes threads record the data
 * that such a search needs. A search is tried if it consists only of paths, languages, names, and words that are on few
 * pages.
 */

import { LruCache } from "../../base/lru-cache.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { Pool } from "../../threads/pool.ts";
import type { SearchInput, SearchOutput, TablesInput } from "../messages/messages.ts";
import { unpackPlan, type PackedPlan, type PlanAtom } from "../messages/plan.ts";

type PackedValues = NonNullable<SearchOutput["read"]>;

/** Searches on the calling thread, which this file calls "this thread". */
export interface NearThread {
  /** Searches. Resolves to undefined if some data is not cached, and to "too much" if there is too much work. */
  search(input: SearchInput): Promise<SearchOutput | "too much" | undefined>;
  keep(read: PackedValues): void;
  /** Whether the tables of a segment are missing on this thread. */
  lacks(segment: TablesInput): boolean;
  open(segment: TablesInput, read: PackedValues): Promise<void>;
}

/** The maximum number of pages that the calling thread reads. Reading this many takes 0.5 ms. */
const MOST_PAGES = 400;
/** The limits for the length of the plan, and of an expression in it. */
const MOST_PLAN = 2048;
const MOST_PATTERN = 64;
/** The maximum number of plans that are remembered because they were too much work. */
const MOST_TOO_MUCH = 256;
/** The maximum amount of memory for the tables of all segments on this thread. Those of Linux take 9 MB. */
const MOST_TABLES = 20 * 2 ** 20;

export class Near {
  readonly #thread: NearThread;
  readonly #pool: Pool;
  /** The segments whose tables were requested, each with its edition. */
  readonly #asked = new Set<string>();
  /** The plans of searches that were too much work, which are not tried again. */
  readonly #tooMuch = new LruCache<PackedPlan, number>({ most: MOST_TOO_MUCH });

  constructor(thread: NearThread, pool: Pool) {
    this.#thread = thread;
    this.#pool = pool;
  }

  /** Whether to try the search. `pages` is the number of pages that must be read for its words. */
  mayTry({ plan, segments }: Pick<SearchInput, "plan" | "segments">, from: Planned): boolean {
    return (
      isEasy(plan, from.pages) &&
      !this.#tooMuch.has(plan) &&
      tableBytes(segments, from.catalog) <= MOST_TABLES
    );
  }

  /**
   * Searches on this thread. Resolves to undefined if data is missing here: then the threads must search, and their
   * outputs must be passed to learn(). Resolves to "too much" if the threads must search because of the work.
   */
  async search(input: SearchInput): Promise<SearchOutput | "too much" | undefined> {
    const { ahead, ...rest } = input;
    const output = await this.#thread.search({
      ...rest,
      threads: 1,
      ...(ahead && { ahead: { ...ahead, isAlone: true } }),
    });
    if (output === "too much") this.#tooMuch.set(input.plan, 1);
    return output;
  }

  /** Caches the data that the threads have read for a search, and makes them read the tables of its segments. */
  learn({ segments }: Pick<SearchInput, "segments">, outputs: readonly SearchOutput[]): void {
    for (const { read } of outputs) if (read) this.#thread.keep(read);
    for (const { segment, symbols, isDecided } of segments)
      if (!isDecided && this.#thread.lacks({ segment, symbols }))
        void this.#fetch({ segment, symbols });
  }

  async #fetch(input: TablesInput): Promise<void> {
    const key = `${input.segment} ${input.symbols}`;
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    try {
      const how = { lane: "search" } as const;
      const read = await this.#pool.run<PackedValues>("search.tables", input, how);
      await this.#thread.open(input, read);
    } catch {
      // the thread has died, or the engine is closed; the next search asks again
    } finally {
      this.#asked.delete(key);
    }
  }
}

interface Planned {
  readonly catalog: Catalog;
  readonly pages: number;
}

function isEasy(packed: PackedPlan, pages: number): boolean {
  if (packed.length > MOST_PLAN) return false;
  const { atoms } = unpackPlan(packed);
  const hasWords = atoms.some(({ kind }) => kind === "literal");
  return atoms.length > 0 && atoms.every(isEasyAtom) && (!hasWords || pages <= MOST_PAGES);
}

function isEasyAtom(atom: PlanAtom): boolean {
  switch (atom.kind) {
    case "literal":
    case "language":
      return true;
    case "path":
    case "symbol":
      // counted repetitions may take long to compile
      return atom.pattern.length <= MOST_PATTERN && !atom.pattern.includes("{");
    case "content":
      return false;
  }
}

// by blob: its place, its files, its hash, its symbols; by file: its row and its path
const BLOB_BYTES = 56;
const PAGE_BYTES = 4;
const FILE_BYTES = 64;
const SEGMENT_BYTES = 128 * 1024;

/** Estimates the memory of the segments' tables. */
function tableBytes(segments: SearchInput["segments"], { headers }: Catalog): number {
  let bytes = 0;
  for (const { segment } of segments) {
    const { blobs, pages, files } = headers.get(segment)!;
    bytes += SEGMENT_BYTES + BLOB_BYTES * blobs + PAGE_BYTES * pages + FILE_BYTES * files;
  }
  return bytes;
}
