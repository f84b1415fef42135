/**
 * Answers queries with `type:diff` and `type:commit`. The threads find the matching changes of each segment, and return
 * the newest of them. This file merges these lists, and asks the threads for the lines of the results to return.
 */

import { invalid } from "../base/errors.ts";
import { GcPacer } from "../base/gc-pacer.ts";
import { newPause, type Pause } from "../base/yield.ts";
import { parseHistoryQuery, type HistoryQuery } from "../query/parse.ts";
import { atomsOf, formatQuery } from "../query/ast.ts";
import { isExhaustive, type Attempt } from "../search/caller/attempt.ts";
import { stateDigest } from "../search/caller/pages.ts";
import { externalWebUrl, repositoryInfo } from "../search/caller/present.ts";
import { isVisible } from "../search/caller/scope.ts";
import type { Question, SearchCall, Searching } from "../search/caller/searching.ts";
import { resolveContexts } from "../search/caller/understand.ts";
import { unpackChunks } from "../search/messages/packed-chunks.ts";
import { STOPPED } from "../search/messages/control.ts";
import { packPlan } from "../search/messages/plan.ts";
import { checkRequest, type CheckedRequest } from "../search/messages/request.ts";
import type {
  Chunk,
  Explanation,
  FileResult,
  SearchEvent,
  SearchResponse,
} from "../search/messages/response.ts";
import { zeroStats, type SearchStats } from "../search/messages/stats.ts";
import type { CatalogRepository } from "../store/catalog/catalog.ts";
import type { Environment } from "../store/lmdb/environment.ts";
import { changeCursors, placeGone, type ChangeCursors, type ChangePlace } from "./cursors.ts";
import { historiesInScope, type HistoryScope } from "./histories-in-scope.ts";
import type {
  ChangesInput,
  ChangesOutput,
  Failure,
  SegmentScope,
  ShowChangesInput,
  ShownUnit,
} from "./messages.ts";
import { planChanges, type ChangePlan } from "./plan.ts";

export interface ChangesTools {
  readonly searching: Searching;
  readonly environment: Pick<Environment, "snapshot" | "path">;
}

/** Returns the query of a request if it is one of the history, and undefined otherwise. */
export function historyQueryOf(request: unknown): HistoryQuery | undefined {
  const { query, isRegexEnabled, isCaseSensitivityEnabled } = checkRequest(request);
  const dialect = { regex: isRegexEnabled, caseSensitive: isCaseSensitivityEnabled };
  return parseHistoryQuery(query, dialect);
}

/** Searches, and resolves to one answer. */
export async function searchChanges(
  query: HistoryQuery,
  call: SearchCall,
  { searching, environment }: ChangesTools,
): Promise<SearchResponse> {
  const request = checkSupported(checkRequest(call.request));
  const plan = planChanges(query);
  const question = await questionOf(query, request, { call, searching });
  return searching.answer(question, async (attempt) => {
    const search = new ChangeSearch({ plan, request, attempt, searching, environment });
    return search.run();
  });
}

/** Explains a query. Terms of the history have no plans, and no queries are suggested. */
export async function explainChanges(
  query: HistoryQuery,
  call: SearchCall,
  tools: ChangesTools,
): Promise<Explanation> {
  const { stats } = await searchChanges(query, call, tools);
  return {
    query: formatQuery(query.query),
    segments: [],
    stats,
    hints: [],
    suggestions: [],
    notIndexed: [],
  };
}

/** Searches, and yields the results as a stream of one chunk. */
export async function* streamChanges(
  query: HistoryQuery,
  call: SearchCall,
  tools: ChangesTools,
): AsyncGenerator<SearchEvent> {
  const { after, facets } = call.request;
  if (after !== undefined) throw invalid("a stream has no pages: leave out after");
  if (facets !== undefined) throw invalid("a stream has no facets: leave out facets");
  const {
    files,
    stats,
    repositoryInfo: info,
    isSearchExhaustive,
  } = await searchChanges(query, call, tools);
  if (files.length > 0) yield { type: "chunk", stats, files, repositoryInfo: info };
  yield { type: "final", accumulatedStats: stats, isSearchExhaustive };
}

function checkSupported(request: CheckedRequest): CheckedRequest {
  for (const name of ["whole", "enclosing", "facets"] as const)
    if (request[name]) throw invalid(`${name} cannot be used together with type:`);
  return request;
}

