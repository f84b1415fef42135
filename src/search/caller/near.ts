/**
 * Decides which searches the calling thread tries to run itself, with thread/near-thread.ts. Also makes the worker
 * threads record the data that the calling thread needs for such searches. The calling thread tries a search if its
 * query consists only of paths, languages, symbols, and words that occur on few pages.
 */

import { LruCache } from "../../base/lru-cache.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { SearchInput, SearchOutput } from "../messages/messages.ts";
import type { PagesAhead } from "../thread/reading/pages-ahead.ts";
import { unpackPlan, type PackedPlan, type PlanAtom } from "../messages/plan.ts";

type PackedValues = Exclude<SearchOutput["read"], "too much" | undefined>;

/** Runs searches on the calling thread. In this file, "this thread" is the calling thread. */
export interface NearThread {
  /**
   * Runs a search. Resolves to undefined if some of the data is not cached, and to "too much" if the search takes too
   * much work.
   */
  search(
    input: SearchInput,
    headers: Catalog["headers"],
    ahead: PagesAhead,
  ): Promise<SearchOutput | "too much" | undefined>;
  keep(read: PackedValues): void;
}

/** The maximum number of pages that the calling thread reads. Reading this many takes 0.5 ms. */
export const MOST_PAGES = 400;
/** The maximum length of a packed plan that this thread tries, in characters. */
const MOST_PLAN = 2048;
/** The maximum length of an expression in such a plan, in characters. */
const MOST_PATTERN = 64;
/** The maximum number of remembered plans that were too much work for this thread. */
const MOST_TOO_MUCH = 256;
/**
 * A plan is not tried again after this many failures. The first time that it fails, the worker threads may have read
 * too much only because they have opened segments.
 */
const MOST_FAILURES = 2;
/**
 * The maximum size of the tables that this thread may read for a search, in bytes. A query for paths reads all paths.
 * The tables of the source code of Linux take 9 MB.
 */
const MOST_TABLES = 20 * 2 ** 20;

interface Failures {
  count: number;
}

export class Near {
  readonly #thread: NearThread;
  /** Plans that were too much work for this thread, with the number of times that they were. */
  readonly #tooMuch = new LruCache<PackedPlan, Failures>({ most: MOST_TOO_MUCH });

  constructor(thread: NearThread) {
    this.#thread = thread;
  }

  /**
   * Returns whether this thread should try the search. `from.pages` is the number of pages that must be read for the
   * words of the query.
   */
  mayTry({ plan, segments }: Pick<SearchInput, "plan" | "segments">, from: Planned): boolean {
    return (
      isEasy(plan, from.pages) &&
      (this.#tooMuch.get(plan)?.count ?? 0) < MOST_FAILURES &&
      tableBytes(segments, from.catalog) <= MOST_TABLES
    );
  }

  /**
   * Searches on this thread. `pages` has what planAhead() has found. Resolves to undefined if this thread lacks some of
   * the data. In that case, the worker threads must run the search, and their outputs must be passed to learn().
   * Resolves to "too much" if the search takes too much work for this thread. In that case, the worker threads must run
   * it as well.
   */
  async search(
    input: SearchInput,
    { headers }: Catalog,
    pages: PagesAhead,
  ): Promise<SearchOutput | "too much" | undefined> {
    const { ahead, ...rest } = input;
    const alone: SearchInput = {
      ...rest,
      threads: 1,
      ...(ahead && { ahead: { ...ahead, isAlone: true } }),
    };
    const output = await this.#thread.search(alone, headers, pages);
    if (output === "too much") this.#tooMuch.set(input.plan, { count: MOST_FAILURES });
    return output;
  }

  /**
   * Caches the data that the worker threads have read for a search. If a thread has read too much, this counts as a
   * failure of the plan.
   */
  learn({ plan }: Pick<SearchInput, "plan">, outputs: readonly SearchOutput[]): void {
    for (const { read } of outputs) if (read && read !== "too much") this.#thread.keep(read);
    if (outputs.some(({ read }) => read === "too much"))
      this.#tooMuch.getOrMake(plan, () => ({ count: 0 })).count++;
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

// BLOB_BYTES covers the position, files, hash and symbols of a blob; FILE_BYTES covers the row and path of a file
const BLOB_BYTES = 56;
const PAGE_BYTES = 4;
const FILE_BYTES = 64;
const SEGMENT_BYTES = 16 * 1024;

/** Estimates the size of the tables of all segments that are searched, in bytes. */
function tableBytes(segments: SearchInput["segments"], { headers }: Catalog): number {
  let bytes = 0;
  for (const { segment, isDecided } of segments) {
    if (isDecided) continue;
    const { blobs, pages, files } = headers.get(segment)!;
    bytes += SEGMENT_BYTES + BLOB_BYTES * blobs + PAGE_BYTES * pages + FILE_BYTES * files;
  }
  return bytes;
}
