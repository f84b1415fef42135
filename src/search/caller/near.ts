/**
 * Decides which searches the caller's thread tries itself (thread/near-thread.ts), and has threads record what
 * such a search needs. A search is tried if all it asks for is words on few pages, paths, languages and names.
 */

import type { Catalog } from "../../store/catalog/catalog.ts";
import type { Pool } from "../../threads/pool.ts";
import type { SearchInput, SearchOutput, TablesInput } from "../messages/messages.ts";
import { unpackPlan, type PackedPlan, type PlanAtom } from "../messages/plan.ts";

type PackedValues = NonNullable<SearchOutput["read"]>;

/** Searches on this thread. */
export interface NearThread {
  /** Resolves to undefined if the threads must search: something is not kept, or there is too much to do. */
  search(input: SearchInput): Promise<SearchOutput | undefined>;
  keep(read: PackedValues): void;
  /** Whether the tables of a segment are not there. */
  lacks(segment: TablesInput): boolean;
  open(segment: TablesInput, read: PackedValues): void;
}

/** The most pages that the caller's thread reads: 0.5 ms. */
const MOST_PAGES = 200;
/** The longest plan that is tried, and the longest expression in it. */
const MOST_PLAN = 2048;
const MOST_PATTERN = 64;
/** The most that the tables of all segments may take here. Linux takes 9 MB. */
const MOST_TABLES = 20 * 2 ** 20;
/** The most files of one segment: its tables are opened in one turn. Those of 70 000 files take 12 ms. */
const MOST_FILES = 16_384;

export class Near {
  readonly #thread: NearThread;
  readonly #pool: Pool;
  /** The segments whose tables were asked for, each with its edition. */
  readonly #asked = new Set<string>();

  constructor(thread: NearThread, pool: Pool) {
    this.#thread = thread;
    this.#pool = pool;
  }

  /** Whether the search is tried. `pages` says how many pages must be read for its words. */
  mayTry({ plan, segments }: Pick<SearchInput, "plan" | "segments">, from: Planned): boolean {
    return isEasy(plan, from.pages) && tableBytes(segments, from.catalog) <= MOST_TABLES;
  }

  /** Searches on this thread. Resolves to undefined if the threads must. */
  search(input: SearchInput): Promise<SearchOutput | undefined> {
    const { ahead, ...rest } = input;
    return this.#thread.search({
      ...rest,
      threads: 1,
      ...(ahead && { ahead: { ...ahead, isAlone: true } }),
    });
  }

  /** Keeps what the threads have read for a search, and has them read the tables of its segments. */
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
      this.#thread.open(input, await this.#pool.run<PackedValues>("search.tables", input, how));
    } catch {
      // the thread has died, or the engine is closed: the next search asks again
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
      // what is counted may take long to compile
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

/** Estimates what the tables of the segments take; Infinity if one of them takes too long to open. */
function tableBytes(segments: SearchInput["segments"], { headers }: Catalog): number {
  let bytes = 0;
  for (const { segment } of segments) {
    const { blobs, pages, files } = headers.get(segment)!;
    if (files > MOST_FILES) return Infinity;
    bytes += SEGMENT_BYTES + BLOB_BYTES * blobs + PAGE_BYTES * pages + FILE_BYTES * files;
  }
  return bytes;
}
