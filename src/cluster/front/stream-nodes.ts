/**
 * Streams from slices on nodes, and passes files on as they arrive. If a node fails before it has delivered files,
 * the replicas of its slices are asked. If it fails later, its slices count as crashed.
 */

import { throwIfAborted } from "../../base/abort.ts";
import { newPause } from "../../base/yield.ts";
import { isExhaustive } from "../../search/caller/attempt.ts";
import type { StreamedFile, StreamStep } from "../../search/caller/stream.ts";
import type { SearchRequest } from "../../search/messages/request.ts";
import type { FileResult, SearchEvent } from "../../search/messages/response.ts";
import { addStats, zeroStats, type SearchStats } from "../../search/messages/stats.ts";
import type { SliceAsked, StreamCall } from "../wire/calls.ts";
import {
  askReplicas,
  inTime,
  timeLeft,
  type Answered,
  type Due,
  type PlacedSlice,
} from "./ask-replicas.ts";
import { NodeFailed, type NodeClient } from "./node-client.ts";
import { mustNotBeOverloaded } from "./search-nodes.ts";

/** How many streams of a slice may fail before they have delivered anything. The slice then counts as crashed. */
const MOST_STREAMS = 5;

export interface StreamAsked {
  readonly request: SearchRequest;
  readonly contexts?: StreamCall["contexts"];
  readonly slices: readonly PlacedSlice[];
  /** The counters of slices that need not be asked. */
  readonly excluded?: Partial<SearchStats>;
  /** Resolves to whether the unanswered slices may have moved to other nodes. */
  readonly isElsewhere: () => Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** A node's stream, after its first step. */
interface Opened {
  readonly url: string;
  readonly slices: readonly SliceAsked[];
  readonly steps: AsyncIterator<StreamStep>;
  /** How many streams of these slices have failed before this one. */
  readonly failures: number;
  hasDelivered: boolean;
}

/** A step of a node's stream, or the way in which the stream has failed. */
type Next = { readonly from: Opened; readonly step: StreamStep | "lost" | "late" };

/** How many ranges and bytes may still be delivered, and how many matches were delivered. */
interface Delivery {
  ranges: number;
  bytes: number;
  matches: number;
}

/**
 * Yields the events of a stream. Yields only "stale" if some slice has no replica at its generation, or has moved to
 * other nodes by now.
 */
export async function* streamNodes(
  client: NodeClient,
  asked: StreamAsked,
): AsyncGenerator<SearchEvent | "stale"> {
  const startedAt = performance.now();
  const due: Due = { ...asked, startedAt };
  const stop = new AbortController();
  try {
    const failed = new Set<string>();
    const openSome = (slices: readonly PlacedSlice[], failures: number): Promise<Found> =>
      open(client, { ...asked, slices }, { due, stop: stop.signal, failed, failures });
    const found = await openSome(asked.slices, 0);
    mustNotBeOverloaded(found);
    if (found.isStale || (found.lost > 0 && (await asked.isElsewhere()))) return yield "stale";
    const stats = zeroStats();
    addStats(stats, asked.excluded ?? {});
    addMissing(stats, asked.slices.length, found);
    const reopen = async (lost: Opened): Promise<readonly Opened[]> => {
      failed.add(lost.url);
      const failures = lost.failures + 1;
      if (failures === MOST_STREAMS) {
        addStats(stats, { crashes: lost.slices.length });
        return [];
      }
      const own = asked.slices.filter(({ slice }) => lost.slices.includes(slice));
      const again = await openSome(own, failures);
      addMissing(stats, lost.slices.length, again);
      return again.streams;
    };
    const delivery: Delivery = {
      ranges: asked.request.matches,
      bytes: asked.maxBytes ?? Infinity,
      matches: 0,
    };
    for await (const { from, step } of inTurn(found.streams, due, reopen)) {
      if (step === "lost") addStats(stats, { crashes: from.slices.length });
      else if (step === "late") {
        addStats(stats, { shardsSkipped: from.slices.length });
        stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
      } else if (step.event.type === "final") addFinal(stats, step.event.accumulatedStats);
      else {
        from.hasDelivered ||= step.event.files.length > 0;
        const event = await deliver(step, delivery, (file, count) =>
          showBeginning(client, { asked, due, from, file, count }),
        );
        if (event.files.length > 0) yield event;
      }
    }
    addStats(stats, { actualMatchCount: delivery.matches });
    stats.totalMatchCount = Math.max(stats.totalMatchCount, delivery.matches);
    stats.duration = Math.round((performance.now() - startedAt) * 1e6);
    yield { type: "final", accumulatedStats: stats, isSearchExhaustive: isExhaustive(stats) };
  } finally {
    stop.abort();
  }
}

interface Found extends Answered<unknown> {
  readonly streams: readonly Opened[];
}

async function open(
  client: NodeClient,
  { request, contexts, maxBytes, slices, signal }: StreamAsked,
  opening: {
    readonly due: Due;
    readonly stop: AbortSignal;
    readonly failed: Set<string>;
    readonly failures: number;
  },
): Promise<Found> {
  const { due, stop, failed, failures } = opening;
  const ends = signal ? AbortSignal.any([signal, stop]) : stop;
  const found = await askReplicas(slices, failed, (url, some) => {
    const call = {
      ...timeLeft(due),
      slices: some,
      request,
      ...(contexts && { contexts }),
      ...(maxBytes !== undefined && { maxBytes }),
    };
    // a signal of its own would end the stream later, while it is read; the caller's abort is in `ends`
    return within({ ...due, signal: undefined }, client.stream(url, call, ends));
  });
  const streams = found.answers.map(({ answer, ...rest }): Opened => ({
    ...rest,
    steps: answer,
    failures,
    hasDelivered: false,
  }));
  return { ...found, streams };
}

/** Counts the slices that no stream covers. */
function addMissing(stats: SearchStats, asked: number, { streams, late }: Found): void {
  const answered = streams.reduce((sum, { slices }) => sum + slices.length, 0);
  addStats(stats, { crashes: asked - answered - late, shardsSkipped: late });
  if (late > 0) stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
}

/**
 * Yields the steps of all streams as they arrive. A stream is asked for its next step when its previous step has been
 * taken. A stream that fails before it has delivered anything is replaced by the streams that `reopen` returns.
 */
async function* inTurn(
  streams: readonly Opened[],
  due: Due,
  reopen: (lost: Opened) => Promise<readonly Opened[]>,
): AsyncGenerator<Next> {
  const nextOf = async (from: Opened): Promise<Next | undefined> => {
    try {
      const next = await within(due, from.steps.next());
      if (next === "late") return { from, step: "late" };
      return next.done === true ? undefined : { from, step: next.value };
    } catch (error) {
      if (due.signal) throwIfAborted(due.signal);
      if (!(error instanceof NodeFailed)) throw error;
      return { from, step: "lost" };
    }
  };
  const begin = (from: Opened): Promise<Next | undefined> => {
    const next = nextOf(from);
    next.catch(() => undefined); // if the caller leaves the stream, nothing awaits this promise
    return next;
  };
  const waiting = new Map(streams.map((from) => [from, begin(from)]));
  const pause = newPause();
  while (waiting.size > 0) {
    const races = Array.from(waiting, async ([from, next]) => ({ from, next: await next }));
    const { from, next } = await Promise.race(races);
    if (next?.step === "lost" && !from.hasDelivered)
      for (const one of await reopen(from)) waiting.set(one, begin(one));
    else if (next) yield next;
    if (next && typeof next.step === "object") waiting.set(from, begin(from));
    else waiting.delete(from);
    await pause();
  }
}

/**
 * Resolves to the value of `next`, or to "late" if the search's time is over before that. Rejects if the caller aborts.
 */
async function within<T>(due: Due, next: Promise<T>): Promise<T | "late"> {
  return inTime(due, (signal) => {
    if (signal === undefined) return next;
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      next.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    });
  });
}

