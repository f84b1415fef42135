/**
 * A search, seen from the caller's thread: parses, asks the threads, puts their answers together. It
 * never scans, and works in slices of a few milliseconds whatever the size of the answer.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { hasBit } from "../base/bitset.ts";
import { QuernError } from "../base/errors.ts";
import { atomsOf, namesRevision, show, type Query } from "../query/ast.ts";
import { parseQuery } from "../query/parse.ts";
import { simplify } from "../query/simplify.ts";
import type { Catalog, CatalogRepository } from "../store/catalog.ts";
import type { Pool } from "../threads/pool.ts";
import type { SkippedFile } from "../store/records.ts";
import { Control, STOPPED } from "./control.ts";
import { changesOf, notIndexed } from "./explain.ts";
import type { ExplainedSegment } from "./explain-task.ts";
import { mergeRanked, type Ranked } from "./merge-ranked.ts";
import type {
  RepositoryTable,
  SearchInput,
  SearchOutput,
  SegmentInput,
  ShowFile,
  ShownFile,
  ShowInput,
  ShowResult,
  StreamPart,
} from "./messages.ts";
import { NameMatcher } from "./name-matcher.ts";
import { planQuery, type HostAtom, type Plan } from "./plan.ts";
import { presentFile, repositoryInfo, type WebUrl } from "./present.ts";
import {
  checkRequest,
  type CheckedRequest,
  type SearchOptions,
  type SearchRequest,
} from "./request.ts";
import type { Explanation, FileResult, SearchEvent, SearchResponse } from "./response.ts";
import { branchesOf, segmentsInScope, unknownContext } from "./scope.ts";
import { PartQueue } from "./part-queue.ts";
import { addStats, zeroStats, type SearchStats } from "./stats.ts";
import { tally } from "./tally.ts";

/** Files and ranges that one message brings back: some ms to receive. */
const SHOWN_FILES = 32;
const SHOWN_RANGES = 512;
/** How often a search starts again because segments were merged away under it. */
const MOST_ATTEMPTS = 5;

export type Contexts = (
  name: string,
) => Iterable<string> | undefined | Promise<Iterable<string> | undefined>;

export interface SearcherOptions {
  readonly pool: Pool;
  /** The newest generation. */
  readonly catalog: () => Promise<Catalog>;
  readonly webUrl: WebUrl;
  readonly contexts: Contexts | undefined;
  readonly onWarning: (warning: { code: string; message: string }) => void;
  /** Repositories whose first index is under way. */
  readonly indexing: () => ReadonlySet<string>;
  /** Files of a repository that are listed and not searchable. */
  readonly skipped: (repository: number) => readonly SkippedFile[];
}

/** A query as understood, before it meets a catalog. */
export interface Understood {
  readonly request: CheckedRequest;
  readonly query: Query;
  readonly plan: Plan;
  readonly hostAtoms: readonly HostAtom[];
  readonly allRevisions: boolean;
  /** Of `rev:` atoms under no negation: which branches a result names. */
  readonly revisionValues: readonly string[];
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
}

/** One attempt on one catalog. */
interface Attempt {
  readonly understood: Understood;
  readonly options: SearchOptions;
  readonly catalog: Catalog;
  readonly segments: readonly SegmentInput[];
  readonly control: Control;
  readonly startedAt: number;
}

export class Searcher {
  readonly #options: SearcherOptions;
  readonly #names = new NameMatcher();
  /** Generations that searches hold, each as often as it is held. */
  readonly #held = new Map<number, number>();

  constructor(options: SearcherOptions) {
    this.#options = options;
  }

