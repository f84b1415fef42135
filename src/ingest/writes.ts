/**
 * Runs all operations that change an index: index runs, removals and compactions. In one process, these operations
 * run one after another. Each operation holds the write lease, and first deletes the data that interrupted runs have
 * left behind.
 */

import { Slice } from "../base/yield.ts";
import { isOutOfFiles, lazily, outOfFiles } from "../base/out-of-files.ts";
import { JoinedSignal } from "../base/joined-signal.ts";
import { closedError, QuernError } from "../base/errors.ts";
import type { Pause } from "../base/yield.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { CatalogKeeper } from "../store/catalog/catalog-keeper.ts";
import { repositoryNamed, type Catalog } from "../store/catalog/catalog.ts";
import { textBytesOf } from "../store/catalog/manifest.ts";
import type { NewLayout } from "../store/format/format.ts";
import type { KeptTables } from "../store/segments/kept-tables.ts";
import type { MergedSegment } from "../store/upkeep/merge.ts";
import { deleteLeftovers } from "../store/upkeep/leftovers.ts";
import type { Environment } from "../store/lmdb/environment.ts";
import { acquireLease, type Lease } from "../store/lmdb/lease.ts";
import type { Pool } from "../threads/pool.ts";
import type { RunBounds } from "./run/bounds.ts";
import { removeRepository } from "./run/publish.ts";
import {
  hasLiveFiles,
  mergeInput,
  nextCompaction,
  nextMerge,
  publishMerge,
  type MergeGroup,
  type MergeOptions,
} from "./run/merging.ts";
import { aborted, throwIfAborted, unlessAborted } from "../base/abort.ts";
import type { IndexProgress, IndexReport } from "./run/report.ts";
import { indexSources } from "./run/run.ts";
import { withOutcome, type Step } from "./outcome.ts";
import type { Source } from "./sources/source.ts";

export interface WritesOptions {
  readonly environment: Environment;
  readonly pool: Pool;
  readonly catalogs: CatalogKeeper;
  readonly tables: KeptTables;
  readonly maxFileSize: number;
  readonly memoryBudget: number;
  readonly lockTimeoutMs: number;
  readonly pause: () => Pause;
  /** The oldest generation that a search of this process reads. */
  readonly oldestHeld: () => number;
  /** Called when the symbol pass finds damaged data. */
  readonly onWarning: (warning: { code: string; message: string }) => void;
  /** Fetches the missing parts of segments. Undefined if every segment in the directory is always complete. */
  readonly complete: Complete | undefined;
  /** The time for which a retired segment is kept, in milliseconds, because other processes may still read it. */
  readonly retireMs: number;
  readonly bounds: RunBounds;
  /** The sizes of the pages and blocks into which the text of new segments is divided. */
  readonly layout: NewLayout;
}

/**
 * Fetches the missing parts of segments. A directory of a cluster may have only the tables of a segment, without its
 * text and posting lists. Resolves to the segments that still have only tables.
 */
export type Complete = (completing: Completing) => Promise<ReadonlySet<number>>;

export interface Completing {
  readonly segments: readonly number[];
  /** The owner of the write lease. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined;
}

export interface StepOptions {
  /**
   * Called between two steps of a write (content, symbols, each merge). During the call, searches of the directory see
   * the results of all finished steps. The write continues when the returned promise resolves, and fails if the
   * promise rejects.
   */
  readonly betweenSteps?: (() => Promise<void>) | undefined;
  /** Whether segments may be merged. Default true. */
  readonly merges?: boolean | undefined;
}

export interface IndexWriteOptions extends WriteOptions, StepOptions {
  readonly symbols?: "after" | "skip" | undefined;
  readonly words?: "after" | "skip" | undefined;
}

/**
 * The result of compact().
 *
 * @example
 * const { segmentsBefore, segmentsAfter, bytesFreed } = await engine.compact();
 * console.log(`${segmentsBefore} → ${segmentsAfter} segments, ${bytesFreed} bytes of content freed`);
 */
export interface CompactReport {
  /** The number of segments before the compaction. */
  segmentsBefore: number;
  /** The number of segments after the compaction. */
  segmentsAfter: number;
  /** The size of the deleted content, in bytes. No repository used this content any more. */
  bytesFreed: number;
  /** The duration in milliseconds, including the wait for searches that still read the old segments. */
  durationMs: number;
}

