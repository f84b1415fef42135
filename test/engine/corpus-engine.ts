/** Brings an engine to the state of a corpus, and compares its answers with the oracle's. */

import { expect } from "vitest";
import type { Engine } from "../../src/engine.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type {
  FileResult,
  RepositoryInfo,
  SearchEvent,
} from "../../src/search/messages/response.ts";
import { compare } from "../oracle/compare.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import type { Corpus } from "../oracle/corpus.ts";
import { evaluate, fileKey, type ExpectedResponse, type OracleOptions } from "../oracle/oracle.ts";
import { brokenInvariant, segmentsInScope } from "./invariants.ts";

/** Brings the engine to the corpus. Resolves to the corpus with the engine's numbers of repositories. */
export async function bringTo(engine: Engine, corpus: Corpus): Promise<Corpus> {
  const names = new Set(corpus.repositories.map(({ name }) => name));
  for (const { name } of await engine.repositories())
    if (!names.has(name)) await engine.remove(name);
  const reports = await engine.index(corpus.repositories.map(sourceOf), { symbols: "skip" });
  const ids = new Map(reports.map(({ repository, repositoryId }) => [repository, repositoryId]));
  return {
    repositories: corpus.repositories.map((each) => ({ ...each, id: ids.get(each.name)! })),
  };
}

/** Returns the viewer of a case that was made for `before`, with the repository numbers of `after`. */
export function moveViewer(options: OracleOptions, before: Corpus, after: Corpus): OracleOptions {
  if (!options.viewer) return options;
  const ids = [...options.viewer.repositoryIds].map((id) => {
    const place = before.repositories.findIndex((each) => each.id === id);
    return after.repositories[place]?.id ?? 1_000_000;
  });
  return { ...options, viewer: { repositoryIds: new Set(ids) } };
}

/** The options of a test's search, and its viewer. */
interface Asked {
  readonly request: SearchRequest;
  readonly options: OracleOptions;
}

/** Resolves to a description of what is wrong with the engine's answer, or undefined. */
export async function difference(
  engine: Engine,
  corpus: Corpus,
  { request, options }: Asked,
): Promise<string | undefined> {
  const viewing = options.viewer ? { viewer: options.viewer } : {};
  const response = await engine.search(request, viewing);
  const ranked = response.files.map(fileKey);
  const wrong =
    compare(evaluate(corpus, request, { ...options, ranked }), response) ??
    brokenInvariant(response, await segmentsInScope(engine, request, viewing));
  return wrong && `${JSON.stringify(request)}: ${wrong}`;
}

/** Does the same for a stream, whose files, ranges, counts and chunks may arrive in any order. */
export async function streamDifference(
  engine: Engine,
  corpus: Corpus,
  { request, options }: Asked,
): Promise<string | undefined> {
  const viewing = options.viewer ? { viewer: options.viewer } : {};
  const { response, wrongChunk } = await collectStream(engine.stream(request, viewing));
  const all = evaluate(corpus, request, options);
  const isCut = all.totalMatchCount > request.matches;
  const expected = isCut
    ? evaluate(corpus, request, { ...options, ranked: wholeFirst(response.files, all) })
    : all;
  const wrong =
    wrongChunk ??
    compare(expected, response) ??
    brokenInvariant(response, await segmentsInScope(engine, request, viewing));
  return wrong && `stream of ${JSON.stringify(request)}: ${wrong}`;
}

const rangesIn = (file: Pick<FileResult, "chunks" | "fileName">): number =>
  file.chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0) ||
  file.fileName.matchRanges.length;

/**
 * Returns the keys of delivered files. A file that was cut comes last, because files of another thread may have
 * followed it.
 */
function wholeFirst(files: readonly FileResult[], { files: all }: ExpectedResponse): string[] {
  const counts = new Map(all.map((file) => [fileKey(file), rangesIn(file)]));
  const isWhole = (file: FileResult) => rangesIn(file) === counts.get(fileKey(file));
  return [...files.filter(isWhole), ...files.filter((file) => !isWhole(file))].map(fileKey);
}

/** Resolves to the whole stream as a response, and to a description of a wrong event. */
async function collectStream(events: AsyncIterable<SearchEvent>) {
  const files: FileResult[] = [];
  const infos = new Map<number, RepositoryInfo>();
  let delivered = 0;
  let wrongChunk: string | undefined;
  let final: Extract<SearchEvent, { type: "final" }> | undefined;
  for await (const event of events) {
    if (final) wrongChunk ??= "something comes after the end";
    if (event.type === "final") {
      final = event;
      continue;
    }
    files.push(...event.files);
    for (const info of event.repositoryInfo) infos.set(info.id, info);
    const own = [...new Set(event.files.map(({ repositoryId }) => repositoryId))];
    const told = event.repositoryInfo.map(({ id }) => id);
    if (own.sort((a, b) => a - b).join() !== told.join())
      wrongChunk ??= `a chunk has files of ${own.join()} and tells of ${told.join()}`;
    delivered += event.stats.actualMatchCount;
  }
  if (!final) return expect.fail("a stream without an end");
  const { accumulatedStats: stats, isSearchExhaustive } = final;
  if (delivered !== stats.actualMatchCount)
    wrongChunk ??= `${delivered} ranges in chunks, ${stats.actualMatchCount} in all`;
  const repositoryInfo = [...infos.values()].sort((a, b) => a.id - b.id);
  return { response: { stats, files, repositoryInfo, isSearchExhaustive }, wrongChunk };
}
