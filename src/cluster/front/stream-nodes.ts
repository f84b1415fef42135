/**
 * Streams the results of slices on nodes. The files that nodes send are passed on as they arrive.
 *
 * If a node fails, replicas of its slices continue the failed node's stream at the same generation. A replica streams
 * from the beginning, because each node finds files in an order of its own. The front drops the files that were
 * delivered before, so the caller gets each file only once. The following rules hold:
 *
 * - A file is identified by the number of its segment in the shard, and by its number in that segment. At one
 *   generation, both numbers are the same on all replicas.
 * - Only a stream that reaches its end adds its counters to the sum. These counters cover all files of its slices. So
 *   the sum is what one engine would report, and nothing is counted twice. A chunk of a continued stream counts only
 *   its matches.
 * - The limits of matches and bytes apply to what the caller gets. A replica gets the same limits as the failed node.
 *   The front drops only files that it has delivered, so the remaining files are enough to reach the limits.
 * - The replica gets the same request and the same visible repositories as the failed node, and the time that is
 *   left.
 *
 * The slices of a failed node count as crashed if no replica has them at this generation, or if MOST_STREAMS streams
 * of them have failed. They also count as crashed if some of their files were delivered, but more than
 * MOST_REMEMBERED files were delivered in all. The content of a file is held only until the file is delivered or
 * dropped.
 */

import { JoinedSignal } from "../../base/joined-signal.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { newPause } from "../../base/yield.ts";
import { isExhaustive } from "../../search/caller/attempt.ts";
import type { SearchRequest } from "../../search/messages/request.ts";
import type { FileResult, SearchEvent } from "../../search/messages/response.ts";
import { addStats, zeroStats, type SearchStats } from "../../search/messages/stats.ts";
import type { SentFile, SentStep, SliceAsked, StreamCall } from "../wire/calls.ts";
import {
  askReplicas,
  inTime,
  timeLeft,
  type Answered,
  type Due,
  type PlacedSlice,
} from "./ask-replicas.ts";
import { DeliveredFiles } from "./delivered-files.ts";
import { NodeFailed, type NodeClient } from "./node-client.ts";
import { mustNotBeOverloaded } from "./search-nodes.ts";

/** If this many streams of a slice fail in one search, the slice counts as crashed. */
export const MOST_STREAMS = 5;
/** The maximum number of delivered files that a front's stream remembers. That many files take 3.5 MB. */
const MOST_REMEMBERED = 100_000;

export interface StreamAsked {
  readonly request: SearchRequest;
  readonly contexts?: StreamCall["contexts"];
  readonly slices: readonly PlacedSlice[];
  /** The counters of slices that need not be searched. */
  readonly excluded?: Partial<SearchStats>;
  /** Resolves to true if the slices without an answer may have moved to other nodes. */
  readonly isElsewhere: () => Promise<boolean>;
  /** Resolves to the slices, with the replicas that are known now. */
  readonly placedNow: (slices: readonly PlacedSlice[]) => Promise<readonly PlacedSlice[]>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** The maximum number of delivered files that the stream remembers. Default MOST_REMEMBERED. */
  readonly mostRemembered?: number;
}

/** A stream that a node has begun to send. */
interface Opened {
  readonly url: string;
  readonly slices: readonly SliceAsked[];
  readonly steps: AsyncIterator<SentStep>;
  /** How many streams of these slices have failed before this one. */
  readonly failures: number;
  /** Whether this stream continues a failed one that had delivered files. */
  readonly isContinued: boolean;
  /** Whether files of these slices were delivered, by this stream or by one that it continues. */
  hasDelivered: boolean;
}

/** A step of a node's stream, or "late" if the search's time has run out. */
type Next = { readonly from: Opened; readonly step: SentStep | "late" };
/** The streams that continue a failed stream. */
type Reopened = { readonly reopened: readonly Opened[] };

interface Delivery {
  /** How many ranges and bytes may still be delivered. */
  ranges: number;
  bytes: number;
  matches: number;
  readonly files: DeliveredFiles;
}

