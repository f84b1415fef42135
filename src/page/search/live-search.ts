/**
 * Runs one search, and loads its further pages. The ranked answer is requested immediately. If it takes longer than
 * `STREAM_AFTER_MS`, files are also streamed as they are found. The streamed files are shown until the ranked answer
 * arrives.
 */

import type { Facets, FileResult, SearchAnswer, SearchRequest, Stats } from "../wire/answers.ts";
import { isAbort, type Client } from "../wire/client.ts";
import { isOfHistory } from "./query-text.ts";

export interface Asked {
  query: string;
  regex: boolean;
  matchCase: boolean;
}

export interface Found {
  /** While 'streaming', files are in the order in which they were found. */
  state: "searching" | "streaming" | "done" | "failed";
  files: readonly FileResult[];
  /** The counters. Set when the ranked answer has arrived. */
  stats?: Stats;
  /** Counts of all files. Set when the ranked answer has arrived. */
  facets?: Facets;
  /** Whether there are more files than those shown. */
  hasMore: boolean;
  isLoadingMore: boolean;
  error?: unknown;
}

export interface LiveSearch {
  readonly asked: Asked;
  readonly found: Found;
  /** Requests the next page of files. */
  more(): void;
  stop(): void;
}

type Searching = Pick<Client, "search" | "stream">;

const STREAM_AFTER_MS = 150;
const STREAMED_MATCHES = 100;
const PAGE_MATCHES = 200;
export const MATCHES_PER_FILE = 5;
const MOST_MATCHES = 20_000;
export const FACET_VALUES = 12;

const NOTHING: Found = {
  state: "searching",
  files: [],
  hasMore: false,
  isLoadingMore: false,
};

export const requestOf = ({ query, regex, matchCase }: Asked): SearchRequest => ({
  query,
  matches: PAGE_MATCHES,
  contextLines: 1,
  isRegexEnabled: regex,
  isCaseSensitivityEnabled: matchCase,
});

/** Starts a search. `onChange` is called whenever `found` has changed. */
export function startSearch(client: Searching, asked: Asked, onChange: () => void): LiveSearch {
  const stopped = new AbortController();
  const ranked = new AbortController(); // ends the stream when the ranked answer has arrived, or with the search
  const { signal } = stopped;
  let found = NOTHING;
  let paging: Paging = { matches: PAGE_MATCHES };
  const show = (changes: Partial<Found>): void => {
    if (signal.aborted) return;
    found = { ...found, ...changes };
    onChange();
  };
  const fail = (error: unknown): void => {
    if (!isAbort(error)) show({ state: "failed", error, isLoadingMore: false });
  };

  const ask = async (next: Paging): Promise<void> => {
    const answer = await client.search(pageRequest(asked, next), signal);
    ranked.abort();
    const files = next.cursor === undefined ? answer.files : [...found.files, ...answer.files];
    paging = followingPage(next, answer);
    show({
      state: "done",
      files,
      stats: next.cursor === undefined || !found.stats ? answer.stats : found.stats,
      ...(answer.facets && { facets: answer.facets }),
      hasMore: paging.isLast !== true,
      isLoadingMore: false,
    });
  };

  const timer = setTimeout(() => {
    void showStream(client, asked, ranked.signal, show).catch(() => {}); // the ranked answer reports the error
  }, STREAM_AFTER_MS);
  void ask(paging)
    .catch(fail)
    .finally(() => {
      clearTimeout(timer);
      ranked.abort();
    });

  return {
    asked,
    get found() {
      return found;
    },
    more() {
      if (found.state !== "done" || !found.hasMore || found.isLoadingMore) return;
      show({ isLoadingMore: true });
      void ask(paging).catch(fail);
    },
    stop() {
      clearTimeout(timer);
      stopped.abort();
      ranked.abort();
    },
  };
}

async function showStream(
  client: Searching,
  asked: Asked,
  signal: AbortSignal,
  show: (changes: Partial<Found>) => void,
): Promise<void> {
  let files: FileResult[] = [];
  const request = { ...requestOf(asked), matches: STREAMED_MATCHES };
  for await (const event of client.stream(request, signal)) {
    if (signal.aborted) return;
    if (event.type !== "chunk" || event.files.length === 0) continue;
    files = [...files, ...event.files];
    show({ state: "streaming", files });
  }
}

// ── pages ──

/**
 * How the next page is requested. If the server has no cursors, each request asks for more matches than the one
 * before.
 */
interface Paging {
  matches: number;
  cursor?: string;
  isLast?: boolean;
}

function pageRequest(asked: Asked, { matches, cursor = "" }: Paging): SearchRequest {
  const request = { ...requestOf(asked), matches, after: cursor, matchesPerFile: MATCHES_PER_FILE };
  const countsFacets = cursor === "" && !isOfHistory(asked.query); // changes have no facets
  return countsFacets ? { ...request, facets: FACET_VALUES } : request;
}

function followingPage({ matches, cursor }: Paging, answer: SearchAnswer): Paging {
  if (answer.nextCursor !== undefined) return { matches, cursor: answer.nextCursor };
  const isAll =
    cursor !== undefined ||
    answer.isSearchExhaustive ||
    answer.files.length >= answer.stats.fileCount ||
    matches >= MOST_MATCHES;
  return isAll ? { matches, isLast: true } : { matches: Math.min(matches * 4, MOST_MATCHES) };
}