  /** The oldest generation that a running search still reads; Infinity without one. */
  get oldestHeld(): number {
    return Math.min(Infinity, ...this.#held.keys());
  }

  async search(request: SearchRequest, options: SearchOptions = {}): Promise<SearchResponse> {
    const startedAt = performance.now();
    const understood = await this.understand(request);
    for (let attempt = 1; ; attempt++) {
      throwIfAborted(options.signal);
      const response = await this.#attempt(understood, options, startedAt);
      if (response) return response;
      if (attempt === MOST_ATTEMPTS)
        throw new QuernError(
          "INTERNAL",
          "segments were merged away faster than they could be searched",
        );
    }
  }

  /** As search(), in parts as they are found. What was delivered stays: a segment that is merged away meanwhile counts as crashed. */
  async *stream(request: SearchRequest, options: SearchOptions = {}): AsyncGenerator<SearchEvent> {
    const startedAt = performance.now();
    const understood = await this.understand(request);
    throwIfAborted(options.signal);
    const catalog = await this.#options.catalog();
    const { generation } = catalog.manifest;
    this.#hold(generation, 1);
    const segments = this.segments(understood, catalog, options);
    const control = Control.create(segments.length, understood.request.matches);
    const attempt = { understood, options, catalog, segments, control, startedAt };
    const parts = new PartQueue<StreamPart>();
    const outputs = stoppable(attempt, () =>
      this.#searchSegments(attempt, (part) => parts.push(part)),
    );
    outputs.then(
      () => parts.end(),
      (error: unknown) => parts.fail(error),
    );
    try {
      let delivered = 0;
      for await (const part of parts) {
        const event = await this.#presentPart(attempt, part);
        delivered += event.stats.actualMatchCount;
        if (event.files.length > 0) yield event;
      }
      yield this.#final(attempt, await outputs, delivered);
    } finally {
      control.stop(STOPPED.ABORTED);
      await outputs.catch(() => undefined);
      this.#hold(generation, -1);
    }
  }

  async #presentPart(
    { understood, catalog, segments }: Attempt,
    part: StreamPart,
  ): Promise<Extract<SearchEvent, { type: "chunk" }>> {
    const owner = ownerFinder(catalog);
    const pause = turnstile();
    const files: FileResult[] = [];
    const stats = zeroStats();
    addStats(stats, {
      ...part.stats,
      contentBytesLoaded: part.stats.contentBytesLoaded + part.contentBytesLoaded,
    });
    for (const shown of part.files) {
      const { segment } = segments[shown.position]!;
      files.push(
        this.#present(understood, owner(segment, shown.file), { segment, file: shown.file, shown }),
      );
      stats.actualMatchCount += shown.count;
      await pause();
    }
    return {
      type: "chunk",
      stats,
      files,
      repositoryInfo: repositoryInfo(files, catalog.repositories),
    };
  }

