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
  readonly warmUps: number;
  readonly least: number; // runs
  readonly most: number; // runs
  readonly ms: number; // after the least, until so much time is spent
}

export const THOROUGH: Patience = { warmUps: 2, least: 5, most: 41, ms: 2000 };
export const QUICK: Patience = { warmUps: 1, least: 3, most: 15, ms: 150 };

/** Milliseconds of each run, warm. */
export async function sample(run: () => Promise<unknown>, patience: Patience): Promise<number[]> {
  for (let i = 0; i < patience.warmUps; i++) await run();
  const times: number[] = [];
  const start = performance.now();
  const goesOn = () =>
    times.length < patience.least ||
    (times.length < patience.most && performance.now() - start < patience.ms);
  while (goesOn()) {
    const before = performance.now();
    await run();
    times.push(performance.now() - before);
  }
  return times;
}
