/**
 * Runs a search on the calling thread if the search needs little work and no data from the disk. Sending such a search
 * to another thread and back would take most of its time. The calling thread runs the same code as a worker, but reads
 * only tables and posting lists that threads share, and cached values (kept-values.ts). If something is missing, or if
 * there is too much work, the calling thread gives up and the workers run the search. The workers add what is missing
 * to the shared memory, and record the values that they read. The calling thread caches these values, so that it can
 * run the next such search itself.
 */

import { countBits } from "../../base/bitset.ts";
import { closedError } from "../../base/errors.ts";
import { newPause, type Pause } from "../../base/yield.ts";
import { contentOf, type ManifestSegment } from "../../store/catalog/manifest.ts";
import { KeptValues, NotKept, type PackedValues } from "../../store/memory/kept-values.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import type { SharedMemory } from "../../store/segments/shared-tables.ts";
import type { SegmentHeader } from "../../store/segments/segment-tables.ts";
import { isCorrupt } from "../../store/format/sealed.ts";
import { Control, STOPPED } from "../messages/control.ts";
import { nothingFound, type SearchInput, type SearchOutput } from "../messages/messages.ts";
import { unpackPlan } from "../messages/plan.ts";
import { prepareInTime, type PreparedAtom, type PreparedQuery } from "./planning/prepare.ts";
import type { SegmentPlan } from "./planning/segment-plan.ts";
import type { PagesAhead } from "./reading/pages-ahead.ts";
import { openDefinitions, ThreadTools } from "./reading/thread-tools.ts";
import { SearchRun } from "./search-task.ts";

/**
 * The maximum number of bytes of cached values. This is enough for the text of about 400 pages, if each page is in a
 * different block of 16 KiB.
 */
const KEPT_BYTES = 8 * 2 ** 20;
/**
 * The maximum number of candidate files in a search that the calling thread runs. Scoring a file takes about a
 * microsecond.
 */
const MOST_FILES = 2048;
/** The maximum number of pages that such a search reads. Reading and scanning a page takes 1 µs. */
const MOST_PAGES = 400;

/** Thrown if a search is too much work for the calling thread. */
class TooMuch extends Error {}

/** The headers of all segments, by their numbers. */
type Headers = ReadonlyMap<number, SegmentHeader>;

export class NearThread {
  readonly #shared: () => SharedMemory;
  /** Maps the number of each open segment to the edition of its symbols. */
  readonly #editions = new Map<number, number>();
  readonly #values = new KeptValues(KEPT_BYTES);
  /** The tools of the calling thread, with the memory that they share. Created for the first search. */
  #tools: { readonly thread: ThreadTools; readonly tables: SharedMemory["tables"] } | undefined;
  #isBusy = false;
  #isClosed = false;

  /** `shared` returns the memory that threads currently share. */
  constructor(shared: () => SharedMemory) {
    this.#shared = shared;
  }

