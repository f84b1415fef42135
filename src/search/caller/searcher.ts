/**
 * Runs searches on the caller's thread: parses, sends tasks to the threads, and merges their answers. It never
 * scans, and works in slices of a few milliseconds, whatever the size of the answer.
 */

import { QuernError, type ErrorCode } from "../../base/errors.ts";
import { newGcPacer } from "../../base/gc-pacer.ts";
import { newPause } from "../../base/yield.ts";
import { show } from "../../query/ast.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { View } from "../../store/catalog/view.ts";
import type { SkippedFile } from "../../store/format/records.ts";
import { corrupt } from "../../store/format/sealed.ts";
import type { Pool } from "../../threads/pool.ts";
import { answerBytes, branchBytes } from "../messages/answer-size.ts";
import { throwIfAborted } from "./aborted.ts";
import { isExhaustive, stoppable, timeStats, type Attempt } from "./attempt.ts";
import { Control, STOPPED } from "../messages/control.ts";
import { changesOf, explainSegment } from "./explain.ts";
import { countsOf, facetsOf } from "./facets.ts";
import {
  headFiles,
  pageOfHeads,
  rangesOfHeads,
  type Heads,
  type HeadsPage,
  type HeadToShow,
  type ShownHead,
  type ShownHeads,
} from "./heads.ts";
import { lateFiles, type Lost } from "./late-files.ts";
import type {
  ExplainResult,
  SearchInput,
  SearchOutput,
  SegmentInput,
  ShownFile,
  StreamPart,
} from "../messages/messages.ts";
import { longAnswer, STEP_BYTES, type LongAnswer } from "./long-answer.ts";
import { NameMatcher } from "./name-matcher.ts";
import { notIndexed } from "./not-indexed.ts";
import { concatenate, PartQueue } from "./part-queue.ts";
import {
  chooseFiles,
  cursorOfCut,
  pageInput,
  pagingOf,
  type Chosen,
  type Paging,
} from "./pages.ts";
import { presentFile, repositoryInfo, type WebUrl } from "./present.ts";
import { ownerFinder, repositoryTable } from "./repository-table.ts";
import type { SearchOptions, SearchRequest } from "../messages/request.ts";
import type {
  Explanation,
  Facets,
  FileResult,
  SearchEvent,
  SearchResponse,
} from "../messages/response.ts";
import { branchesOf, segmentsInScope } from "./scope.ts";
import { showsWhole } from "./show-groups.ts";
import { FilesToShow, type Presenter, type Step } from "./show-files.ts";
import { hintsFor, isShort, type QueryText } from "../meaning/meaning.ts";
import { addStats, zeroStats, type SearchStats } from "../messages/stats.ts";
import { countLost, tally, type Tally } from "./tally.ts";
import { understand, type Contexts, type Understood } from "./understand.ts";

/** The most attempts of a search. It starts again if segments were merged away meanwhile. */
const MOST_ATTEMPTS = 5;

/** The codes of errors in the query itself. */
const QUERY_CODES: ReadonlySet<ErrorCode> = new Set([
  "QUERY_SYNTAX",
  "REGEX_SYNTAX",
  "REGEX_TOO_LARGE",
]);

const ALL: Step = { bytes: Infinity, isLate: false };

/** The result of a search before its files are shown. */
interface Found {
  readonly counted: Tally;
  readonly outputs: readonly SearchOutput[];
  readonly paging: Paging | undefined;
  readonly chosen: Chosen;
  readonly files: FilesToShow;
  readonly facets?: Facets;
}

/** Resolves to the newest view. Called by each attempt. */
export type ViewSource = () => Promise<View>;

export interface SearcherOptions {
  readonly pool: Pool;
  /** The newest generation. */
  readonly view: ViewSource;
  readonly webUrl: WebUrl;
  readonly contexts: Contexts | undefined;
  readonly onWarning: (warning: { code: string; message: string }) => void;
  /** Repositories that are being indexed for the first time. */
  readonly indexing: () => ReadonlySet<string>;
  /** Returns the files of a repository that are listed but not searchable. */
  readonly skipped: (repository: number) => Promise<readonly SkippedFile[]>;
}

export class Searcher {
  readonly #options: SearcherOptions;
  readonly #names: NameMatcher;
  /** The generations that running searches read, with the number of these searches. */
  readonly #held = new Map<number, number>();

