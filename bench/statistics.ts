/** Computes statistics of many runs. */

export interface Spread {
  readonly median: number; // ms
  readonly p95: number; // ms; the slowest of fewer than 20 runs
  readonly runs: number;
}

/** Returns the spread of times. REQUIRES: there is at least one. */
export function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  return { median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), runs: sorted.length };
}

/** Returns a quantile by nearest rank, which is always a measured value. */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN;
}

/** Returns the geometric mean, or undefined if there are no values. */
export function geometricMean(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

export interface Patience {
  readonly least: number; // runs; 2 if a run takes longer than all of `ms`
  readonly most: number; // runs
  readonly ms: number; // milliseconds; runs beyond the least end when they are used up
}

export const describePatience = ({ least, most, ms }: Patience) =>
  `Figures are medians of ${least} to ${most} runs, as many as fit into ${ms / 1000} s, or of 2 runs if one run takes longer.`;

export const THOROUGH: Patience = { least: 5, most: 31, ms: 700 };
/** The runs of a process that has just started, because code is slow until it has run often. */
export const WARMING: Patience = { least: 3, most: 200, ms: 1000 };
export const QUICK: Patience = { least: 3, most: 15, ms: 150 };

/** Resolves to the times of warm runs. Each run returns its milliseconds; the first one is not counted. */
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
