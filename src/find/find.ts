/**
 * Answers a question: find() is the whole way, in three rounds of the threads. The first counts how frequent the stems
 * of the question are in scope (count-task.ts), so that rare words weigh more. The second scores all files by their
 * word lists and names (rank-task.ts). The third reads the best files, and scores their definitions and places
 * (read-task.ts).
 */

import { createHash } from "node:crypto";
import { QuernError } from "../base/errors.ts";
import { newPause } from "../base/yield.ts";
import type { CatalogRepository } from "../store/catalog/catalog.ts";
import { visibleRepositories, branchesOf } from "../search/caller/scope.ts";
import { ownerFinder, repositoryTable } from "../search/caller/repository-table.ts";
import type { Attempt } from "../search/caller/attempt.ts";
import type { WebUrl } from "../search/caller/present.ts";
import type { Pool } from "../threads/pool.ts";
import { STEMS_VERSION } from "../words/stems.ts";
import { factorsFor } from "./factors.ts";
import type { Factor } from "./weights.ts";
import type {
  Candidate,
  CountInput,
  CountOutput,
  FindScope,
  FindSegment,
  Gaps,
  Missing,
  RankInput,
  RankOutput,
  ReadInput,
  ReadOutput,
  ReadPlace,
  WeightedStem,
} from "./messages.ts";
import { parseQuestion, WEIGHT, type Alternative, type Question } from "./question.ts";
import { bestOf, byScore } from "./candidates.ts";
import { reasonsOf } from "./reasons.ts";
import type { CheckedFind, FindMissing, FindResponse, FindWord, FoundPlace } from "./request.ts";

/** The number of files that are read for a page. Definers of names are read in addition. */
const BATCH = 20;
/** The maximum number of stems that stand for a word because they begin with its stem. */
const MAX_PREFIXED = 32;
/** The number of bytes of text that count as one token. */
const TOKEN_BYTES = 3;
const CURSOR_VERSION = 1;

export interface FindTools {
  readonly pool: Pool;
  readonly webUrl: WebUrl;
  readonly onWarning: (warning: { code: string; message: string }) => void;
}

/** Answers a question on one catalog. Resolves to undefined if a segment has been merged away. */
export async function find(
  request: CheckedFind,
  attempt: Attempt,
  tools: FindTools,
): Promise<FindResponse | undefined> {
  const question = parseQuestion(request.text, onlyRepository(attempt));
  const offset = offsetOf(request);
  const { places: order } = await repositoryTable(attempt.catalog, newPause());
  const rounds = new Rounds(attempt, order, tools.pool);
  const counted = await rounds.count(question);
  const weighed = weigh(question, counted);
  const batch = Math.floor(offset / BATCH);
  const ranked = await rounds.rank(weighed, question, BATCH * (batch + 1));
  const chosen = batchOf(ranked, batch);
  const places = await rounds.read(weighed, question, chosen, request.lines);
  if (rounds.missing.has("gone")) return undefined;
  const first = offset - BATCH * batch;
  const page = fitting(places.slice(first, first + request.places), request.maxTokens);
  const next = offset + page.length;
  const isLast = first + page.length >= places.length;
  const hasMore =
    !isLast || ranked.some(({ isDefiner }, i) => !isDefiner && i >= BATCH * (batch + 1) - 1);
  const missing = [...rounds.missing] as FindMissing[];
  if (missing.includes("damaged"))
    tools.onWarning({
      code: "INDEX_CORRUPT",
      message: "find: stored data is damaged; run check()",
    });
  return {
    places: page.map((place) => presentPlace(place, question, attempt, tools.webUrl)),
    words: weighed.words,
    unknownWords: weighed.words.filter(({ frequency }) => frequency === 0).map(({ word }) => word),
    ...(hasMore &&
      page.length > 0 && { nextCursor: cursorAt(request, isLast ? BATCH * (batch + 1) : next) }),
    isComplete: missing.length === 0,
    missing,
    stats: {
      filesScored: counted.files,
      filesRead: places.length,
      durationMs: performance.now() - attempt.startedAt,
    },
  };
}

/** Sends the tasks of a question to the threads. Each thread gets a part of the segments. */
class Rounds {
  /** Why files were not scored. */
  readonly missing = new Set<Missing>();
  readonly #pool: Pool;
  readonly #scope: FindScope;
  /** The positions of the segments of each thread. */
  readonly #parts: readonly (readonly number[])[];

