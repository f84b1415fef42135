/**
 * Decides which searches the calling thread tries to run itself, with thread/near-thread.ts. The calling thread tries a
 * search if its query consists only of words, paths, languages and symbols.
 */

import { LruCache } from "../../base/lru-cache.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { SearchInput, SearchOutput } from "../messages/messages.ts";
import { unpackPlan, type PackedPlan, type PlanAtom } from "../messages/plan.ts";

/** Runs searches on the calling thread. In this file, "this thread" is the calling thread. */
export interface NearThread {
  /**
   * Runs a search. Resolves to undefined if this thread cannot run it now, and to "too much" if the search takes too
   * much work.
   */
  search(
    input: SearchInput,
    headers: Catalog["headers"],
  ): Promise<SearchOutput | "too much" | undefined>;
}

/** The maximum length of a packed plan that this thread tries, in characters. */
const MOST_PLAN = 2048;
/** The maximum length of an expression in such a plan, in characters. */
const MOST_PATTERN = 64;
/** The maximum number of segments that this thread searches. Planning a segment takes 25 µs. */
const MOST_SEGMENTS = 64;
/** The maximum number of files whose paths this thread searches. Searching them takes 2 ms. */
const MOST_PATHS = 150_000;
/** The maximum number of remembered plans that were too much work for this thread. */
const MOST_TOO_MUCH = 256;

export class Near {
  readonly #thread: NearThread;
  /** Plans that were too much work for this thread. */
  readonly #tooMuch = new LruCache<PackedPlan, 1>({ most: MOST_TOO_MUCH });

  constructor(thread: NearThread) {
    this.#thread = thread;
  }

  /** Returns whether this thread should try the search. */
  mayTry(
    { plan, segments }: Pick<SearchInput, "plan" | "segments">,
    { headers }: Catalog,
  ): boolean {
    if (plan.length > MOST_PLAN || segments.length > MOST_SEGMENTS || this.#tooMuch.has(plan))
      return false;
    const { atoms } = unpackPlan(plan);
    if (atoms.length === 0 || !atoms.every(isEasyAtom)) return false;
    if (!atoms.some(({ kind }) => kind === "path")) return true;
    const files = segments.reduce((sum, { segment }) => sum + headers.get(segment)!.files, 0);
    return files <= MOST_PATHS;
  }

  /**
   * Searches on this thread. Resolves to undefined if the worker threads must run the search.
   * REQUIRES: mayTry() has returned true.
   */
  async search(input: SearchInput, { headers }: Catalog): Promise<SearchOutput | undefined> {
    const output = await this.#thread.search({ ...input, threads: 1 }, headers);
    if (output !== "too much") return output;
    this.#tooMuch.set(input.plan, 1);
    return undefined;
  }
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
