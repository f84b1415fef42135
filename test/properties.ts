/**
 * How properties are checked in every test: one that takes too long fails by itself, before its test
 * does, so that it tells its seed. QUERN_SEED makes all of them begin with that seed again.
 */

import fc from "fast-check";

const runs = Number(process.env["QUERN_RUNS"] ?? 1);
const seed = process.env["QUERN_SEED"];

/** Less than the 300 s of a test, in milliseconds; tests that run more often have as much more time. */
const LIMIT_MS = 280_000 * runs;

fc.configureGlobal({
  interruptAfterTimeLimit: LIMIT_MS,
  markInterruptAsFailure: true,
  ...(seed !== undefined && { seed: Number(seed) }),
});