  #final(
    { segments, control, startedAt }: Attempt,
    outputs: readonly SearchOutput[],
    delivered: number,
  ): Extract<SearchEvent, { type: "final" }> {
    const { stats, damages } = tally(outputs, segments.length);
    for (const message of damages) this.#options.onWarning({ code: "INDEX_CORRUPT", message });
    addStats(stats, { actualMatchCount: delivered });
    timeStats(stats, outputs, { control, startedAt });
    return { type: "final", accumulatedStats: stats, isSearchExhaustive: isExhaustive(stats) };
  }

  async explain(request: SearchRequest, options: SearchOptions = {}): Promise<Explanation> {
    const understood = await this.understand(request);
    const { stats } = await this.search({ ...request, matches: 0 }, options);
    const catalog = await this.#options.catalog();
    const input = { plan: understood.plan, segments: this.segments(understood, catalog, options) };
    const segments = await this.#options.pool.run<ExplainedSegment[]>("search.explain", input, {
      lane: "search",
    });
    const { query, contexts } = understood;
    const { viewer } = options;
    const matches = (atom: { pattern: string; caseSensitive: boolean }, text: string) =>
      this.#names.matches(atom, text);
    return {
      query: show(query),
      segments: segments.map(({ isDamaged, ...segment }) => ({
        ...segment,
        outcome: outcomeOf(segment, isDamaged, stats),
      })),
      stats,
      suggestions: stats.totalMatchCount > 0 ? [] : await this.#tryChanges(understood, options),
      notIndexed: notIndexed({
        query,
        catalog,
        viewer,
        contexts,
        indexing: this.#options.indexing(),
        skipped: this.#options.skipped,
        matches,
      }),
    };
  }

  /** Those changes that find something. */
  async #tryChanges(
    { request, query }: Understood,
    options: SearchOptions,
  ): Promise<Explanation["suggestions"]> {
    const found: Explanation["suggestions"] = [];
    for (const change of changesOf(request, query)) {
      const { stats } = await this.search({ ...change.request, matches: 0 }, options);
      if (stats.totalMatchCount > 0)
        found.push({ ...change, totalMatchCount: stats.totalMatchCount });
    }
    return found;
  }

  async understand(given: SearchRequest): Promise<Understood> {
    const request = checkRequest(given);
    const dialect = {
      regex: request.isRegexEnabled,
      caseSensitive: request.isCaseSensitivityEnabled,
    };
    const parsed = parseQuery(request.query, dialect);
    const query = simplify(parsed);
    return {
      request,
      query,
      ...planQuery(query),
      allRevisions: namesRevision(parsed),
      revisionValues: namedRevisions(query),
      contexts: await this.#resolveContexts(parsed),
    };
  }

  async #resolveContexts(query: Query): Promise<Map<string, ReadonlySet<string>>> {
    const resolved = new Map<string, ReadonlySet<string>>();
    for (const atom of atomsOf(query)) {
      if (atom.kind !== "context" || resolved.has(atom.name)) continue;
      const names = await this.#options.contexts?.(atom.name);
      if (!names) throw unknownContext(atom.name);
      resolved.set(atom.name, new Set(names));
    }
    return resolved;
  }

  /** undefined: a segment was merged away meanwhile; try again on a newer catalog. */
  async #attempt(
    understood: Understood,
    options: SearchOptions,
    startedAt: number,
  ): Promise<SearchResponse | undefined> {
    const catalog = await this.#options.catalog();
    const { generation } = catalog.manifest;
    this.#hold(generation, 1);
    try {
      const segments = this.segments(understood, catalog, options);
      const control = Control.create(segments.length, understood.request.matches);
      const attempt = { understood, options, catalog, segments, control, startedAt };
      return await stoppable(attempt, () => this.#run(attempt));
    } finally {
      this.#hold(generation, -1);
    }
  }

  #hold(generation: number, change: 1 | -1): void {
    const count = (this.#held.get(generation) ?? 0) + change;
    if (count === 0) this.#held.delete(generation);
    else this.#held.set(generation, count);
  }

  segments(understood: Understood, catalog: Catalog, { viewer }: SearchOptions): SegmentInput[] {
    return segmentsInScope({
      catalog,
      viewer,
      hostAtoms: understood.hostAtoms,
      allRevisions: understood.allRevisions,
      contexts: understood.contexts,
      matchesName: (atom, name) => this.#names.matches(atom, name),
    });
  }

  async #run(attempt: Attempt): Promise<SearchResponse | undefined> {
    const outputs = await this.#searchSegments(attempt);
    const { stats, damages, gone } = tally(outputs, attempt.segments.length);
    if (gone > 0) return undefined;
    for (const message of damages) this.#options.onWarning({ code: "INDEX_CORRUPT", message });
    const wanted = await this.#chooseFiles(attempt, outputs);
    const shown = await this.#show(attempt, wanted);
    if (!shown) return undefined;
    return this.#respond(attempt, { stats, outputs, wanted, shown });
  }

  async #searchSegments(
    { understood, catalog, segments, control }: Attempt,
    onPart?: (part: StreamPart) => void,
  ): Promise<SearchOutput[]> {
    const { pool } = this.#options;
    const { contextLines, whole, matches } = understood.request;
    const onMessage = (message: unknown) => onPart?.(message as StreamPart);
    const threads = Math.min(pool.lanes, Math.max(1, segments.length * 2));
    const input: SearchInput = {
      plan: understood.plan,
      segments,
      repositories: repositoryTable(catalog),
      matches,
      threads,
      shared: control.shared,
      ...(onPart ? { stream: { contextLines, whole } } : {}),
    };
    if (segments.length === 0) return [];
    const run = () =>
      pool.run<SearchOutput>("search.segments", input, { lane: "search", onMessage });
    return Promise.all(Array.from({ length: threads }, run));
  }

  /** The best files, until `matches` ranges are used up. */
  async #chooseFiles({ understood }: Attempt, outputs: readonly SearchOutput[]): Promise<Ranked[]> {
    const chosen: Ranked[] = [];
    const pause = turnstile();
    let left = understood.request.matches;
    for (const ranked of mergeRanked(outputs.map(({ ranked }) => ranked))) {
      if (left <= 0) break;
      const count = Math.min(left, ranked.count);
      left -= count;
      chosen.push({ ...ranked, count });
      await pause();
    }
    return chosen;
  }

  /** Results in the order of the files; undefined: a segment is gone. */
  async #show(
    { understood, segments, options }: Attempt,
    files: readonly Ranked[],
  ): Promise<(ShownFile | undefined)[] | undefined> {
    const { pool } = this.#options;
    const { contextLines, whole } = understood.request;
    const groups = groupFiles(files, whole);
    const shown: (ShownFile | undefined)[][] = [];
    let isGone = false;
    let next = 0;
    const pause = turnstile();
    const work = async () => {
      for (let at = next++; at < groups.length && !isGone; at = next++) {
        throwIfAborted(options.signal);
        const input: ShowInput = {
          plan: understood.plan,
          files: groups[at]!.map((file) => showFile(file, segments)),
          contextLines,
          whole,
        };
        const result = await pool.run<ShowResult>("search.show", input, { lane: "search" });
        if (result === "gone") isGone = true;
        else shown[at] = [...result.files];
        await pause();
      }
    };
    await Promise.all(Array.from({ length: Math.min(pool.lanes, groups.length) }, work));
    return isGone ? undefined : shown.flat();
  }

  async #respond(
    { understood, catalog, segments, control, startedAt }: Attempt,
    found: {
      stats: SearchStats;
      outputs: readonly SearchOutput[];
      wanted: readonly Ranked[];
      shown: readonly (ShownFile | undefined)[];
    },
  ): Promise<SearchResponse> {
    const { stats, wanted } = found;
    const owner = ownerFinder(catalog);
    const files: FileResult[] = [];
    const pause = turnstile();
    const damaged = new Set<number>();
    for (const [i, shown] of found.shown.entries()) {
      const { segment: position, file } = wanted[i]!;
      const { segment } = segments[position]!;
      if (!shown) damaged.add(segment);
      else files.push(this.#present(understood, owner(segment, file), { segment, file, shown }));
      stats.actualMatchCount += shown?.count ?? 0;
      await pause();
    }
    addStats(stats, { crashes: damaged.size, shardsScanned: -damaged.size });
    timeStats(stats, found.outputs, { control, startedAt });
    return {
      stats,
      files,
      repositoryInfo: repositoryInfo(files, catalog.repositories),
      isSearchExhaustive: isExhaustive(stats),
    };
  }

  #present(
    { allRevisions, revisionValues }: Understood,
    repository: CatalogRepository,
    { segment, file, shown }: { segment: number; file: number; shown: ShownFile },
  ): FileResult {
    const branches = branchesOf(
      repository,
      { segment, file },
      { values: revisionValues, allRevisions },
    );
    return presentFile(repository, shown, { branches, webUrl: this.#options.webUrl });
  }
}

function outcomeOf(
  { candidateFiles }: Pick<ExplainedSegment, "candidateFiles">,
  isDamaged: boolean,
  { shardsSkipped }: SearchStats,
): Explanation["segments"][number]["outcome"] {
  if (isDamaged) return "damaged";
  if (candidateFiles === 0) return "skipped-by-filter";
  return shardsSkipped > 0 ? "not-reached" : "scanned";
}

export function isExhaustive(stats: SearchStats): boolean {
  const { actualMatchCount, totalMatchCount, crashes, shardsSkipped, filesSkipped } = stats;
  return actualMatchCount === totalMatchCount && crashes + shardsSkipped + filesSkipped === 0;
}

/** The times of the whole search, and why it ended. */
function timeStats(
  stats: SearchStats,
  outputs: readonly SearchOutput[],
  { control, startedAt }: Pick<Attempt, "control" | "startedAt">,
): void {
  stats.duration = Math.round((performance.now() - startedAt) * 1e6);
  const began = outputs.map(({ beganAt }) => beganAt - performance.timeOrigin - startedAt);
  stats.wait = began.length === 0 ? 0 : Math.max(0, Math.round(Math.min(...began) * 1e6));
  if (control.stopped === STOPPED.TIMED_OUT && stats.shardsSkipped > 0)
    stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
}

/** The values of `rev:` under no negation. */
function namedRevisions(query: Query): string[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(namedRevisions);
  return query.kind === "revision" ? [query.value] : [];
}

/** Runs with the caller's time-out and signal in force. */
async function stoppable<T>({ options, control }: Attempt, run: () => Promise<T>): Promise<T> {
  const { signal, timeoutMs } = options;
  throwIfAborted(signal);
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => control.stop(STOPPED.TIMED_OUT), timeoutMs);
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      control.stop(STOPPED.ABORTED);
      reject(abortedError());
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await (signal ? Promise.race([run(), aborted]) : run());
  } finally {
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener("abort", onAbort);
    control.stop(STOPPED.ABORTED); // whoever is still at it need not be
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError();
}

