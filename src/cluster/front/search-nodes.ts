/**
 * A search over slices that lie on nodes. Each slice is asked of its first live replica; where a node
 * fails, its slices are asked of their next one. A slice counts wholly or not at all, so the answer is
 * the same whoever gave it.
 */

import { QuernError } from "../../base/errors.ts";
import { newPause } from "../../base/yield.ts";
import type { Heads, ShownHeads } from "../../search/caller/heads.ts";
import type { Cursors } from "../../search/caller/pages.ts";
import type { SearchRequest } from "../../search/messages/request.ts";
import type { SearchResponse } from "../../search/messages/response.ts";
import { addStats, zeroStats } from "../../search/messages/stats.ts";
import type { SliceAsked } from "../wire/calls.ts";
import { chooseHeads, joinShown, sumHeads, type ChosenHead } from "./merge-heads.ts";
import { NodeFailed, type NodeClient } from "./node-client.ts";

/** How much longer than the time-out a node may take: it answers then with what it has found. */
const LATE_MS = 50;
/** How often a search begins again because a node fails between finding and showing. */
const MOST_ATTEMPTS = 5;

export interface PlacedSlice {
  readonly slice: SliceAsked;
  /** Addresses of the nodes that have it, the preferred one first. */
  readonly replicas: readonly string[];
}

export interface NodesAsked {
  /** Without `after`. */
  readonly request: SearchRequest;
  /** Those with repositories that the viewer may see. */
  readonly slices: readonly PlacedSlice[];
  readonly cursors?: Cursors | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** "stale": every replica of a slice has left the generation that was asked for. */
export type NodesAnswer = SearchResponse | "stale";

export async function searchNodes(client: NodeClient, asked: NodesAsked): Promise<NodesAnswer> {
  const startedAt = performance.now();
  const failed = new Set<string>();
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const search = new NodesSearch(client, asked, { startedAt, failed });
    const answer = await search.run();
    if (answer !== "again") return answer;
  }
  throw new QuernError("INTERNAL", "nodes failed faster than they could be searched");
}

/** What one node found in some slices. */
interface Part {
  readonly url: string;
  readonly slices: readonly SliceAsked[];
  readonly heads: Heads;
}

class NodesSearch {
  readonly #client: NodeClient;
  readonly #asked: NodesAsked;
  readonly #startedAt: number;
  /** Nodes that are not asked any more; grows. */
  readonly #failed: Set<string>;
  readonly #parts: Part[] = [];
  /** Slices that no replica has answered for, and those that were late. */
  #lost = 0;
  #late = 0;
  #isStale = false;

  constructor(
    client: NodeClient,
    asked: NodesAsked,
    { startedAt, failed }: { startedAt: number; failed: Set<string> },
  ) {
    this.#client = client;
    this.#asked = asked;
    this.#startedAt = startedAt;
    this.#failed = failed;
  }

