/** How much of a test runs. QUERN_RUNS=20 multiplies the cases of random tests, and runs all rows of the long tables. */

/** Multiplies how often random tests run. */
export const RUNS = Number(process.env["QUERN_RUNS"] ?? 1);

/**
 * Returns every `step`-th item from `first` on, or all of them with QUERN_RUNS. For tables whose rows run the same code:
 * with its own `first`, each of several tests has other rows.
 */
export function someOf<T>(items: readonly T[], step: number, first = 0): readonly T[] {
  return RUNS > 1 ? items : items.filter((_, i) => i % step === first % step);
}
