/**
 * Searches slices on nodes. The answer contains all results of a slice, or none of them. So it does not depend on
 * which replica answers for the slice.
 */

import { isDeepStrictEqual } from "node:util";
import { QuernError } from "../../base/errors.ts";
import { newPause } from "../../base/yield.ts";
import { wholeHeads, type Heads, type ShownHeads } from "../../search/caller/heads.ts";
import type { Cursors } from "../../search/caller/pages.ts";
import type { SearchRequest } from "../../search/messages/request.ts";
import type { SearchResponse } from "../../search/messages/response.ts";
import { addStats, zeroStats, type SearchStats } from "../../search/messages/stats.ts";
import type { Found, SearchCall } from "../wire/calls.ts";
import {
  askReplicas,
  inTime,
  timeLeft,
  type Answered,
  type Due,
  type NodeAnswer,
  type PlacedSlice,
} from "./ask-replicas.ts";
import { chooseHeads, joinShown, sumHeads, type ChosenHead } from "./merge-heads.ts";
import { NodeFailed, type NodeClient } from "./node-client.ts";

/**
 * The maximum number of attempts of a search. A search starts again if a node has found files but fails before it has
 * returned them.
 */
const MOST_ATTEMPTS = 5;

export interface NodesAsked {
  /** The request without `after`. */
  readonly request: SearchRequest;
  readonly contexts?: SearchCall["contexts"];
  /** The slices with repositories that the viewer may see. */
  readonly slices: readonly PlacedSlice[];
  /** The counters of slices that need not be searched. */
  readonly excluded?: Partial<SearchStats>;
  readonly cursors?: Cursors | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** The answer, or "stale" if some slice has no replica at the requested generation. */
export type NodesAnswer = SearchResponse | "stale";

export async function searchNodes(client: NodeClient, asked: NodesAsked): Promise<NodesAnswer> {
  const due: Due = { ...asked, startedAt: performance.now() };
  const failed = new Set<string>();
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const answer = await searchOnce({ client, asked, due, failed });
    if (answer !== "again") return answer;
  }
  throw new QuernError("INTERNAL", "nodes failed faster than they could be searched: try again");
}

interface Search {
  readonly client: NodeClient;
  readonly asked: NodesAsked;
  readonly due: Due;
  /** Nodes that have failed and are not asked again. */
  readonly failed: Set<string>;
}

async function searchOnce(search: Search): Promise<NodesAnswer | "again"> {
  const { client, asked, due, failed } = search;
  const { request, cursors, maxBytes, slices } = asked;
  const page = cursors && { ...(cursors.after && { after: cursors.after }) };
  const found = await askReplicas<Found>(slices, failed, (url, some) => {
    const call = { ...limits(search), slices: some, request, ...(page && { page }) };
    return inTime(due, (signal) => client.ask(url, "/v1/search", call, signal));
  });
  mustNotBeOverloaded(found);
  if (found.isStale) return "stale";
  const pause = newPause();
  const parts = found.answers.map(({ answer }) => answer);
  const chosen = await chooseHeads(parts, request.matches, { cursors, pause });
  const shown = await show(search, found.answers, chosen.files);
  if (shown === "again") return "again";
  const answer = joinShown(chosen, shown, maxBytes);
  const duration = Math.round((performance.now() - due.startedAt) * 1e6);
  const { facets } = request;
  const sum = { answer, facets, cursors, duration, pause };
  return sumHeads([...parts, missing(found, asked.excluded)], shown, sum);
}

/** Throws OVERLOADED if nodes were overloaded, so that no answer is silently partial. */
export function mustNotBeOverloaded({ isOverloaded }: Answered<unknown>): void {
  if (isOverloaded)
    throw new QuernError(
      "OVERLOADED",
      "the nodes already run as many searches as they allow: try again",
    );
}

/** Asks each node for the content of its chosen files. Resolves to "again" if one of the nodes fails. */
async function show(
  search: Search,
  parts: readonly NodeAnswer<Found>[],
  files: readonly ChosenHead[],
): Promise<ShownHeads[] | "again"> {
  const { client, due, failed } = search;
  const { request } = search.asked;
  const shown = await Promise.all(
    parts.map(async ({ url, slices, answer }, part): Promise<ShownHeads | "again"> => {
      const own = files.filter((file) => file.part === part).map(({ head }) => head);
      if (own.length === 0) return NOTHING_SHOWN;
      if (answer.shown && isDeepStrictEqual(own, wholeHeads(answer.files))) return answer.shown;
      const call = { ...limits(search), slices, request, files: own };
      try {
        const one = await inTime(due, (signal) => client.ask(url, "/v1/show", call, signal));
        return one === "late" ? { ...NOTHING_SHOWN, isFull: true } : one;
      } catch (error) {
        if (!(error instanceof NodeFailed)) throw error;
        failed.add(url);
        return "again";
      }
    }),
  );
  return shown.includes("again") ? "again" : (shown as ShownHeads[]);
}

function limits({ asked: { maxBytes, contexts }, due }: Search) {
  return {
    ...timeLeft(due),
    ...(maxBytes !== undefined && { maxBytes }),
    ...(contexts && { contexts }),
  };
}

/** Returns heads without files, whose counters account for the slices without an answer. */
function missing({ lost, late }: Answered<unknown>, excluded: Partial<SearchStats> = {}): Heads {
  const stats = zeroStats();
  addStats(stats, excluded);
  addStats(stats, { crashes: lost, shardsSkipped: late });
  if (late > 0) stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
  return { ...NO_HEADS, stats };
}

const NO_HEADS: Omit<Heads, "stats"> = {
  ends: [],
  files: {
    names: [],
    scores: new Int32Array(),
    segments: new Uint32Array(),
    files: new Uint32Array(),
    counts: new Uint32Array(),
    repositories: new Uint32Array(),
    pathStarts: Uint32Array.of(0),
    paths: new Uint8Array(),
    hashes: new Uint8Array(),
  },
};

const NOTHING_SHOWN: ShownHeads = {
  files: [],
  repositoryInfo: [],
  contentBytesLoaded: 0,
  lost: [],
  isFull: false,
};