interface Improving {
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: IndexProgress) => void;
  readonly betweenSteps: () => Promise<void>;
}

interface Merging extends Improving {
  readonly next: (catalog: Catalog, options: MergeOptions) => Promise<MergeGroup | undefined>;
}

const NO_STEPS = (): Promise<void> => Promise.resolve();
/**
 * The interval between two attempts to delete the retired segments, in milliseconds. The first attempt is made when
 * `retireMs` has passed.
 */
const RETIRE_CHECK_MS = 20;

type Sources = Source | Iterable<Source> | AsyncIterable<Source>;

// loaded only when needed, because a process that only searches needs no tree-sitter queries
const symbolPass = lazily(() => import("./symbols/symbol-pass.ts"));
const wordsPass = lazily(() => import("./words/words-pass.ts"));
const historyPass = lazily(() => import("./history/history-pass.ts"));

export class Writes {
  readonly #options: WritesOptions;
  readonly #closing = new AbortController();
  /** The names of the repositories that are being indexed for the first time. */
  readonly indexing = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: WritesOptions) {
    this.#options = options;
  }

  index(
    sources: Sources,
    {
      signal,
      onProgress = () => {},
      symbols = "after",
      words = "after",
      betweenSteps: given,
      merges = true,
    }: IndexWriteOptions,
  ): Promise<IndexReport[]> {
    return this.#enqueue(signal, async (lease, stop) => {
      const { environment, pool, catalogs, tables, maxFileSize, memoryBudget, pause } =
        this.#options;
      const { bounds, layout } = this.#options;
      const written = new Set<string>();
      let published: ReadonlySet<string> = given ? new Set() : written;
      const betweenSteps = async (): Promise<void> => {
        await given?.();
        published = new Set(written);
      };
      const startedAt = performance.now();
      let step: Step = "content";
      try {
        const reports = await indexSources(isOne(sources) ? [sources] : sources, {
          environment,
          catalog: await catalogs.newest(),
          pool,
          lease,
          tables,
          maxFileSize,
          memoryBudget,
          bounds,
          layout,
          signal: stop,
          onProgress,
          pause: pause(),
          onBegin: (repository) => this.indexing.add(repository),
          onPublished: (repository) => written.add(repository),
        });
        this.indexing.clear();
        const improving = { lease, signal: stop, onProgress, betweenSteps };
        // symbols are found before segments are merged; a merge copies the symbols, so the merged segment needs no
        // second pass
        step = "symbols";
        if (symbols !== "skip") await this.#findSymbols(reports, improving);
        step = "words";
        if (words !== "skip") await this.#indexWords(improving);
        step = "history";
        await this.#indexHistories(reports, improving);
        step = "merge";
        if (merges) await this.#merge({ ...improving, next: nextMerge });
        divideTime(reports, performance.now() - startedAt);
        return reports;
      } catch (error) {
        throw withOutcome(error, step, [...published]);
      } finally {
        this.indexing.clear();
      }
    });
  }

  /** Finds the missing symbols of all segments, including segments that earlier runs have written. */
  async #findSymbols(
    reports: readonly IndexReport[],
    { lease, signal, onProgress, betweenSteps }: Improving,
  ): Promise<void> {
    const { environment, pool, catalogs, memoryBudget, onWarning, complete } = this.#options;
    const { findSymbols } = await symbolPass();
    const found = await findSymbols({
      environment,
      pool,
      memoryBudget,
      catalog: await catalogs.newest(),
      owner: lease.owner,
      throwIfStopped: () => this.#throwIfStopped(signal),
      onProgress,
      onPending: betweenSteps,
      onWarning,
      complete: (segments) => complete?.({ segments, owner: lease.owner, signal }),
    });
    // if the caller has passed a repository twice, only its last report gets the symbols
    for (const report of [...reports].reverse()) {
      Object.assign(report, found.get(report.repositoryId));
      found.delete(report.repositoryId);
    }
  }

  /** Makes the missing word lists of all segments, including segments that earlier runs have written. */
  async #indexWords({ lease, signal, onProgress }: Improving): Promise<void> {
    const { environment, pool, catalogs, memoryBudget, onWarning } = this.#options;
    const { indexWords } = await wordsPass();
    await indexWords({
      environment,
      pool,
      memoryBudget,
      catalog: await catalogs.newest(),
      owner: lease.owner,
      throwIfStopped: () => this.#throwIfStopped(signal),
      onProgress,
      onWarning,
    });
  }

  /** Brings the histories of the indexed repositories up to date. */
  async #indexHistories(
    reports: readonly IndexReport[],
    { lease, signal, onProgress, betweenSteps }: Improving,
  ): Promise<void> {
    const { environment, pool, catalogs, memoryBudget, maxFileSize, layout } = this.#options;
    const { manifest, repositories } = await catalogs.newest();
    const indexed = new Set(reports.map(({ repositoryId }) => repositoryId));
    const having = new Set(manifest.history.map(({ repository }) => repository));
    const slice = new Slice({ signal });
    const concerned: number[] = [];
    for (const id of indexed) {
      if (having.has(id) || repositories.get(id)?.record.history) concerned.push(id);
      if (slice.isOver) await slice.rest();
    }
    if (concerned.length === 0) return;
    await betweenSteps();
    const { indexHistories } = await historyPass();
    const read = await indexHistories({
      environment,
      pool,
      memoryBudget,
      maxFileSize,
      layout,
      newest: () => catalogs.newest(),
      repositories: concerned,
      owner: lease.owner,
      signal,
      throwIfStopped: () => this.#throwIfStopped(signal),
      onProgress,
    });
    // if the caller has passed a repository twice, only its last report gets the history
    for (const report of [...reports].reverse()) {
      const history = read.get(report.repositoryId);
      if (history) report.history = history;
      read.delete(report.repositoryId);
    }
  }

  /** Removes a repository. Resolves to true if the repository existed. */
  remove(
    name: string,
    { betweenSteps = NO_STEPS, merges = true }: StepOptions = {},
  ): Promise<boolean> {
    return this.#enqueue(undefined, async (lease, stop) => {
      const known = repositoryNamed(await this.#options.catalogs.newest(), name);
      if (!known) return false;
      const { id } = known.record;
      await this.#options.environment.write((writer) => removeRepository(writer, id, lease.owner));
      const onProgress = (): void => {};
      try {
        const merging = { lease, signal: stop, onProgress, betweenSteps, next: nextMerge };
        if (merges) await this.#merge(merging);
      } catch (error) {
        throw withOutcome(error, "merge", betweenSteps === NO_STEPS ? [name] : []);
      }
      return true;
    });
  }

  /** Runs `work` while no process writes to the index. */
  whileUnchanged<T>(
    signal: AbortSignal | undefined,
    work: (stop: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#enqueue(signal, (_, stop) => work(stop));
  }

  compact({ signal, onProgress = () => {} }: WriteOptions): Promise<CompactReport> {
    return this.#enqueue(signal, async (lease, stop) => {
      const start = performance.now();
      const before = await this.#options.catalogs.newest();
      const betweenSteps = NO_STEPS;
      await this.#merge({ lease, signal: stop, onProgress, betweenSteps, next: nextCompaction });
      await this.#deleteRetired(lease, stop);
      const after = await this.#options.catalogs.newest();
      return {
        segmentsBefore: before.manifest.segments.length,
        segmentsAfter: after.manifest.segments.length,
        bytesFreed: textBytesOf(before.manifest) - textBytesOf(after.manifest),
        durationMs: performance.now() - start,
      };
    });
  }

  /** Runs merges until `next` returns undefined. Each merge is published in its own transaction. */
  async #merge({ lease, signal, onProgress, betweenSteps, next }: Merging): Promise<void> {
    const { owner } = lease;
    const { environment, pool, catalogs, bounds, layout } = this.#options;
    let [done, bytes] = [0, 0];
    for (;;) {
      this.#throwIfStopped(signal);
      const catalog = await catalogs.newest();
      const group = await next(catalog, { bounds, pause: this.#options.pause() });
      if (!group) return;
      const total = done + group.segments.length;
      const texts = group.lender === undefined ? group.segments : []; // a merge with a lender copies no text
      const totalBytes = texts.reduce((sum, one) => sum + one.textBytes, bytes);
      const tell = () =>
        onProgress({ repository: "", stage: "merge", done, total, bytes, totalBytes });
      tell();
      const input = mergeInput(catalog, group);
      // a merge without live files only removes empty segments; this is quick, and reads only tables
      if (hasLiveFiles(input)) {
        await betweenSteps();
        await this.#options.complete?.({ segments: input.segments, owner, signal });
      }
      const task = { merge: input, target: catalog.manifest.nextSegment, layout, owner };
      const written = await pool.run<MergedSegment>("ingest.merge", task, { lane: "ingest" });
      await environment.texts.sync([written.segment]);
      await environment.write((writer) => publishMerge(writer, { catalog, input, written, owner }));
      [done, bytes] = [total, totalBytes];
      tell();
    }
  }

  /** Deletes all retired segments, as soon as no search can read them. Resolves when all are deleted. */
  async #deleteRetired({ owner }: Lease, signal: AbortSignal): Promise<void> {
    const { environment, catalogs, oldestHeld, retireMs } = this.#options;
    for (;;) {
      const { retired } = (await catalogs.newest()).manifest;
      if (retired.length === 0) return;
      const due = Math.min(...retired.map(({ at }) => at)) + retireMs;
      const wait = Math.max(RETIRE_CHECK_MS, due - Date.now());
      await sleep(Math.min(wait, retireMs + RETIRE_CHECK_MS), undefined, { signal }); // the clock may have been put back
      await deleteLeftovers(environment, owner, { oldestHeld: oldestHeld(), retireMs });
    }
  }

  /** Aborts the running write, and rejects the writes that are still waiting. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#last;
  }

  #enqueue<T>(
    signal: AbortSignal | undefined,
    work: (lease: Lease, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const stop = new JoinedSignal([signal, this.#closing.signal]);
    const before = this.#last;
    const result = unlessAborted(stop.signal, before)
      .catch((error: unknown) => Promise.reject(this.#reasonOf(error, stop.signal)))
      .then(() => this.#write(stop.signal, work))
      .finally(() => stop[Symbol.dispose]());
    // a write that is aborted while it waits settles before the writes ahead of it
    this.#last = Promise.allSettled([before, result]);
    return result;
  }

  async #write<T>(
    stop: AbortSignal,
    work: (lease: Lease, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.#throwIfStopped(stop);
    const { environment, lockTimeoutMs, oldestHeld, retireMs } = this.#options;
    const acquiring = acquireLease(environment, { timeoutMs: lockTimeoutMs, signal: stop });
    const lease = await acquiring.catch((error: unknown) => {
      throw this.#reasonOf(error, stop);
    });
    try {
      await deleteLeftovers(environment, lease.owner, { oldestHeld: oldestHeld(), retireMs });
      return await work(lease, stop);
    } catch (error) {
      throw this.#reasonOf(error, stop);
    } finally {
      // another process may have taken over the lease, and on a full disk the lease cannot be released
      await lease.release().catch(() => undefined);
    }
  }

  /** Returns the error to throw. Functions of Node.js reject with an AbortError, which callers must not see. */
  #reasonOf(error: unknown, stop: AbortSignal): unknown {
    const isOwn = error instanceof QuernError;
    if (this.#closing.signal.aborted)
      return isOwn && error.code === "ENGINE_CLOSED" ? error : closedError();
    if (stop.aborted && !isOwn) return aborted(stop);
    return isOutOfFiles(error) ? outOfFiles(error) : error;
  }

  #throwIfStopped(stop: AbortSignal): void {
    if (this.#closing.signal.aborted) throw closedError();
    throwIfAborted(stop);
  }
}

/** Adds to each report its part of the time that was not spent on reading one repository, by bytes read. */
function divideTime(reports: readonly IndexReport[], wholeMs: number): void {
  const weightOf = ({ bytesRead }: IndexReport): number => bytesRead + 1; // nothing may have been read
  const weights = reports.reduce((sum, one) => sum + weightOf(one), 0);
  const sharedMs = wholeMs - reports.reduce((sum, { durationMs }) => sum + durationMs, 0);
  for (const report of reports) report.durationMs += (sharedMs * weightOf(report)) / weights;
}

/**
 * Returns true if the argument of index() is one source, and false if it is an iterable. Throws INVALID_REQUEST if it
 * is neither.
 */
export function isOne(sources: Sources): sources is Source {
  if (typeof sources === "object" && sources !== null) {
    if (Symbol.iterator in sources || Symbol.asyncIterator in sources) return false;
    if ("name" in sources) return true;
  }
  throw new QuernError("INVALID_REQUEST", "index: give a source, or several in an iterable");
}
