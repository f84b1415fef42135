/**
 * Runs the part of each search that belongs to the calling thread: parsing the query, sending tasks to the threads,
 * and merging their answers. This runs in slices of a few milliseconds, whatever the size of the answer. The calling
 * thread scans text only for small searches (see near.ts).
 */

import type { SearchOptions, SearchRequest } from "../messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "../messages/response.ts";
import { Attempts, type Asked, type SearcherOptions, type ViewSource } from "./attempts.ts";
import { explain, notIndexedOf } from "./explain.ts";
import type { IfMany } from "./if-many.ts";
import type { LongAnswer } from "./long-answer.ts";
import { beginRanked, searchRanked } from "./ranked.ts";
import { streamFiles } from "./stream.ts";

export class Searcher {
  readonly #attempts: Attempts;

  constructor(options: SearcherOptions) {
    this.#attempts = new Attempts(options);
  }

  /** The oldest generation that a running search still reads. Infinity if no search is running. */
  get oldestHeld(): number {
    return this.#attempts.oldestHeld;
  }

  search(
    request: SearchRequest,
    options: SearchOptions = {},
    view?: ViewSource,
    ifMany?: IfMany,
  ): Promise<SearchResponse> {
    const attempts = this.#attempts;
    return attempts.answer(this.#ask(request, options, view), (attempt) =>
      searchRanked(attempts, attempt, ifMany),
    );
  }

  /** Does the same as search(), but shows only the beginning of a long answer. The rest is shown when it is read. */
  begin(
    request: SearchRequest,
    options: SearchOptions = {},
    view?: ViewSource,
  ): Promise<SearchResponse | LongAnswer> {
    const attempts = this.#attempts;
    return attempts.answer(this.#ask(request, options, view), (attempt) =>
      beginRanked(attempts, attempt),
    );
  }

  /** Searches, and yields files as they are found. */
  stream(
    request: SearchRequest,
    options: SearchOptions = {},
    view?: ViewSource,
  ): AsyncGenerator<SearchEvent> {
    return streamFiles(this.#attempts, this.#ask(request, options, view));
  }

  explain(
    request: SearchRequest,
    options: SearchOptions = {},
    view?: ViewSource,
  ): Promise<Explanation> {
    return explain(this.#attempts, this.#ask(request, options, view));
  }

  /**
   * Resolves to the same list as `notIndexed` of explain(), but without the skipped files. Reads only the catalog.
   */
  notIndexed(
    request: SearchRequest,
    options: SearchOptions = {},
    view?: ViewSource,
  ): Promise<Explanation["notIndexed"]> {
    return notIndexedOf(this.#attempts, this.#ask(request, options, view));
  }

  #ask(
    request: SearchRequest,
    options: SearchOptions,
    view: ViewSource = this.#attempts.options.view,
  ): Asked {
    return { request, options, view };
  }
}
