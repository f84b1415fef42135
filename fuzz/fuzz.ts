/**
 * Runs a target on one input after another. Case n of a run that began at seed s is made of the
 * number s + n alone, so that any case is found again by its own number.
 */

import { readdirSync, readFileSync } from "node:fs";
import { randomFrom } from "../test/regex/random.ts";
import { mutateSeed } from "./mutate.ts";
import { MOST_MS, Wrong, type Target } from "./target.ts";

export interface Limits {
  /** Number of the first case. */
  readonly seed: number;
  readonly cases: number;
  /** performance.now() at which no more are begun. */
  readonly until: number;
  /** Told before a case runs. */
  readonly onCase?: (seed: number) => void;
}

export interface Failure {
  readonly seed: number;
  readonly input: Buffer;
  readonly error: unknown;
}

/** The first failure, or how many cases went well. Unmutated seeds come first: they are regressions of old findings. */
export async function fuzz(
  target: Target,
  seeds: readonly Buffer[],
  limits: Limits,
): Promise<Failure | number> {
  for (const input of seeds) {
    const error = await failureOf(target, input);
    if (error !== undefined) return { seed: NaN, input, error };
  }
  const { seed: first, cases, until, onCase } = limits;
  for (let seed = first; seed < first + cases; seed++) {
    if (performance.now() >= until) return seed - first;
    onCase?.(seed);
    const input = inputOf(target, seeds, seed);
    const error = await failureOf(target, input);
    if (error !== undefined) return { seed, input, error };
  }
  return cases;
}

export function inputOf({ make = mutateSeed }: Target, seeds: readonly Buffer[], seed: number) {
  return make(randomFrom(seed), seeds, seed);
}

/** In the processor's time: by the clock a case also waits for whatever else the machine does. */
async function failureOf(target: Target, input: Buffer): Promise<unknown> {
  const start = process.cpuUsage();
  try {
    await target.check(input);
  } catch (error) {
    return error ?? new Wrong("something was thrown that is nothing");
  }
  const { user, system } = process.cpuUsage(start);
  const ms = (user + system) / 1000;
  return ms > MOST_MS ? new Wrong(`it took ${Math.round(ms)} ms`) : undefined;
}

/** The files of fuzz/seeds/NAME, in the order of their names. */
export function seedsOf(name: string): Buffer[] {
  const folder = new URL(`seeds/${name}/`, import.meta.url);
  return readdirSync(folder)
    .sort()
    .map((file) => readFileSync(new URL(file, folder)));
}

export function describeFailure(name: string, { seed, input, error }: Failure): string {
  const again = Number.isNaN(seed) ? "" : ` --seed ${seed} --cases 1`;
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    `npx tsx fuzz/run.ts ${name}${again}`,
    `input, as text: ${JSON.stringify(input.toString())}`,
    `input, as base64: ${input.toString("base64")}`,
    said,
  ].join("\n");
}
