/**
 * Runs a search on the calling thread if the search needs little work. Sending such a search to another thread and back
 * would take most of its time. The calling thread runs the same code as a worker, with two differences. It uses only
 * tables that threads share, because reading the tables of a segment takes milliseconds. And it stops reading
 * after reads that took long, because a slow disk must not block the host. In both cases, and if there is too much work, the
 * workers run the search.
 */

import { closedError } from "../../base/errors.ts";
import { newPause, type Pause } from "../../base/yield.ts";
import type { KeyRange, Environment, Snapshot } from "../../store/lmdb/environment.ts";
import type { SharedMemory } from "../../store/segments/shared-memory.ts";
import type { SegmentHeader } from "../../store/segments/segment-tables.ts";
import { isCorrupt } from "../../store/format/sealed.ts";
import { Control, STOPPED } from "../messages/control.ts";
import { nothingFound, type SearchInput, type SearchOutput } from "../messages/messages.ts";
import { unpackPlan } from "../messages/plan.ts";
import { prepareInTime, type PreparedAtom } from "./planning/prepare.ts";
import type { SegmentWork } from "./literal/segment-work.ts";
import { ThreadTools } from "./reading/thread-tools.ts";
import { SearchRun, SegmentGone } from "./search-task.ts";

/**
 * The maximum number of candidate files in a search that the calling thread runs. Scoring a file takes about a
 * microsecond.
 */
const MOST_FILES = 2048;
/** The maximum number of pages that such a search reads. Reading and scanning a page takes 1 to 5 µs. */
const MOST_PAGES = 64;
/**
 * The maximum time that the reads of a search may take, in milliseconds. If all data is in the system's cache, they
 * take less than a third of this. Once they have taken longer, the calling thread reads nothing for RESTS times as long.
 * So slow reads block it for at most a twentieth of the time.
 */
const READING_MS = 2;
const RESTS = 20;

/** Thrown if a search is too much work for the calling thread. */
class TooMuch extends Error {}

/** Thrown if the calling thread lacks a table, or would have to read from a slow disk. */
class NotHere extends Error {}

/** The headers of all segments, by their numbers. */
type Headers = ReadonlyMap<number, SegmentHeader>;

export class NearThread {
  readonly #environment: Environment;
  readonly #shared: () => SharedMemory | undefined;
  /** The tools of the calling thread, with the memory that they share. Created for the first search. */
  #tools: { readonly thread: ThreadTools; readonly shared: SharedMemory } | undefined;
  /** The time until which the calling thread reads nothing. */
  #restsUntil = 0;
  #isBusy = false;
  #isClosed = false;

  /** `shared` returns the memory that threads currently share. */
  constructor(environment: Environment, shared: () => SharedMemory | undefined) {
    this.#environment = environment;
    this.#shared = shared;
  }

  /**
   * Runs a search. Resolves to "too much" if the search needs too much work. Resolves to undefined if another search is
   * running here, or if something is missing, slow or damaged.
   */
  async search(
    input: SearchInput,
    headers: Headers,
  ): Promise<SearchOutput | "too much" | undefined> {
    const isResting = performance.now() < this.#restsUntil;
    if (this.#isBusy || this.#isClosed || isResting) return undefined;
    const thread = this.#thread();
    if (!thread) return undefined;
    this.#isBusy = true;
    const mark = thread.arena.mark();
    const opened = this.#environment.snapshot();
    const snapshot = new PromptSnapshot(opened);
    try {
      const pause = this.#pause();
      for (const { segment } of input.segments) {
        thread.open(snapshot, segment, headers.get(segment));
        await pause();
      }
      const output = await run(input, { thread, snapshot, pause });
      // workers find out whether a segment is damaged or was deleted
      return output.parts.some(({ failure }) => failure) ? undefined : output;
    } catch (error) {
      if (error instanceof TooMuch) return "too much";
      if (error instanceof NotHere || error instanceof SegmentGone || isCorrupt(error))
        return undefined;
      throw error;
    } finally {
      const { spentMs } = snapshot;
      if (spentMs > READING_MS) this.#restsUntil = performance.now() + RESTS * spentMs;
      opened.close();
      thread.arena.release(mark);
      this.#isBusy = false;
    }
  }

  /**
   * Returns the tools of this thread, or undefined if threads share no memory. Creates new tools if the threads now share
   * another memory.
   */
  #thread(): ThreadTools | undefined {
    const shared = this.#shared();
    if (!shared) return undefined;
    if (this.#tools?.shared !== shared) this.trim();
    const onMissing = (): never => {
      throw new NotHere();
    };
    this.#tools ??= { thread: new ThreadTools(true, { shared, onMissing }), shared };
    return this.#tools.thread;
  }

  /** Drops all open segments. */
  trim(): void {
    this.#tools = undefined;
  }

  /** Ends the running search, if any. Later searches resolve to undefined. */
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
    pause,
  }: { readonly thread: ThreadTools; readonly snapshot: Snapshot; readonly pause: Pause },
): Promise<SearchOutput> {
  const control = new Control(input.shared);
  const tools = thread.forTask({
    isStopped: () => control.stopped !== 0,
    giveUp: () => control.stop(STOPPED.TIMED_OUT),
    isDue: () => control.hasEnded,
    pause,
  });
  const query = await prepareInTime(unpackPlan(input.plan), tools);
  if (!query) return nothingFound();
  if (!query.atoms.every(isEasy)) throw new TooMuch();
  const context = { pause, post: () => {}, transfer: () => {} };
  const searching = { input, worker: 0, query, control, snapshot, thread, tools, context };
  const search = new SearchRun(searching);
  await search.planAll(limits());
  return search.run();
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
 * Returns a function to call with the work in each segment. The function throws TooMuch once all of it together is too
 * much work.
 */
function limits(): (work: SegmentWork) => void {
  let [files, pages] = [0, 0];
  return ({ candidates, stats }) => {
    files += candidates;
    pages += stats.ngramMatches;
    if (files > MOST_FILES || pages > MOST_PAGES) throw new TooMuch();
  };
}

/** Reads through another snapshot. Throws NotHere instead of reading on after reads that took longer than READING_MS. */
class PromptSnapshot implements Snapshot {
  readonly #snapshot: Snapshot;
  /** The time that all reads have taken, in milliseconds. */
  spentMs = 0;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    const began = this.#begin();
    const value = this.#snapshot.get(key, what);
    this.spentMs += performance.now() - began;
    return value;
  }

  getSealed(key: Buffer): Uint8Array | undefined {
    const began = this.#begin();
    const value = this.#snapshot.getSealed(key);
    this.spentMs += performance.now() - began;
    return value;
  }

  copyText(...[segment, from, to, target, at]: Parameters<CopyText>): boolean {
    const began = this.#begin();
    const isCopied = this.#snapshot.copyText!(segment, from, to, target, at);
    this.spentMs += performance.now() - began;
    return isCopied;
  }

  #begin(): number {
    if (this.spentMs > READING_MS) throw new NotHere();
    return performance.now();
  }

  hasOpenText(segment: number): boolean {
    return this.#snapshot.hasOpenText!(segment);
  }

  textSeal(segment: number, block: number): number {
    return this.#snapshot.textSeal!(segment, block);
  }

  keys(range: KeyRange, limit?: number): Iterable<Buffer> {
    return this.#snapshot.keys(range, limit);
  }

  close(): void {}
}

type CopyText = NonNullable<Snapshot["copyText"]>;