/** Makes the question of an attempt. The attempt has no use for the fields of ordinary queries. */
async function questionOf(
  { query }: HistoryQuery,
  request: CheckedRequest,
  { call, searching }: { readonly call: SearchCall; readonly searching: Searching },
): Promise<Question> {
  const startedAt = performance.now();
  const { options, view } = call;
  const contextNames = [
    ...new Set(atomsOf(query).flatMap((atom) => (atom.kind === "context" ? [atom.name] : []))),
  ];
  const contexts = await resolveContexts({ contextNames }, options, searching.parts);
  return {
    options,
    view,
    startedAt,
    understood: {
      request,
      query,
      plan: packPlan({ root: { kind: "none" }, atoms: [] }),
      hostAtoms: [],
      allRevisions: false,
      revisionValues: [],
      contextNames,
      contexts,
    },
  };
}

interface ChangeSearchParts {
  readonly plan: ChangePlan;
  readonly request: CheckedRequest;
  readonly attempt: Attempt;
  readonly searching: Searching;
  readonly environment: ChangesTools["environment"];
}

/** A segment with the repository to which it belongs. */
interface Part {
  readonly scope: SegmentScope;
  readonly history: HistoryScope;
  /** The place of the segment among those of its repository. */
  readonly order: number;
}

/** A result that was found. */
interface Found {
  readonly part: number;
  readonly unit: number;
  readonly commit: number;
  readonly place: number;
  readonly date: number;
  readonly ranges: number;
  readonly texts: readonly number[];
}

/** A result to return, with its ranges. */
interface Chosen extends Found {
  readonly skip: number;
  readonly count: number;
}

class ChangeSearch {
  readonly #parts: ChangeSearchParts;
  readonly #stats: SearchStats = zeroStats();
  readonly #pause: Pause;

  constructor(parts: ChangeSearchParts) {
    this.#parts = parts;
    const { signal } = parts.attempt.options;
    this.#pause = newPause(signal && { signal });
  }

  /** Resolves to undefined if a segment has been merged away. */
  async run(): Promise<SearchResponse | undefined> {
    const { attempt, request } = this.#parts;
    const histories = await this.#histories();
    if (!histories) return undefined;
    if (histories.length === 0)
      throw invalid(
        "type: no repository here has an indexed history; index one with git(path, { history: true }) or quern index --history",
      );
    const cursors = await this.#cursors();
    const parts = partsOf(histories, cursors?.after);
    const outputs = await Promise.all(parts.map((part) => this.#search(part)));
    const found: Found[] = [];
    for (const [i, output] of outputs.entries()) {
      if (output === "gone") return undefined;
      if (typeof output === "string") this.#lose(output, parts[i]!.scope.segment);
      else found.push(...this.#take(output, i));
    }
    found.sort((a, b) => compare(a, b, parts));
    const { chosen, cut } = choose(found, request, (one) =>
      deliveredOf(one, parts, cursors?.after),
    );
    const files = await this.#show(chosen, parts);
    if (!files) return undefined;
    const stats = this.#stats;
    stats.duration = Math.round((performance.now() - attempt.startedAt) * 1e6);
    if (attempt.control.stopped === STOPPED.TIMED_OUT && stats.shardsSkipped > 0)
      stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
    const last = chosen[files.length - 1];
    const hasMore = cut || files.length < chosen.length;
    return {
      stats,
      files,
      repositoryInfo: repositoryInfo(files, attempt.catalog.repositories),
      isSearchExhaustive: isExhaustive(stats) && histories.every(({ isComplete }) => isComplete),
      ...(cursors && hasMore && last && { nextCursor: cursors.write(placeOf(last, parts)) }),
      ...(cursors?.indexChanged && { indexChanged: true }),
    };
  }

  async #histories(): Promise<HistoryScope[] | undefined> {
    const { attempt, searching, environment, plan } = this.#parts;
    const { catalog, options, understood } = attempt;
    const snapshot = environment.snapshot();
    try {
      return await historiesInScope(environment.path, {
        catalog,
        viewer: options.viewer,
        hostAtoms: plan.hostAtoms,
        contexts: understood.contexts,
        matching: (...names) => searching.names.matching(...names),
        snapshot,
        pause: this.#pause,
      });
    } finally {
      snapshot.close();
    }
  }

  async #cursors(): Promise<ChangeCursors | undefined> {
    const { request, attempt } = this.#parts;
    const { after } = request;
    if (after === undefined) return undefined;
    const { catalog, options } = attempt;
    const state = await stateDigest(catalog, options.viewer, this.#pause);
    const cursors = changeCursors({ ...request, after }, state);
    if (!cursors.after) return cursors;
    const repository = catalog.repositories.get(cursors.after.repository);
    if (!repository || !isVisible(repository, options.viewer)) throw placeGone();
    return cursors;
  }

  #search({ scope }: Part): Promise<ChangesOutput | Failure> {
    const { plan, request, attempt, searching } = this.#parts;
    // one more than wanted tells whether another page follows; the first one may be on the page before as a whole
    const most = request.matches + (scope.after ? 2 : 1);
    const input: ChangesInput = { plan, scope, most, shared: attempt.control.shared };
    return searching.parts.pool.run("changes.search", input, { lane: "search" });
  }

  /** Counts a segment that could not be searched. */
  #lose(failure: Failure, segment: number): void {
    if (failure === "stopped") this.#stats.shardsSkipped++;
    else {
      this.#stats.crashes++;
      const message = `history segment ${segment} is damaged; run check()`;
      this.#parts.searching.parts.onWarning({ code: "INDEX_CORRUPT", message });
    }
  }