  constructor(options: SearcherOptions) {
    this.#options = options;
    this.#names = new NameMatcher(options.pool);
  }

  /** The oldest generation that a running search still reads; Infinity without one. */
  get oldestHeld(): number {
    return Math.min(Infinity, ...this.#held.keys());
  }

  async search(
    request: SearchRequest,
    options: SearchOptions = {},
    view: ViewSource = this.#options.view,
  ): Promise<SearchResponse> {
    const startedAt = performance.now();
    const understood = await understand(request, options, this.#options);
    const run = (attempt: Attempt) => this.#run(attempt);
    return this.#onOneCatalog({ understood, options, view, startedAt }, run);
  }

  /** Searches as search() does, but shows only the beginning of a long answer. The rest is shown when it is read. */
  async begin(
    request: SearchRequest,
    options: SearchOptions = {},
    view: ViewSource = this.#options.view,
  ): Promise<SearchResponse | LongAnswer> {
    const startedAt = performance.now();
    const understood = await understand(request, options, this.#options);
    return this.#onOneCatalog({ understood, options, view, startedAt }, (attempt) =>
      this.#begin(attempt),
    );
  }

  /**
   * Searches, and yields files as they are found. It cannot start again after a delivery, so a segment that is
   * merged away meanwhile counts as crashed.
   */
  async *stream(
    request: SearchRequest,
    options: SearchOptions = {},
    view: ViewSource = this.#options.view,
  ): AsyncGenerator<SearchEvent> {
    const startedAt = performance.now();
    const understood = await understand(request, options, this.#options);
    if (understood.request.after !== undefined) throw streamsHaveNoPages();
    if (understood.request.facets !== undefined) throw streamsHaveNoFacets();
    throwIfAborted(options.signal);
    const seen = await view();
    const { catalog } = seen;
    this.#hold(catalog.manifest.generation, 1);
    const segments = await this.segments(understood, catalog, options);
    const control = Control.create(segments.length, understood.request, options);
    const attempt = { understood, options, view: seen, catalog, segments, control, startedAt };
    const parts = new PartQueue<StreamPart>();
    const outputs = stoppable(attempt, () =>
      this.#searchSegments(attempt, {
        onPart: (part) => {
          this.#afterTurn(() => control.endPart());
          parts.push(part);
        },
      }),
    );
    parts.endWith(outputs);
    try {
      const delivered = { actualMatchCount: 0, contentBytesLoaded: 0 };
      const lost: Lost = new Map();
      const late = lateFiles(attempt, outputs, { pool: this.#options.pool, lost });
      // one presenter for the whole stream, so that a slice may span several parts
      const showing = { present: this.#presenter(attempt), left: options.maxBytes ?? Infinity };
      for await (const part of concatenate(parts, late)) {
        control.addBehind(-part.bytes);
        const event = await this.#presentPart(attempt, part, showing);
        delivered.actualMatchCount += event.stats.actualMatchCount;
        delivered.contentBytesLoaded += part.contentBytesLoaded;
        if (event.files.length > 0) yield event;
      }
      yield this.#final(attempt, await outputs, { delivered, lost });
    } finally {
      control.stop(STOPPED.ABORTED);
      await outputs.catch(() => undefined);
      this.#hold(catalog.manifest.generation, -1);
    }
  }

  /**
   * Calls `acknowledge` after this turn of the event loop. If a thread were acknowledged at once, it would send its
   * next part, and the loop would receive it in the same turn: five parts in one turn took 8 ms. Inline it is called
   * at once, because the caller's own thread would wait.
   */
  #afterTurn(acknowledge: () => void): void {
    if (this.#options.pool.inline) acknowledge();
    else setImmediate(acknowledge);
  }

  async #presentPart(
    { catalog, control, segments }: Attempt,
    part: StreamPart,
    showing: { readonly present: Presenter; left: number },
  ): Promise<Extract<SearchEvent, { type: "chunk" }>> {
    this.#warn(part.disagreements);
    const files: FileResult[] = [];
    const stats = zeroStats();
    addStats(stats, {
      ...part.stats,
      contentBytesLoaded: part.stats.contentBytesLoaded + part.contentBytesLoaded,
    });
    for (const shown of part.files) {
      if (showing.left <= 0) break;
      const { segment } = segments[shown.position]!;
      const file = await showing.present(segment, shown.file, shown);
      const branches = branchBytes(file.branches ?? []);
      control.takeRoom(branches);
      showing.left -= answerBytes(shown) + branches;
      files.push(file);
      stats.actualMatchCount += shown.count;
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
    { delivered, lost }: { delivered: Partial<SearchStats>; lost: Lost },
  ): Extract<SearchEvent, { type: "final" }> {
    const counted = tally(outputs, segments.length);
    const { stats, damages } = counted;
    for (const message of damages) this.#options.onWarning({ code: "INDEX_CORRUPT", message });
    this.#warnOfLost(lost, segments);
    addStats(stats, delivered);
    countLost(counted, lost.keys());
    timeStats(stats, outputs, { control, startedAt });
    return { type: "final", accumulatedStats: stats, isSearchExhaustive: isExhaustive(stats) };
  }

  async explain(
    request: SearchRequest,
    options: SearchOptions = {},
    view: ViewSource = this.#options.view,
  ): Promise<Explanation> {
    const startedAt = performance.now();
    const understood = await understand(request, options, this.#options);
    const counting = { ...understood, request: { ...understood.request, matches: 0 } };
    const explained = await this.#onOneCatalog(
      { understood: counting, options, view, startedAt },
      (attempt) => this.#explain(attempt),
    );
    const isFound = explained.stats.totalMatchCount > 0;
    const { query, isRegexEnabled, isCaseSensitivityEnabled } = understood.request;
    const dialect = { regex: isRegexEnabled, caseSensitive: isCaseSensitivityEnabled };
    return {
      ...explained,
      hints: await this.#hints({ text: query, dialect }),
      suggestions: isFound ? [] : await this.#tryChanges(understood, options, view),
    };
  }

  /** Returns the hints for a query. Each hint parses the query once more. */
  async #hints(asked: QueryText): Promise<Explanation["hints"]> {
    if (isShort(asked.text)) return hintsFor(asked);
    return this.#options.pool.run<Explanation["hints"]>("search.hints", asked, { lane: "search" });
  }

  /** Counts matches and describes the plan. Resolves to undefined if a segment is gone. */
  async #explain(
    attempt: Attempt,
  ): Promise<Omit<Explanation, "suggestions" | "hints"> | undefined> {
    const { understood, options, segments } = attempt;
    const outputs = await this.#searchSegments(attempt);
    const counted = this.#tally(attempt, outputs);
    if (!counted) return undefined;
    const { stats, ends } = counted;
    timeStats(stats, outputs, attempt);
    const input = { plan: understood.plan, segments, packed: attempt.view.packed };
    const { pool } = this.#options;
    const explained = await pool.run<ExplainResult>("search.explain", input, { lane: "search" });
    if (explained === "gone") return undefined;
    const { query } = understood;
    const pause = newPause();
    const explanations: Explanation["segments"][number][] = [];
    for (const [i, one] of explained.entries())
      explanations.push(await explainSegment(one, { end: ends[i]!, query, pause }));
    return {
      query: show(query),
      segments: explanations,
      stats,
      notIndexed: await this.#notIndexed(understood, attempt.view, options, (id) =>
        this.#options.skipped(id),
      ),
    };
  }

  /** Resolves to `notIndexed` of explain(), without skipped files. Reads only the catalog. */
  async notIndexed(
    request: SearchRequest,
    options: SearchOptions = {},
    view: ViewSource = this.#options.view,
  ): Promise<Explanation["notIndexed"]> {
    const understood = await understand(request, options, this.#options);
    return this.#notIndexed(understood, await view(), options);
  }

  #notIndexed(
    { query, contexts }: Understood,
    view: View,
    { viewer, signal }: SearchOptions,
    skipped?: SearcherOptions["skipped"],
  ): Promise<Explanation["notIndexed"]> {
    return notIndexed({
      query,
      catalog: view.catalog,
      viewer,
      contexts,
      indexing: this.#options.indexing(),
      ...(skipped && {
        skipped: async (repository: number) => view.skipped(repository, await skipped(repository)),
      }),
      pause: newPause(signal && { signal }),
      matching: (...asked) => this.#names.matching(...asked),
    });
  }

  /** Tries the changes, and resolves to those that find something. */
  async #tryChanges(
    { request, query }: Understood,
    options: SearchOptions,
    view: ViewSource,
  ): Promise<Explanation["suggestions"]> {
    const found: Explanation["suggestions"] = [];
    for (const change of changesOf(request, query)) {
      const totalMatchCount = await this.#countMatches(change.request, options, view);
      if (totalMatchCount > 0) found.push({ ...change, totalMatchCount });
    }
    return found;
  }

