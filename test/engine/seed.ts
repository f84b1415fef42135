/** The seed of a random test that does not use fast-check. It is reported if the test fails, and QUERN_SEED sets it. */

import { onTestFailed } from "vitest";

/** Returns the seed, which is at least 1. Call this once in a test. */
export function testSeed(): number {
  const given = process.env["QUERN_SEED"];
  const seed = given === undefined ? 1 + Math.floor(Math.random() * 1e6) : Math.abs(Number(given));
  onTestFailed(() => console.error(`QUERN_SEED=${seed} makes the same cases again`));
  return seed;
}