  /**
   * Runs a search. Resolves to undefined if data is missing or another search is running here, and to "too much" if the
   * search needs too much work.
   */
  async search(
    input: SearchInput,
    headers: Headers,
    ahead: PagesAhead,
  ): Promise<SearchOutput | "too much" | undefined> {
    if (this.#isBusy || this.#isClosed) return undefined;
    const thread = this.#thread();
    this.#isBusy = true;
    const mark = thread.arena.mark();
    try {
      const snapshot = this.#values.snapshot();
      const pause = this.#pause();
      for (const { segment, symbols, isDecided } of input.segments) {
        if (isDecided) continue;
        const opened = thread.open(snapshot, segment, headers.get(segment))!;
        openDefinitions(snapshot, opened, symbols);
        this.#editions.set(segment, symbols);
        await pause();
      }
      return await run(input, { thread, snapshot, ahead, pause });
    } catch (error) {
      if (error instanceof TooMuch) return "too much";
      // the workers then run the search, and report the damage if there is any
      if (error instanceof NotKept || isCorrupt(error)) return undefined;
      throw error;
    } finally {
      thread.arena.release(mark);
      this.#isBusy = false;
    }
  }

  /** Returns the tools of this thread. Creates new tools if the threads now share other tables. */
  #thread(): ThreadTools {
    const shared = this.#shared();
    if (this.#tools?.tables !== shared.tables) this.trim();
    this.#tools ??= { thread: new ThreadTools(true, shared), tables: shared.tables };
    return this.#tools.thread;
  }

  /** Caches the values that workers have read. */
  keep(read: PackedValues): void {
    this.#values.add(read);
  }

  /**
   * Drops the data of all segments except the given ones. Also drops the data of a given segment if it was opened with
   * another edition of its symbols.
   */
  dropOthers(segments: readonly Pick<ManifestSegment, "segment" | "content" | "symbols">[]): void {
    const editions = new Map<number, number>();
    for (const { segment, symbols } of segments) editions.set(segment, symbols);
    for (const [segment, edition] of this.#editions) {
      if (editions.get(segment) === edition) continue;
      this.#tools?.thread.close(segment);
      this.#editions.delete(segment);
    }
    const open = segments.filter(({ segment }) => this.#editions.has(segment));
    const stored = new Set(open.flatMap((one) => [one.segment, contentOf(one)]));
    this.#values.dropOthers((segment) => stored.has(segment));
  }

  /** Drops all cached values and all open segments. */
  trim(): void {
    this.#tools = undefined;
    this.#editions.clear();
    this.#values.dropOthers(() => false);
  }

  /** Ends the running search, if any, and drops all data. Later searches resolve to undefined. */
  close(): void {
    this.#isClosed = true;
    this.trim();
  }

  #pause(): Pause {
    const pause = newPause();
    return () => (this.#isClosed ? Promise.reject(closedError()) : pause());
  }
}

async function run(
  input: SearchInput,
  {
    thread,
    snapshot,
    ahead,
    pause,
  }: {
    readonly thread: ThreadTools;
    readonly snapshot: Snapshot;
    readonly ahead: PagesAhead;
    readonly pause: Pause;
  },
): Promise<SearchOutput> {
  const control = new Control(input.shared);
  const stop = {
    isStopped: () => control.stopped !== 0,
    giveUp: () => control.stop(STOPPED.TIMED_OUT),
    isDue: () => control.hasEnded,
    pause,
  };
  const tools = { ...thread.forTask(stop), ahead };
  const query = await prepareInTime(unpackPlan(input.plan), tools);
  if (!query) return nothingFound();
  const context = { pause, post: () => {}, transfer: () => {} };
  const checkPlan = limits(query);
  const searching = {
    input,
    worker: 0,
    query,
    control,
    snapshot,
    thread,
    tools,
    context,
    checkPlan,
  };
  return new SearchRun(searching).run();
}

/**
 * The maximum size of an expression that the calling thread searches for. RE2 confirms the matches on the same thread,
 * which may take long for larger expressions; see verify.ts.
 */
const MOST_SIZE = 64;

function isEasy(atom: PreparedAtom): boolean {
  if (atom.kind === "literal" || atom.kind === "language") return true;
  // an expression without a literal to search for must be tried on each path
  if (atom.kind === "path" && !atom.anchors) return false;
  const { expression } = atom.kind === "path" ? atom : atom.placed;
  return (expression.size ?? Infinity) <= MOST_SIZE;
}

/**
 * Returns a function to call with each plan of a search. The function throws TooMuch once the plans together need too
 * much work. limits() itself throws TooMuch if an atom of the query is not easy for this thread.
 */
function limits(query: PreparedQuery): (plan: SegmentPlan) => void {
  let [files, pages] = [0, 0];
  if (!query.atoms.every(isEasy)) throw new TooMuch();
  return ({ candidates, stats }) => {
    files += countBits(candidates);
    pages += stats.ngramMatches;
    if (files > MOST_FILES || pages > MOST_PAGES) throw new TooMuch();
  };
}
