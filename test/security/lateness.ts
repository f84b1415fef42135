/** Measures how long the only worker of an engine works on after a search is over, in its own processor time. */

import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../src/engine.ts";
import { SLOWNESS } from "../slowness.ts";

export interface Worked {
  readonly engine: Engine;
  /** Returns the milliseconds that the worker has worked: see workerClock(). */
  readonly worked: () => number;
}

export type Asked = Parameters<Engine["search"]>[0];

/** The limit of milliseconds of the worker's own processor time after its time-out, or after it is told to stop. */
export const MOST_LATE_MS = 20 * SLOWNESS;
/** The maximum error of the worker's clock. */
export const TICK_MS = 5;

/**
 * Makes another search and resolves, when the worker has answered it, to the ms that it took. The search has an
 * expression in texts, which the caller's thread never answers itself.
 */
async function whenFree({ engine, worked }: Worked): Promise<number> {
  const free = () => engine.search({ query: "file:^none$ a.c", isRegexEnabled: true, matches: 0 });
  await free();
  const before = worked();
  await free();
  return worked() - before;
}
const refused = () => undefined; // some of them are
/** The number of milliseconds from which one more or less does not matter. */
const FINE_MS = 5;

/** Resolves to the milliseconds that the worker works after a time-out. */
export async function afterTimeout(one: Worked, asked: Asked, timeoutMs: number): Promise<number> {
  const before = one.worked();
  await one.engine.search(asked, { timeoutMs }).catch(refused);
  const other = await whenFree(one);
  return one.worked() - before - 2 * other - timeoutMs;
}

/** Aborts a search after this much work. Resolves to the milliseconds that the worker works after that. */
export async function afterAbort(one: Worked, asked: Asked, at: number): Promise<number> {
  const { engine, worked } = one;
  const abort = new AbortController();
  const before = worked();
  let isOver = false;
  const searching = engine
    .search(asked, { signal: abort.signal })
    .catch(refused)
    .then(() => (isOver = true));
  // a turn is shorter, and occupies a core
  while (!isOver && worked() - before < at) await (at < FINE_MS ? turn() : sleep(1));
  const then = worked();
  abort.abort();
  await searching;
  const other = await whenFree(one);
  return worked() - then - 2 * other;
}

/**
 * Returns the least of several tries, until one is below `most`, because other work on the machine delays some of them.
 */
export async function leastOf(
  tries: number,
  most: number,
  measure: () => Promise<number>,
): Promise<number> {
  let least = Infinity;
  for (let left = tries; left > 0 && least >= most; left--)
    least = Math.min(least, await measure());
  return least;
}
