/** Random searches of random repositories answer what brute force answers, on one index that changes from case to case. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { featuresOfCase, PROMISED } from "../oracle/features.ts";
import { CONTEXTS, searchCases, type SearchCase } from "../oracle/queries.ts";
import { bringTo, difference, moveViewer } from "./corpus-engine.ts";
import { openEngine, RUNS } from "./opened.ts";
import { testSeed } from "./seed.ts";

const WORKERS = [
  { workers: 0, runs: 60 },
  { workers: 1, runs: 30 },
  { workers: 3, runs: 30 },
];

const TIMEOUT_MS = 60_000 * RUNS;

const asked = new Set<string>();

async function check(engine: Engine, one: SearchCase): Promise<void> {
  const { corpus, request, options } = one;
  for (const feature of featuresOfCase(one)) asked.add(feature);
  const there = await bringTo(engine, corpus);
  const moved = moveViewer(options, corpus, there);
  expect(await difference(engine, there, { request, options: moved })).toBeUndefined();
}

const contexts = (name: string) => CONTEXTS[name];

test.each(WORKERS)("any query, $workers workers", { timeout: TIMEOUT_MS }, async (given) => {
  const { workers, runs } = given;
  const engine = await openEngine({ workers, contexts });
  const property = fc.asyncProperty(searchCases(), (one) => check(engine, one));
  await fc.assert(property, { numRuns: runs * RUNS });
});

test("what no case above has asked for", { timeout: TIMEOUT_MS }, async () => {
  const seed = testSeed();
  const engine = await openEngine({ contexts });
  const isNew = (feature: string) => PROMISED.includes(feature) && !asked.has(feature);
  for (const one of fc.sample(searchCases(), { numRuns: 1_000, seed }))
    if (featuresOfCase(one).some(isNew)) await check(engine, one);
  expect(PROMISED.filter(isNew)).toEqual([]);
});
