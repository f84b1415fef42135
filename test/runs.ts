/** Decides how much of a test runs. QUERN_RUNS=20 multiplies the cases of random tests, and runs all rows of tables. */

/** The factor for the number of cases of random tests. */
export const RUNS = Number(process.env["QUERN_RUNS"] ?? 1);

/** Chooses the rows of long tables. Each run of the long tests has another number, unless QUERN_ROWS is set. */
const ROWS = Number(process.env["QUERN_ROWS"] ?? 0);

/**
 * Returns every `step`-th item, or all of them with QUERN_RUNS. It is for tables whose rows run the same code. The next
 * run of the long tests has other items. Tests that give different values of `first` have different items in one run.
 */
export function someOf<T>(items: readonly T[], step: number, first = 0): readonly T[] {
  return RUNS > 1 ? items : items.filter((_, i) => (i + ROWS) % step === first % step);
}

/** Returns true if a test of the long tests runs this time: every `step`-th run, or each run with QUERN_RUNS. */
export const isInTurn = (step: number, first = 0): boolean =>
  RUNS > 1 || ROWS % step === first % step;
