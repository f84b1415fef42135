/** Figures of many runs. */

export interface Spread {
  readonly median: number; // ms
  readonly p95: number; // ms; the slowest of fewer than 20 runs
  readonly runs: number;
}

/** REQUIRES: not empty. */
export function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  return { median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), runs: sorted.length };
}

/** Nearest rank: always a value that was measured. */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN;
}

/** undefined of nothing. */
export function geometricMean(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

export interface Patience {
  readonly least: number; // runs; 2 of those that take longer than all the time there is
  readonly most: number; // runs
  readonly ms: number; // after the least, until so much time is spent
}

export const describePatience = ({ least, most, ms }: Patience) =>
  `Medians of ${least} to ${most} runs, as many as ${ms / 1000} s allow; of 2 runs if one takes longer.`;

export const THOROUGH: Patience = { least: 5, most: 31, ms: 700 };
/** Of a process that has just begun: code runs slowly until it has run often. */
export const WARMING: Patience = { least: 3, most: 20, ms: 150 };
export const QUICK: Patience = { least: 3, most: 15, ms: 150 };

/** What each run took, which it tells in milliseconds, warm: the first is not counted. */
export async function sample(run: () => Promise<number>, patience: Patience): Promise<number[]> {
  const { most, ms } = patience;
  const first = await run();
  const least = first > ms ? 2 : patience.least;
  const times: number[] = [];
  for (let spent = 0; times.length < least || (times.length < most && spent < ms);) {
    const time = await run();
    times.push(time);
    spent += time;
  }
  return times;
}

export async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