  constructor(
    { segments, catalog, understood, view, control }: Attempt,
    places: FindScope["places"],
    pool: Pool,
  ) {
    const words = new Map(catalog.manifest.segments.map((one) => [one.segment, one.words]));
    this.#pool = pool;
    this.#scope = {
      segments: segments.map((one): FindSegment => {
        return { ...one, words: words.get(one.segment) === STEMS_VERSION ? STEMS_VERSION : 0 };
      }),
      plan: understood.plan,
      packed: view.packed,
      places,
      shared: control.shared,
    };
    const lanes = Math.max(1, Math.min(pool.lanes, segments.length));
    this.#parts = Array.from({ length: lanes }, (_, lane) =>
      [...segments.keys()].filter((position) => position % lanes === lane),
    );
  }

  async count({ terms }: Question): Promise<CountOutput> {
    const stems = new Set(
      terms.flatMap(({ alternatives }) => alternatives.map(({ stem }) => stem)),
    );
    const prefixes = terms.flatMap(({ prefix }) => prefix ?? []);
    const outputs = await this.#run<CountInput, CountOutput>("find.count", (scope) => ({
      ...scope,
      stems: [...stems],
      prefixes,
    }));
    const windows = new Map<string, number>();
    for (const output of outputs)
      for (const [stem, count] of output.windows)
        windows.set(stem, (windows.get(stem) ?? 0) + count);
    return {
      windows,
      allWindows: sum(outputs.map((one) => one.allWindows)),
      files: sum(outputs.map((one) => one.files)),
      gaps: [],
    };
  }

  async rank(weighed: Weighed, question: Question, most: number): Promise<Candidate[]> {
    const parts = this.#parts;
    const outputs = await this.#run<RankInput, RankOutput>("find.rank", (scope) => ({
      ...scope,
      stems: weighed.stems,
      shares: weighed.shares,
      factors: factorsFor(question.terms),
      names: [...question.identifiers, ...question.capitals],
      most,
    }));
    const all = outputs.flatMap(({ candidates }, part) =>
      candidates.map((one) => ({ ...one, position: parts[part]![one.position]! })),
    );
    return bestOf(all, most);
  }

  async read(
    { stems, shares }: Weighed,
    question: Question,
    candidates: readonly Candidate[],
    lines: number,
  ): Promise<ReadPlace[]> {
    const factors = factorsFor(question.terms);
    const lanes = Math.max(1, Math.min(this.#pool.lanes, candidates.length));
    const tasks = Array.from({ length: lanes }, (_, lane) => {
      const some = candidates.filter((_, i) => i % lanes === lane);
      const input: ReadInput = {
        ...this.#scope,
        candidates: some,
        question,
        stems,
        shares,
        factors,
        lines,
      };
      return this.#pool.run<ReadOutput>("find.read", input, { lane: "search" });
    });
    const outputs = await Promise.all(tasks);
    for (const { gaps } of outputs) this.#note(gaps);
    return outputs
      .flatMap(({ places }) => places)
      .sort((a, b) => b.score - a.score || byScore(a.candidate, b.candidate));
  }

  async #run<I extends FindScope, O extends { readonly gaps: Gaps }>(
    task: string,
    inputOf: (scope: FindScope) => I,
  ): Promise<O[]> {
    const outputs = await Promise.all(
      this.#parts.map((positions) => {
        const segments = positions.map((position) => this.#scope.segments[position]!);
        return this.#pool.run<O>(task, inputOf({ ...this.#scope, segments }), { lane: "search" });
      }),
    );
    for (const { gaps } of outputs) this.#note(gaps);
    return outputs;
  }

  #note(gaps: Gaps): void {
    for (const [, why] of gaps) this.missing.add(why);
  }
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Returns the name of the repository in scope, if there is only one. */
function onlyRepository({ catalog, options }: Attempt): string {
  const names: string[] = [];
  for (const { record } of visibleRepositories(catalog, options.viewer)) {
    names.push(record.name);
    if (names.length > 1) return "";
  }
  return names[0] ?? "";
}

/** A question whose words are weighed by their frequencies in scope. */
interface Weighed {
  readonly words: FindWord[];
  readonly stems: readonly WeightedStem[];
  readonly shares: readonly number[];
}