const abortedError = (): QuernError =>
  new QuernError("ABORTED", "the caller's signal aborted the search");

/** To be awaited in long loops: gives way to the event loop every 2 ms. */
export function turnstile(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < 2) return undefined;
    return nextTurn().then(() => void (since = performance.now()));
  };
}

const tables = new WeakMap<Catalog, RepositoryTable>();

/** In the order of names, in memory that threads share. */
function repositoryTable(catalog: Catalog): RepositoryTable {
  let table = tables.get(catalog);
  if (table) return table;
  const records = [...catalog.repositories.values()].map(({ record }) => record);
  records.sort((a, b) => (a.name < b.name ? -1 : 1));
  table = {
    ids: new Uint32Array(new SharedArrayBuffer(4 * records.length)),
    ranks: new Float64Array(new SharedArrayBuffer(8 * records.length)),
  };
  table.ids.set(records.map(({ id }) => id));
  table.ranks.set(records.map(({ metadata }) => metadata.rank ?? 0.5));
  tables.set(catalog, table);
  return table;
}

/** Finds the repository a file of a segment belongs to. */
function ownerFinder(catalog: Catalog): (segment: number, file: number) => CatalogRepository {
  return (segment, file) => {
    const { repositories } = catalog.headers.get(segment)!;
    let [low, high] = [0, repositories.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (repositories[middle]!.first <= file) low = middle;
      else high = middle - 1;
    }
    return catalog.repositories.get(repositories[low]!.repository)!;
  };
}

/** Small enough to be received in a few milliseconds each; whole files are large. */
function groupFiles(files: readonly Ranked[], whole: boolean): Ranked[][] {
  const groups: Ranked[][] = [];
  let ranges = Infinity;
  for (const file of files) {
    const last = groups.at(-1);
    if (!last || last.length >= (whole ? 1 : SHOWN_FILES) || ranges + file.count > SHOWN_RANGES) {
      groups.push([file]);
      ranges = file.count;
    } else {
      last.push(file);
      ranges += file.count;
    }
  }
  return groups;
}

function showFile(
  { segment: position, file, count }: Ranked,
  segments: readonly SegmentInput[],
): ShowFile {
  const { segment, sets } = segments[position]!;
  return { segment, file, most: count, sets: sets.map((set) => hasBit(set, file)) };
}