/**
 * Yields the events of a stream. If some slice has no replica at its generation, or may have moved to other nodes,
 * yields only "stale".
 */
export async function* streamNodes(
  client: NodeClient,
  asked: StreamAsked,
): AsyncGenerator<SearchEvent | "stale"> {
  const startedAt = performance.now();
  const due: Due = { ...asked, startedAt };
  const stop = new AbortController();
  using ends = new JoinedSignal([asked.signal, stop.signal]);
  try {
    const failed = new Set<string>();
    const openSome = (slices: readonly PlacedSlice[], lost?: Opened): Promise<Found> =>
      open(client, { ...asked, slices }, { due, ends: ends.signal, failed, lost });
    const openAgain = async (slices: readonly PlacedSlice[], lost: Opened): Promise<Found> => {
      const first = await openSome(slices, lost);
      if (first.lost === 0) return first;
      const isOpen = ({ slice }: PlacedSlice): boolean =>
        first.streams.some((one) => one.slices.includes(slice));
      const left = slices.filter((one) => !isOpen(one));
      const second = await openSome(await asked.placedNow(left), lost);
      return { ...second, streams: [...first.streams, ...second.streams] };
    };
    const found = await openSome(asked.slices);
    mustNotBeOverloaded(found);
    if (found.isStale || (found.lost > 0 && (await asked.isElsewhere()))) return yield "stale";
    const stats = zeroStats();
    addStats(stats, asked.excluded ?? {});
    addMissing(stats, asked.slices.length, found);
    const delivery: Delivery = {
      ranges: asked.request.matches,
      bytes: asked.maxBytes ?? Infinity,
      matches: 0,
      files: new DeliveredFiles(asked.mostRemembered ?? MOST_REMEMBERED),
    };
    const reopen = async (lost: Opened): Promise<readonly Opened[]> => {
      failed.add(lost.url);
      const own = asked.slices.filter(({ slice }) => lost.slices.includes(slice));
      const isUnknown = lost.hasDelivered && delivery.files.isIncomplete;
      const isOver = isUnknown || lost.failures + 1 === MOST_STREAMS;
      const again = isOver ? NOTHING : await openAgain(own, lost);
      mustNotBeOverloaded(again);
      addMissing(stats, own.length, again);
      return again.streams;
    };
    for await (const { from, step } of asTheyArrive(found.streams, due, reopen)) {
      if (step === "late") {
        addStats(stats, { shardsSkipped: from.slices.length });
        stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
      } else if (step.event.type === "final") addFinal(stats, step.event.accumulatedStats);
      else {
        const event = await deliver(from, step, delivery, (file, count) =>
          showBeginning(client, { asked, due, from, file, count }),
        );
        from.hasDelivered ||= event.files.length > 0;
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

const NOTHING: Found = {
  streams: [],
  answers: [],
  lost: 0,
  late: 0,
  isStale: false,
  isOverloaded: false,
};

async function open(
  client: NodeClient,
  { request, contexts, maxBytes, slices }: StreamAsked,
  opening: {
    readonly due: Due;
    /** Aborted when the caller aborts, or when the stream has ended. */
    readonly ends: AbortSignal;
    readonly failed: Set<string>;
    /** The failed stream that is to be continued. */
    readonly lost: Opened | undefined;
  },
): Promise<Found> {
  const { due, ends, failed, lost } = opening;
  const found = await askReplicas(slices, failed, (url, some) => {
    const call = {
      ...timeLeft(due),
      slices: some,
      request,
      ...(contexts && { contexts }),
      ...(maxBytes !== undefined && { maxBytes }),
    };
    // the stream gets no signal with a time limit, because such a signal could end the stream while it is read; the
    // signal `ends` contains the caller's abort
    return within({ ...due, signal: undefined }, client.stream(url, call, ends));
  });
  const isContinued = lost?.hasDelivered ?? false;
  const streams = found.answers.map(({ answer, ...rest }): Opened => ({
    ...rest,
    steps: answer,
    failures: lost ? lost.failures + 1 : 0,
    isContinued,
    hasDelivered: isContinued,
  }));
  return { ...found, streams };
}

/**
 * Counts the slices that no stream covers. A slice whose node did not answer in time counts as skipped, and any other
 * slice as crashed.
 */
function addMissing(stats: SearchStats, asked: number, { streams, late }: Found): void {
  const answered = streams.reduce((sum, { slices }) => sum + slices.length, 0);
  addStats(stats, { crashes: asked - answered - late, shardsSkipped: late });
  if (late > 0) stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
}

/**
 * Yields the steps of all streams as they arrive. A stream is asked for its next step when the caller has taken its
 * previous step. A stream that fails is replaced by the streams that `reopen` returns. The other streams continue in
 * the meantime.
 */
async function* asTheyArrive(
  streams: readonly Opened[],
  due: Due,
  reopen: (lost: Opened) => Promise<readonly Opened[]>,
): AsyncGenerator<Next> {
  const nextOf = async (from: Opened): Promise<Next | Reopened | undefined> => {
    try {
      const next = await within(due, from.steps.next());
      if (next === "late") return { from, step: "late" };
      return next.done === true ? undefined : { from, step: next.value };
    } catch (error) {
      if (due.signal) throwIfAborted(due.signal);
      if (!(error instanceof NodeFailed)) throw error;
      return { reopened: await reopen(from) };
    }
  };
  const begin = (from: Opened): Promise<Next | Reopened | undefined> => {
    const next = nextOf(from);
    next.catch(() => undefined); // if the caller leaves the stream, nothing awaits this promise
    return next;
  };
  const waiting = new Map(streams.map((from) => [from, begin(from)]));
  const pause = newPause();
  while (waiting.size > 0) {
    const races = Array.from(waiting, async ([from, next]) => ({ from, next: await next }));
    const { from, next } = await Promise.race(races);
    waiting.delete(from);
    if (next && "reopened" in next) for (const one of next.reopened) waiting.set(one, begin(one));
    else if (next) {
      yield next;
      if (next.step !== "late") waiting.set(from, begin(from));
    }
    await pause();
  }
}

/**
 * Resolves to the value of `next`, or to "late" if the search's time runs out first. Rejects if the caller aborts.
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

type ShowBeginning = (file: SentFile, count: number) => Promise<FileResult | undefined>;

/**
 * Resolves to the files that were not delivered before and still fit into the limits of the request. The last file is
 * cut to the number of matches that the limits still allow.
 */
async function deliver(
  { isContinued }: Opened,
  { event, files: places }: SentStep,
  delivery: Delivery,
  showBeginning: ShowBeginning,
): Promise<Extract<SearchEvent, { type: "chunk" }>> {
  const chunk = event as Extract<SearchEvent, { type: "chunk" }>;
  const files: FileResult[] = [];
  let matches = 0;
  for (const [i, file] of chunk.files.entries()) {
    const place = places[i]!;
    if (delivery.ranges <= 0 || delivery.bytes <= 0) break;
    if (delivery.files.has(place)) continue;
    const count = Math.min(place.count, delivery.ranges);
    const shown = count < place.count ? await showBeginning(place, count) : file;
    if (!shown) continue;
    files.push(shown);
    delivery.files.add(place);
    matches += count;
    delivery.ranges -= count;
    delivery.bytes -= place.bytes;
  }
  delivery.matches += matches;
  const own = new Set(files.map(({ repositoryId }) => repositoryId));
  return {
    type: "chunk",
    files,
    stats: { ...(isContinued ? zeroStats() : chunk.stats), actualMatchCount: matches },
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
    readonly file: SentFile;
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

/**
 * Adds the counters of a node, except the number of its matches. The front itself counts the matches that it
 * delivers.
 */
function addFinal(stats: SearchStats, part: SearchStats): void {
  addStats(stats, { ...part, actualMatchCount: 0 });
  stats.wait = Math.max(stats.wait, part.wait);
  if (part.flushReason === "FLUSH_REASON_TIMER_EXPIRED") stats.flushReason = part.flushReason;
}