  #take({ units, ranges, found, stats }: ChangesOutput, part: number): Found[] {
    const sums = this.#stats;
    sums.fileCount += units;
    sums.totalMatchCount += ranges;
    sums.shardFilesConsidered += stats.considered;
    sums.filesConsidered += stats.considered;
    sums.contentBytesLoaded += stats.contentBytes;
    sums.ngramLookups += stats.grams;
    sums.ngramMatches += stats.pages;
    sums.shardsScanned++;
    return Array.from(found.units, (unit, i) => ({
      part,
      unit,
      commit: found.commits[i]!,
      place: found.places[i]!,
      date: found.dates[i]!,
      ranges: found.ranges[i]!,
      texts: found.texts[i]!,
    }));
  }

  /** Resolves to the results, or to undefined if a segment has been merged away. */
  async #show(
    chosen: readonly Chosen[],
    parts: readonly Part[],
  ): Promise<FileResult[] | undefined> {
    const { plan, request, attempt, searching } = this.#parts;
    const shown = new Map<Chosen, ShownUnit>();
    const failures = await Promise.all(
      parts.map(async ({ scope: { segment } }, i) => {
        const own = chosen.filter(({ part }) => part === i);
        if (own.length === 0) return undefined;
        const { contextLines } = request;
        const { shared } = attempt.control;
        const units = own.map(({ unit, texts, skip, count }) => ({ unit, texts, skip, count }));
        const input: ShowChangesInput = { plan, segment, units, contextLines, shared };
        const output = await searching.parts.pool.run<ShownUnit[] | Failure>(
          "changes.show",
          input,
          { lane: "search" },
        );
        if (typeof output === "string") return [output, segment] as const;
        own.forEach((one, place) => shown.set(one, output[place]!));
        return undefined;
      }),
    );
    for (const failure of failures) {
      if (failure?.[0] === "gone") return undefined;
      if (failure) this.#lose(...failure);
    }
    const files: FileResult[] = [];
    let room = attempt.options.maxBytes ?? Infinity;
    for (const one of chosen) {
      const unit = shown.get(one);
      if (!unit) continue;
      const { history } = parts[one.part]!;
      const file = await this.#present(unit, history.repository);
      files.push(file);
      this.#stats.actualMatchCount += one.count;
      room -= sizeOf(file);
      if (room <= 0) break;
      await this.#pause();
    }
    return files;
  }

  async #present(unit: ShownUnit, { record }: CatalogRepository): Promise<FileResult> {
    const { hash, parents, author, date, message } = unit.commit;
    const isDiff = this.#parts.plan.type === "diff";
    const chunks: Chunk[] = [];
    for (const { chunks: packed, ...part } of unit.parts) {
      const how = { pause: this.#pause, pacer: new GcPacer() };
      for (const chunk of await unpackChunks(packed, how)) chunks.push(moved(chunk, part));
    }
    const path = isDiff ? unit.name : "";
    const { name, id } = record;
    const { webUrl } = this.#parts.searching.parts;
    const external = isDiff ? externalWebUrl(record, path, hash) : undefined;
    const end = Buffer.byteLength(unit.name);
    const whole = {
      start: { byteOffset: 0, lineNumber: 1, column: 1 },
      end: { byteOffset: end, lineNumber: 1, column: 1 + Array.from(unit.name).length },
    };
    const [, authorName = author, authorEmail = ""] = /^(.*?) ?<(.*)>$/s.exec(author) ?? [];
    return {
      fileName: { text: unit.name, matchRanges: unit.isNamed ? [whole] : [] },
      webUrl: webUrl({ repository: name, repositoryId: id, path, revision: hash }),
      ...(external === undefined ? {} : { externalWebUrl: external }),
      repository: name,
      repositoryId: id,
      language: "",
      chunks,
      branches: [hash],
      commit: {
        hash,
        parents: [...parents],
        authorName,
        authorEmail,
        date: isoDate(date),
        message,
      },
    };
  }
}

