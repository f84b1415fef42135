/**
 * Creates the body of a search response that is too long for memory. The files come first, best first. The counters
 * follow, because they are known only at the end.
 */

import type { LongAnswer } from "../search/caller/long-answer.ts";
import type { FileResult, SearchResponse } from "../search/messages/response.ts";
import { gather, jsonParts } from "./json-body.ts";

/** Yields the JSON of a SearchResponse in pieces. */
export async function* searchPieces(answer: LongAnswer): AsyncGenerator<string> {
  yield '{"files":[';
  let isFirst = true;
  for (let files = await answer.next(); files; files = await answer.next()) {
    yield* gather(filesParts(files, isFirst));
    isFirst &&= files.length === 0;
  }
  yield* gather(restParts(answer.end()));
}

function* filesParts(files: readonly FileResult[], isFirst: boolean): Generator<string> {
  for (const [i, file] of files.entries()) {
    if (i > 0 || !isFirst) yield ",";
    yield* jsonParts(file);
  }
}

function* restParts(rest: Omit<SearchResponse, "files">): Generator<string> {
  yield "],";
  const parts = jsonParts(rest);
  yield (parts.next().value ?? "").slice(1); // without the opening brace
  yield* parts;
}