  /** Counts the matches of a request, 0 if its query does not parse. */
  async #countMatches(
    request: SearchRequest,
    options: SearchOptions,
    view: ViewSource,
  ): Promise<number> {
    try {
      const { stats } = await this.search({ ...request, matches: 0 }, options, view);
      return stats.totalMatchCount;
    } catch (error) {
      if (error instanceof QuernError && QUERY_CODES.has(error.code)) return 0;
      throw error;
    }
  }

  /** Runs an attempt on the newest catalog. Repeats it on a newer one if it resolves to undefined, because a segment is gone. */
  async #onOneCatalog<T>(
    asked: Pick<Attempt, "understood" | "options" | "startedAt"> & { readonly view: ViewSource },
    run: (attempt: Attempt) => Promise<T | undefined>,
  ): Promise<T> {
    const { understood, options } = asked;
    const generations = new Set<number>();
    for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts++) {
      throwIfAborted(options.signal);
      const view = await asked.view();
      const { catalog } = view;
      const { generation } = catalog.manifest;
      generations.add(generation);
      this.#hold(generation, 1);
      try {
        const segments = await this.segments(understood, catalog, options);
        const control = Control.create(segments.length, understood.request, options);
        const attempt = { ...asked, view, catalog, segments, control };
        const answer = await stoppable(attempt, () => run(attempt));
        if (answer !== undefined) return answer;
      } finally {
        this.#hold(generation, -1);
      }
    }
    if (generations.size === 1) throw corrupt("a segment that the manifest names is not there");
    throw new QuernError(
      "INTERNAL",
      "segments were merged away faster than they could be searched",
    );
  }

  #hold(generation: number, change: 1 | -1): void {
    const count = (this.#held.get(generation) ?? 0) + change;
    if (count === 0) this.#held.delete(generation);
    else this.#held.set(generation, count);
  }

  segments(
    understood: Understood,
    catalog: Catalog,
    { viewer, signal }: SearchOptions,
  ): Promise<SegmentInput[]> {
    return segmentsInScope({
      catalog,
      viewer,
      hostAtoms: understood.hostAtoms,
      allRevisions: understood.allRevisions,
      contexts: understood.contexts,
      matching: (...asked) => this.#names.matching(...asked),
      pause: newPause(signal && { signal }),
    });
  }

  async #run(attempt: Attempt): Promise<SearchResponse | undefined> {
    const found = await this.#find(attempt);
    const groups = await found?.files.more(attempt, ALL);
    return found && groups && this.#respond(attempt, found, groups);
  }

  /** Searches and shows the beginning of the answer. The other files are shown when they are read. */
  async #begin(attempt: Attempt): Promise<SearchResponse | LongAnswer | undefined> {
    const found = await this.#find(attempt);
    const groups = await found?.files.more(attempt, { bytes: STEP_BYTES, isLate: false });
    if (!found || !groups) return undefined;
    if (found.files.isOver) return this.#respond(attempt, found, groups);
    const { generation } = attempt.catalog.manifest;
    this.#hold(generation, 1);
    return longAnswer(attempt, {
      first: groups,
      files: found.files,
      end: (repositories) => this.#sum(attempt, found, repositories),
      onClose: () => this.#hold(generation, -1),
    });
  }

  /**
   * The first half of a search that several engines answer together. Pages are told by `page`: a cursor
   * belongs to whoever asks all of them, so `request.after` counts for nothing here.
   */
  async heads(
    request: SearchRequest,
    options: SearchOptions & { readonly page?: HeadsPage | undefined },
    view: ViewSource = this.#options.view,
  ): Promise<Heads> {
    const startedAt = performance.now();
    const understood = await understand(request, options, this.#options);
    return this.#onOneCatalog({ understood, options, view, startedAt }, (attempt) =>
      this.#heads(attempt, options.page),
    );
  }

  async #heads(attempt: Attempt, asked: HeadsPage | undefined): Promise<Heads | undefined> {
    const { understood, catalog, segments } = attempt;
    const { matches, facets } = understood.request;
    const pause = newPause();
    const page = asked && pageOfHeads(asked, catalog);
    const outputs = await this.#searchSegments(attempt, { page });
    const counted = this.#tally(attempt, outputs);
    if (!counted) return undefined;
    const { stats } = counted;
    timeStats(stats, outputs, attempt);
    const ranges = rangesOfHeads(matches, page);
    return {
      stats,
      files: await headFiles(outputs, { segments, catalog, ranges, pause }),
      ends: segments.map(({ segment }, i) => [segment, counted.ends[i]!]),
      ...(facets && { facets: await countsOf(outputs, { catalog, pause }) }),
    };
  }

  /** The second half: shows files that heads() has told, of the same request, options and view. */
  async showHeads(
    files: readonly HeadToShow[],
    request: SearchRequest,
    options: SearchOptions = {},
    view: ViewSource = this.#options.view,
  ): Promise<ShownHeads> {
    const startedAt = performance.now();
    const understood = await understand(request, options, this.#options);
    return this.#onOneCatalog({ understood, options, view, startedAt }, (attempt) =>
      this.#showHeads(attempt, files),
    );
  }

  async #showHeads(
    attempt: Attempt,
    asked: readonly HeadToShow[],
  ): Promise<ShownHeads | undefined> {
    const { catalog, segments } = attempt;
    const positions = new Map(segments.map(({ segment }, i) => [segment, i]));
    const known = asked.filter(({ segment }) => positions.has(segment));
    const files = known.map((file) => ({ ...file, segment: positions.get(file.segment)! }));
    const present = this.#presenter(attempt);
    const shown = new Map<string, ShownHead>();
    const showing = {
      pool: this.#options.pool,
      present: async (segment: number, file: number, one: ShownFile) => {
        const result = await present(segment, file, one);
        const bytes = answerBytes(one) + branchBytes(result.branches ?? []);
        shown.set(`${segment} ${file}`, { result, ranges: one.count, bytes });
        return result;
      },
    };
    const toShow = new FilesToShow(attempt, files, showing);
    const groups = await toShow.more(attempt, ALL);
    if (!groups) return undefined;
    this.#warn(toShow.disagreements);
    this.#warnOfLost(toShow.lost, segments);
    const kept = new Set(groups.flat());
    return {
      files: asked.map(({ segment, file }) => {
        const one = shown.get(`${segment} ${file}`);
        return one && kept.has(one.result) ? one : undefined;
      }),
      repositoryInfo: repositoryInfo(kept, catalog.repositories),
      contentBytesLoaded: toShow.contentBytesLoaded,
      lost: Array.from(toShow.lost.keys(), (position) => segments[position]!.segment),
      isFull: toShow.cut !== undefined,
    };
  }

  /** Finds the matching files, without showing them. Resolves to undefined if a segment is gone. */
  async #find(attempt: Attempt): Promise<Found | undefined> {
    const { understood, catalog, options } = attempt;
    const { request } = understood;
    const pause = newPause();
    const paging = await pagingOf(request, catalog, { viewer: options.viewer, pause });
    const page = paging && pageInput(paging);
    const outputs = await this.#searchSegments(attempt, { page, showsAhead: !showsWhole(request) });
    const counted = this.#tally(attempt, outputs);
    if (!counted) return undefined;
    const { matches, facets: most } = request;
    const lists = outputs.map(({ ranked }) => ranked);
    const chosen = await chooseFiles(lists, { matches, paging, pause });
    const showing = { pool: this.#options.pool, present: this.#presenter(attempt) };
    const ahead = outputs.flatMap((output) => output.ahead ?? []);
    const files = new FilesToShow(attempt, chosen.files, { ...showing, ahead });
    const facets =
      most && (await facetsOf(await countsOf(outputs, { catalog, pause }), most, pause));
    return { counted, outputs, paging, chosen, files, ...(facets && { facets }) };
  }

  /** Adds up the threads' counters and warns of damage. Returns undefined if a segment is gone. */
  #tally({ segments }: Attempt, outputs: readonly SearchOutput[]): Tally | undefined {
    const counted = tally(outputs, segments.length);
    if (counted.gone > 0) return undefined;
    for (const message of counted.damages)
      this.#options.onWarning({ code: "INDEX_CORRUPT", message });
    return counted;
  }

  async #searchSegments(
    { understood, catalog, view, segments, control }: Attempt,
    {
      onPart,
      page,
      showsAhead = false,
    }: {
      onPart?: (part: StreamPart) => void;
      page?: SearchInput["page"];
      /** Whether files may be shown before they are asked for. */
      showsAhead?: boolean;
    } = {},
  ): Promise<SearchOutput[]> {
    const { pool } = this.#options;
    const { contextLines, whole, matches, matchesPerFile = Infinity, facets } = understood.request;
    const onMessage = (message: unknown) => onPart?.(message as StreamPart);
    const threads = Math.min(pool.lanes, Math.max(1, segments.length * 2));
    const input: SearchInput = {
      plan: understood.plan,
      segments,
      textBytes: textBytesOf(catalog),
      packed: view.packed,
      repositories: await repositoryTable(catalog, newPause()),
      matches,
      matchesPerFile,
      threads,
      shared: control.shared,
      ...(onPart ? { stream: { contextLines, whole } } : {}),
      ...(page ? { page } : {}),
      ...(showsAhead
        ? { ahead: { contextLines, whole, isBestFirst: matchesPerFile < Infinity } }
        : {}),
      ...(facets === undefined ? {} : { facets: true as const }),
    };
    if (segments.length === 0) return [];
    const run = () =>
      pool.run<SearchOutput>("search.segments", input, { lane: "search", onMessage });
    return Promise.all(Array.from({ length: threads }, run));
  }

  #respond(
    attempt: Attempt,
    found: Found,
    groups: readonly (readonly FileResult[])[],
  ): SearchResponse {
    const files: FileResult[] = [];
    for (const group of groups) files.push(...group);
    const { stats, ...rest } = this.#sum(attempt, found, files);
    return { stats, files, ...rest };
  }

  /** Returns the answer without its files. REQUIRES: they have been shown. */
  #sum(
    { catalog, control, segments, startedAt }: Attempt,
    { counted, outputs, paging, chosen, files, facets }: Found,
    from: Iterable<Pick<FileResult, "repositoryId">>,
  ): Omit<SearchResponse, "files"> {
    const { stats } = counted;
    const { lost, matches, contentBytesLoaded, cut } = files;
    this.#warn(files.disagreements);
    addStats(stats, { actualMatchCount: matches, contentBytesLoaded });
    this.#warnOfLost(lost, segments);
    countLost(counted, lost.keys());
    timeStats(stats, outputs, { control, startedAt });
    const nextCursor = cut ? cursorOfCut(chosen, cut, paging) : chosen.nextCursor;
    return {
      stats,
      repositoryInfo: repositoryInfo(from, catalog.repositories),
      isSearchExhaustive: isExhaustive(stats),
      ...(facets && { facets }),
      ...(nextCursor !== undefined && { nextCursor }),
      ...(paging?.indexChanged && { indexChanged: true }),
    };
  }

  #warnOfLost(lost: Lost, segments: readonly SegmentInput[]): void {
    for (const [position, why] of lost)
      if (why === "damaged") this.#warnOfFile(segments[position]!.segment);
  }

  #warnOfFile(segment: number): void {
    const message = `segment ${segment}: the text of a file that was found is damaged; run check()`;
    this.#options.onWarning({ code: "INDEX_CORRUPT", message });
  }

  #warn(disagreements: readonly string[]): void {
    for (const message of disagreements) this.#options.onWarning({ code: "INTERNAL", message });
  }

  /** Creates the function that makes results of shown files, and yields to the event loop between them. */
  #presenter({ understood, catalog }: Attempt): Presenter {
    const { allRevisions, revisionValues: values } = understood;
    const { webUrl } = this.#options;
    const owner = ownerFinder(catalog);
    const [pause, pace] = [newPause(), newGcPacer()];
    return async (segment, file, shown) => {
      await pause();
      const repository = owner(segment, file);
      const branches = branchesOf(repository, { segment, file }, { values, allRevisions });
      return presentFile(repository, shown, { branches, webUrl, pause, pace });
    };
  }
}

const textBytesOf = ({ manifest }: Catalog): number =>
  manifest.segments.reduce((sum, { textBytes }) => sum + textBytes, 0);

const streamsHaveNoPages = (): QuernError =>
  new QuernError(
    "INVALID_REQUEST",
    "after: a stream has no pages, it tells all there is; use search()",
  );

const streamsHaveNoFacets = (): QuernError =>
  new QuernError("INVALID_REQUEST", "facets: a stream counts none; use search()");