type ShowBeginning = (file: StreamedFile, count: number) => Promise<FileResult | undefined>;

/**
 * Resolves to the files that still fit into the limits of the request. The last one is cut to the matches that remain.
 */
async function deliver(
  { event, files: places }: StreamStep,
  delivery: Delivery,
  showBeginning: ShowBeginning,
): Promise<Extract<SearchEvent, { type: "chunk" }>> {
  const chunk = event as Extract<SearchEvent, { type: "chunk" }>;
  const files: FileResult[] = [];
  let matches = 0;
  for (const [i, file] of chunk.files.entries()) {
    const place = places[i]!;
    if (delivery.ranges <= 0 || delivery.bytes <= 0) break;
    const count = Math.min(place.count, delivery.ranges);
    const shown = count < place.count ? await showBeginning(place, count) : file;
    if (!shown) continue;
    files.push(shown);
    matches += count;
    delivery.ranges -= count;
    delivery.bytes -= place.bytes;
  }
  delivery.matches += matches;
  const own = new Set(files.map(({ repositoryId }) => repositoryId));
  return {
    type: "chunk",
    files,
    stats: { ...chunk.stats, actualMatchCount: matches },
    repositoryInfo: chunk.repositoryInfo.filter(({ id }) => own.has(id)),
  };
}

/** Asks a node for the first matches of a file. Resolves to undefined if the node fails, or if the file is damaged. */
async function showBeginning(
  client: NodeClient,
  showing: {
    readonly asked: StreamAsked;
    readonly due: Due;
    readonly from: Opened;
    readonly file: StreamedFile;
    readonly count: number;
  },
): Promise<FileResult | undefined> {
  const { asked, due, from, file, count } = showing;
  const { segment, file: number, skip } = file;
  const { request, contexts } = asked;
  const call = {
    ...timeLeft(due),
    slices: from.slices,
    request,
    ...(contexts && { contexts }),
    files: [{ segment, file: number, skip, count }],
  };
  try {
    const shown = await inTime(due, (signal) => client.ask(from.url, "/v1/show", call, signal));
    return shown === "late" ? undefined : shown.files[0]?.result;
  } catch (error) {
    if (error instanceof NodeFailed) return undefined;
    throw error;
  }
}

/** Adds the counters of a node, except its matches: the front counts those that it delivers. */
function addFinal(stats: SearchStats, part: SearchStats): void {
  addStats(stats, { ...part, actualMatchCount: 0 });
  stats.wait = Math.max(stats.wait, part.wait);
  if (part.flushReason === "FLUSH_REASON_TIMER_EXPIRED") stats.flushReason = part.flushReason;
}
