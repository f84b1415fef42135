/** The seed of a random test that is not fast-check's: told whatever fails it, given by QUERN_SEED. */

import { onTestFailed } from "vitest";

/** From 1 on. To be called once in a test. */
export function testSeed(): number {
  const given = process.env["QUERN_SEED"];
  const seed = given === undefined ? 1 + Math.floor(Math.random() * 1e6) : Math.abs(Number(given));
  onTestFailed(() => console.error(`QUERN_SEED=${seed} makes the same cases again`));
  return seed;
}
