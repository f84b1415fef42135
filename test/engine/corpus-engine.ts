/** Brings an engine to the state of a corpus, and holds its answers against the oracle's. */

import type { Engine } from "../../src/engine.ts";
import type { SearchRequest } from "../../src/search/request.ts";
import { compare } from "../oracle/compare.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import type { Corpus } from "../oracle/corpus.ts";
import { evaluate, fileKey, type OracleOptions } from "../oracle/oracle.ts";
import { brokenInvariant, segmentsInScope } from "./invariants.ts";

/** The corpus as the engine has it after this: its repositories bear the engine's numbers. */
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

/** The viewer of a case that was made for `before`, by the numbers of `after`. */
export function moveViewer(options: OracleOptions, before: Corpus, after: Corpus): OracleOptions {
  if (!options.viewer) return options;
  const ids = [...options.viewer.repositoryIds].map((id) => {
    const place = before.repositories.findIndex((each) => each.id === id);
    return after.repositories[place]?.id ?? 1_000_000;
  });
  return { ...options, viewer: { repositoryIds: new Set(ids) } };
}

/** What is wrong with the engine's answer, in words; undefined if nothing is. */
export async function difference(
  engine: Engine,
  corpus: Corpus,
  { request, options }: { request: SearchRequest; options: OracleOptions },
): Promise<string | undefined> {
  const viewing = options.viewer ? { viewer: options.viewer } : {};
  const response = await engine.search(request, viewing);
  const ranked = response.files.map(fileKey);
  const wrong =
    compare(evaluate(corpus, request, { ...options, ranked }), response) ??
    brokenInvariant(response, await segmentsInScope(engine, request, viewing));
  return wrong && `${JSON.stringify(request)}: ${wrong}`;
}
