/**
 * Runs a target on one input after another. Case n of a run with seed s depends only on the number s + n, so any case
 * can be repeated by its number.
 */

import { readdirSync, readFileSync } from "node:fs";
import { randomFrom } from "../test/regex/random.ts";
import { mutateSeed } from "./mutate.ts";
import { MOST_MS, Wrong, type Target } from "./target.ts";

export interface Limits {
  /** The number of the first case. */
  readonly seed: number;
  readonly cases: number;
  /** The value of performance.now() after which no more cases begin. */
  readonly until: number;
  /** Called with the number of each case before it runs. */
  readonly onCase?: (seed: number) => void;
}

export interface Failure {
  readonly seed: number;
  readonly input: Buffer;
  readonly error: unknown;
}

/**
 * Returns the first failure, or the number of cases that passed. Unmutated seeds run first, because they are regression
 * tests of old findings.
 */
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

/** The processor time of the case. Wall-clock time would also include waiting for other programs. */
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

/** Returns the files of fuzz/seeds/NAME, sorted by name. */
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
