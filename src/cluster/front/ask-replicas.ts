/**
 * Asks nodes about slices, in rounds. The first round asks the first replica of each slice. If a node fails, the next
 * round asks the next replicas of its slices. When all replicas of a slice have failed, they are asked once more,
 * because one of them may be back. At most one answer per slice is used.
 */

import { JoinedSignal } from "../../base/joined-signal.ts";
import type { SliceAsked } from "../wire/calls.ts";
import { NodeFailed } from "./node-client.ts";

/** How long after the search's time-out a node may still answer with the results that it has found. */
const LATE_MS = 50;
/** How long a node may take to answer a call that has no time-out. */
const READ_MS = 10_000;

export interface PlacedSlice {
  readonly slice: SliceAsked;
  /** The addresses of the nodes that have the slice, the preferred one first. */
  readonly replicas: readonly string[];
}

/** A node's answer for some slices. */
export interface NodeAnswer<T> {
  readonly url: string;
  readonly slices: readonly SliceAsked[];
  readonly answer: T;
}

export interface Answered<T> {
  readonly answers: readonly NodeAnswer<T>[];
  /** The number of slices whose replicas have all failed. */
  readonly lost: number;
  /** The number of slices whose nodes did not answer before the search's time-out. */
  readonly late: number;
  /** Whether some slice has no replica at the requested generation. */
  readonly isStale: boolean;
  /** Whether a slice was refused because its nodes are overloaded. */
  readonly isOverloaded: boolean;
}

interface Waiting {
  readonly placed: PlacedSlice;
  readonly tried: ReadonlySet<string>;
  readonly whys: readonly NodeFailed["why"][];
  /** Whether all replicas of the slice have failed once. */
  readonly isAgain: boolean;
}

/**
 * Asks the replicas of the slices. Adds the URL of each node that fails to the set `failed`. REQUIRES: `ask` resolves
 * to "late" when the search's time has run out.
 */
export async function askReplicas<T>(
  slices: readonly PlacedSlice[],
  failed: Set<string>,
  ask: (url: string, slices: readonly SliceAsked[]) => Promise<T | "late">,
): Promise<Answered<T>> {
  const answers: NodeAnswer<T>[] = [];
  let [lost, late] = [0, 0];
  let [isStale, isOverloaded] = [false, false];
  let waiting: Waiting[] = slices.map((placed) => ({
    placed,
    tried: new Set(),
    whys: [],
    isAgain: false,
  }));
  while (waiting.length > 0) {
    const groups = new Map<string, Waiting[]>();
    for (const given of waiting) {
      const one = nextFor(given, failed);
      const { whys } = one;
      const url = untried(one, failed);
      if (url !== undefined) groups.set(url, [...(groups.get(url) ?? []), one]);
      else if (whys.includes("not-ready")) isStale = true;
      else if (whys.includes("overloaded")) isOverloaded = true;
      else lost++;
    }
    const failures = await Promise.all(
      Array.from(groups, async ([url, group]): Promise<Waiting[]> => {
        const asked = group.map(({ placed }) => placed.slice);
        try {
          const answer = await ask(url, asked);
          if (answer === "late") late += asked.length;
          else answers.push({ url, slices: asked, answer });
          return [];
        } catch (error) {
          if (!(error instanceof NodeFailed)) throw error;
          const { why } = error;
          if (why !== "not-ready") failed.add(url);
          return group.map(({ placed, tried, whys, isAgain }) => ({
            placed,
            isAgain,
            tried: new Set([...tried, url]),
            whys: [...whys, why],
          }));
        }
      }),
    );
    waiting = failures.flat();
  }
  return { answers, lost, late, isStale, isOverloaded };
}

/** Returns the replica to ask next. */
const untried = (
  { placed, tried, isAgain }: Waiting,
  failed: ReadonlySet<string>,
): string | undefined =>
  placed.replicas.find((each) => (isAgain || !failed.has(each)) && !tried.has(each));

/** Lets all replicas of a slice be asked again, if all of them have failed and this has not happened before. */
const nextFor = (one: Waiting, failed: ReadonlySet<string>): Waiting =>
  untried(one, failed) !== undefined || one.isAgain || one.whys.includes("not-ready")
    ? one
    : { ...one, tried: new Set(), isAgain: true };

/** When a search must end. */
export interface Due {
  /** The performance.now() at the time when the search began. */
  readonly startedAt: number;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Returns how many milliseconds a node may still take, or an empty object if the search has no time limit. */
export const timeLeft = ({ startedAt, timeoutMs }: Due): { readonly timeoutMs?: number } =>
  timeoutMs === undefined
    ? {}
    : { timeoutMs: Math.max(1, timeoutMs - (performance.now() - startedAt)) };

/** Asks a node. Rejects with NodeFailed if the node does not answer for READ_MS. */
export async function orFailed<T>(
  url: string,
  ask: (signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  const answer = await inTime({ startedAt: performance.now(), timeoutMs: READ_MS }, ask);
  if (answer !== "late") return answer;
  throw new NodeFailed("unreachable", `${url} has not answered for ${READ_MS / 1000} s`);
}

/**
 * Resolves to the answer, or to "late" if the search's time runs out before the answer arrives. Rejects if the caller
 * aborts.
 */
export async function inTime<T>(
  { startedAt, timeoutMs, signal }: Due,
  ask: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T | "late"> {
  if (timeoutMs === undefined) return ask(signal);
  const leftMs = timeoutMs + LATE_MS - (performance.now() - startedAt);
  using ends = new JoinedSignal([signal], Math.max(0, Math.ceil(leftMs)));
  try {
    return await ask(ends.signal);
  } catch (error) {
    if (ends.isLate && signal?.aborted !== true) return "late";
    throw error;
  }
}