  async run(): Promise<NodesAnswer | "again"> {
    await this.#find();
    if (this.#isStale) return "stale";
    const { request, cursors, maxBytes } = this.#asked;
    const pause = newPause();
    const parts = this.#parts.map(({ heads }) => heads);
    const chosen = await chooseHeads(parts, request.matches, { cursors, pause });
    const shown = await this.#show(chosen.files);
    if (shown === "again") return "again";
    const answer = joinShown(chosen, shown, maxBytes);
    const duration = Math.round((performance.now() - this.#startedAt) * 1e6);
    const { facets } = request;
    return sumHeads([...parts, this.#missing()], shown, {
      answer,
      facets,
      cursors,
      duration,
      pause,
    });
  }

  /** Asks for the heads of all slices, round by round, until each is answered for or has no replica left. */
  async #find(): Promise<void> {
    let waiting = this.#asked.slices.map((placed) => ({ placed, wasNotReady: false }));
    const tried = new Map<PlacedSlice, Set<string>>();
    while (waiting.length > 0) {
      const groups = new Map<string, typeof waiting>();
      for (const one of waiting) {
        const before = tried.get(one.placed) ?? new Set();
        tried.set(one.placed, before);
        const url = one.placed.replicas.find(
          (each) => !this.#failed.has(each) && !before.has(each),
        );
        if (url === undefined) {
          if (one.wasNotReady) this.#isStale = true;
          else this.#lost++;
          continue;
        }
        before.add(url);
        groups.set(url, [...(groups.get(url) ?? []), one]);
      }
      const failures = await Promise.all(
        Array.from(groups, async ([url, group]) => {
          const slices = group.map(({ placed }) => placed.slice);
          const why = await this.#ask(url, slices);
          if (why === undefined) return [];
          return group.map(({ placed, wasNotReady }) => ({
            placed,
            wasNotReady: wasNotReady || why === "not-ready",
          }));
        }),
      );
      waiting = failures.flat();
    }
  }

  /** Undefined: it answered, or nothing more can be asked in time. */
  async #ask(url: string, slices: readonly SliceAsked[]): Promise<NodeFailed["why"] | undefined> {
    const { request, cursors } = this.#asked;
    const page = cursors && { ...(cursors.after && { after: cursors.after }) };
    const call = { ...this.#limits(), slices, request, ...(page && { page }) };
    try {
      const heads = await this.#inTime((signal) =>
        this.#client.ask(url, "/v1/search", call, signal),
      );
      if (heads === "late") this.#late += slices.length;
      else this.#parts.push({ url, slices, heads });
      return undefined;
    } catch (error) {
      if (!(error instanceof NodeFailed)) throw error;
      if (error.why !== "not-ready") this.#failed.add(url);
      return error.why;
    }
  }

  /** Has each node show its files. "again": one of them failed. */
  async #show(files: readonly ChosenHead[]): Promise<ShownHeads[] | "again"> {
    const { request } = this.#asked;
    const shown = await Promise.all(
      this.#parts.map(async ({ url, slices }, part): Promise<ShownHeads | "again"> => {
        const own = files.filter((file) => file.part === part).map(({ head }) => head);
        if (own.length === 0) return NOTHING_SHOWN;
        const call = { ...this.#limits(), slices, request, files: own };
        try {
          const one = await this.#inTime((signal) =>
            this.#client.ask(url, "/v1/show", call, signal),
          );
          return one === "late" ? { ...NOTHING_SHOWN, isFull: true } : one;
        } catch (error) {
          if (!(error instanceof NodeFailed)) throw error;
          this.#failed.add(url);
          return "again";
        }
      }),
    );
    return shown.includes("again") ? "again" : (shown as ShownHeads[]);
  }

  #limits() {
    const { timeoutMs, maxBytes } = this.#asked;
    const left = timeoutMs && Math.max(1, timeoutMs - (performance.now() - this.#startedAt));
    return {
      ...(left !== undefined && { timeoutMs: left }),
      ...(maxBytes !== undefined && { maxBytes }),
    };
  }

  /** "late": the search is over and the node has not answered. */
  async #inTime<T>(ask: (signal: AbortSignal | undefined) => Promise<T>): Promise<T | "late"> {
    const { timeoutMs, signal } = this.#asked;
    if (timeoutMs === undefined) return ask(signal);
    const ends = timeoutMs + LATE_MS - (performance.now() - this.#startedAt);
    const late = AbortSignal.timeout(Math.max(0, Math.ceil(ends)));
    try {
      return await ask(signal ? AbortSignal.any([signal, late]) : late);
    } catch (error) {
      if (late.aborted && !signal?.aborted) return "late";
      throw error;
    }
  }

  /** What the counters say of slices without an answer. */
  #missing(): Heads {
    const stats = zeroStats();
    addStats(stats, { crashes: this.#lost, shardsSkipped: this.#late });
    if (this.#late > 0) stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
    return { ...NO_HEADS, stats };
  }
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