/** Returns a date in ISO 8601. Commits may have dates that no calendar has. */
function isoDate(seconds: number): string {
  const date = new Date(1000 * seconds);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}

function partsOf(histories: readonly HistoryScope[], after: ChangePlace | undefined): Part[] {
  const parts: Part[] = [];
  for (const history of histories) {
    const place = after && placeIn(history, after);
    for (const [order, scope] of history.segments.entries())
      parts.push({ history, order, scope: { ...scope, ...(place && { after: place(order) }) } });
  }
  return parts;
}

/** Returns a function that converts a position to one in a segment of the history, which has this place. */
function placeIn(history: HistoryScope, { date, repository, commit, place }: ChangePlace) {
  const { graph, repository: own } = history;
  const behind = { date, commit: Infinity, place: 0 };
  const before = { date, commit: -1, place: 0 };
  if (own.record.id !== repository) return () => (own.record.id < repository ? behind : before);
  const found = graph.locate(commit);
  if (!found) throw placeGone();
  const order = history.segments.findIndex(({ segment }) => segment === found.segment);
  return (at: number) =>
    at < order ? behind : at > order ? before : { date, commit: found.commit, place };
}

/** Orders results: newest first, then by repository, and then in the order of the repository's segments. */
function compare(a: Found, b: Found, parts: readonly Part[]): number {
  const [one, other] = [parts[a.part]!, parts[b.part]!];
  return (
    b.date - a.date ||
    one.history.repository.record.id - other.history.repository.record.id ||
    one.order - other.order ||
    a.commit - b.commit ||
    a.unit - b.unit
  );
}

/** Chooses the first results that have `matches` ranges together, in addition to those that pages before have. */
function choose(
  found: readonly Found[],
  { matches, matchesPerFile = Infinity }: CheckedRequest,
  deliveredOfUnit: (one: Found) => number,
): { readonly chosen: Chosen[]; readonly cut: boolean } {
  const chosen: Chosen[] = [];
  let left = matches;
  for (const one of found) {
    const all = Math.min(one.ranges, matchesPerFile);
    const skip = Math.min(deliveredOfUnit(one), all);
    if (skip === all) continue;
    if (left === 0) return { chosen, cut: true };
    const count = Math.min(left, all - skip);
    left -= count;
    chosen.push({ ...one, skip, count });
    if (skip + count < all) return { chosen, cut: true };
  }
  return { chosen, cut: false };
}

/** Returns how many ranges of a result were on the pages before. */
function deliveredOf(
  { part, date, commit, place }: Found,
  parts: readonly Part[],
  after: ChangePlace | undefined,
): number {
  if (!after || date !== after.date || place !== after.place) return 0;
  const { history, scope } = parts[part]!;
  return history.graph.idOf(scope.segment, commit) === after.commit ? after.ranges : 0;
}

function placeOf(
  { part, date, commit, place, skip, count }: Chosen,
  parts: readonly Part[],
): ChangePlace {
  const { history, scope } = parts[part]!;
  return {
    date,
    repository: history.repository.record.id,
    commit: history.graph.idOf(scope.segment, commit),
    place,
    ranges: skip + count,
  };
}

/** Moves the positions of a chunk from those in its part to those in the file. */
function moved(
  { contentStart, matchRanges, ...chunk }: Chunk,
  {
    side,
    firstLine,
    firstByte,
  }: { side: "added" | "removed" | undefined; firstLine: number; firstByte: number },
): Chunk {
  const move = ({ byteOffset, lineNumber, column }: Chunk["contentStart"]) => ({
    byteOffset: byteOffset + firstByte,
    lineNumber: lineNumber + firstLine - 1,
    column,
  });
  return {
    ...chunk,
    contentStart: move(contentStart),
    matchRanges: matchRanges.map(({ start, end }) => ({ start: move(start), end: move(end) })),
    ...(side && { side }),
  };
}

/** Returns about how many bytes a result takes in an answer. */
function sizeOf({ fileName, chunks, commit }: FileResult): number {
  const content = chunks.reduce(
    (sum, chunk) => sum + 100 + chunk.content.length + 130 * chunk.matchRanges.length,
    0,
  );
  return 500 + 3 * fileName.text.length + (commit?.message.length ?? 0) + content;
}
