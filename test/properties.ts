/**
 * Sets how properties are checked in every test. A slow property fails before its test does, so that its seed is
 * reported. QUERN_SEED makes all properties begin with that seed.
 */

import fc from "fast-check";
import { RUNS } from "./runs.ts";

const seed = process.env["QUERN_SEED"];

/** The time limit in milliseconds, below the 300 s of a test. Tests with more runs have proportionally more time. */
const LIMIT_MS = 280_000 * RUNS;

fc.configureGlobal({
  interruptAfterTimeLimit: LIMIT_MS,
  markInterruptAsFailure: true,
  ...(seed !== undefined && { seed: Number(seed) }),
});