function weigh({ terms }: Question, { windows, allWindows }: CountOutput): Weighed {
  const words: FindWord[] = [];
  const stems: WeightedStem[] = [];
  const weights = terms.map(({ word, weight, alternatives, prefix }, term) => {
    const own = new Map(alternatives.map((one) => [one.stem, one]));
    const longer = prefix === undefined ? [] : withPrefix(prefix, windows, own);
    const found = [...alternatives, ...longer].filter(({ stem }) => windows.has(stem));
    for (const { stem, weight: each } of found) stems.push({ stem, term, weight: each });
    const strongest = Math.max(0, ...found.map((one) => one.weight));
    const frequency = Math.max(
      0,
      ...found.filter((one) => one.weight === strongest).map(({ stem }) => windows.get(stem)!),
    );
    words.push({
      word,
      alternatives: found.map((one) => ({ word: one.stem, why: one.why, weight: one.weight })),
      frequency,
    });
    return weight * Math.log(1 + (allWindows - frequency + 0.5) / (frequency + 0.5));
  });
  const total = sum(weights) || 1;
  return { words, stems, shares: weights.map((weight) => weight / total) };
}

/** Returns the first stems in scope that begin with a stem. */
function withPrefix(
  prefix: string,
  windows: ReadonlyMap<string, number>,
  own: ReadonlyMap<string, Alternative>,
): Alternative[] {
  return [...windows.keys()]
    .filter((stem) => stem.startsWith(prefix) && !own.has(stem))
    .sort()
    .slice(0, MAX_PREFIXED)
    .map((stem) => ({ stem, why: "prefix", weight: WEIGHT.prefix }));
}

/** Returns the candidates of a batch. The first batch has the definers, too. */
function batchOf(ranked: readonly Candidate[], batch: number): Candidate[] {
  const [from, to] = [BATCH * batch, BATCH * (batch + 1)];
  return ranked.filter(({ isDefiner }, rank) =>
    batch === 0 ? rank < to || isDefiner : rank >= from && rank < to && !isDefiner,
  );
}

/** Returns the places from the first on that take at most `maxTokens`, and at least one. */
function fitting(places: readonly ReadPlace[], maxTokens: number): ReadPlace[] {
  let left = maxTokens * TOKEN_BYTES;
  return places.filter((place, i) => {
    left -= Buffer.byteLength(place.content);
    return i === 0 || left >= 0;
  });
}

function presentPlace(
  {
    candidate,
    score,
    kinds,
    language,
    definition,
    lines,
    shown,
    content,
    byteOffset,
    others,
    ...rest
  }: ReadPlace,
  question: Question,
  { catalog, segments, understood }: Attempt,
  webUrl: WebUrl,
): FoundPlace {
  const { segment } = segments[candidate.position]!;
  const { path, file } = candidate;
  const repository: CatalogRepository = ownerFinder(catalog)(segment, file);
  const { allRevisions, revisionValues: values } = understood;
  const revision = branchesOf(repository, { segment, file }, { values, allRevisions })[0]!;
  const { name, id } = repository.record;
  return {
    repository: name,
    repositoryId: id,
    path,
    revision,
    webUrl: webUrl({ repository: name, repositoryId: id, path, revision }),
    language,
    score,
    ...(definition && { definition: { ...definition } }),
    lines,
    chunk: { content, contentStart: { byteOffset, lineNumber: shown.from, column: 1 } },
    others: [...others],
    reasons: reasonsOf({ ...rest, definition, path }, question, factorsOf(question, kinds)),
  };
}

function factorsOf({ terms }: Question, kinds: readonly Factor[]): (readonly [Factor, number])[] {
  const factors = factorsFor(terms);
  return kinds.map((kind) => [kind, factors[kind]] as const);
}

/** A cursor is `version.digest.offset` in base64url, where the digest stands for the request. */
const digestOf = ({ text, query }: CheckedFind): string =>
  createHash("sha256")
    .update(JSON.stringify([text, query]))
    .digest("base64url")
    .slice(0, 11);

const cursorAt = (request: CheckedFind, offset: number): string =>
  Buffer.from(`${CURSOR_VERSION}.${digestOf(request)}.${offset}`).toString("base64url");

function offsetOf(request: CheckedFind): number {
  if (request.after === undefined || request.after === "") return 0;
  const [version, digest, offset] = Buffer.from(request.after, "base64url").toString().split(".");
  const isSound = version === String(CURSOR_VERSION) && /^\d{1,6}$/.test(offset ?? "");
  if (!isSound || digest !== digestOf(request))
    throw new QuernError(
      "INVALID_REQUEST",
      "find: after must be the nextCursor of a response to the same text and query",
    );
  return Number(offset);
}
