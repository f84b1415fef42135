/** Random searches and streams of random repositories answer what brute force answers, on one index that changes from case to case. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { featuresOfCase, PROMISED } from "../oracle/features.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, difference, moveViewer, streamDifference } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";
import { testSeed } from "./seed.ts";

/** The number of random states of the index, and of queries for each state, by the number of workers. */
const WORKERS = [
  { workers: 0, states: 7 },
  { workers: 1, states: 2 },
  { workers: 3, states: 2 },
];
const QUERIES_EACH = 8;

const featuresAsked = new Set<string>();

/** Each query is searched and streamed. */
async function check(engine: Engine, { corpus, asked }: SearchState): Promise<void> {
  const there = await bringTo(engine, corpus);
  for (const one of asked) {
    for (const feature of featuresOfCase(one)) featuresAsked.add(feature);
    const moved = { ...one, options: moveViewer(one.options, corpus, there) };
    expect(await difference(engine, there, moved)).toBeUndefined();
    expect(await streamDifference(engine, there, moved)).toBeUndefined();
  }
}

const contexts = (name: string) => CONTEXTS[name];

test.each(WORKERS)("any query, $workers workers", async (given) => {
  const { workers, states } = given;
  const engine = await openEngine({ workers, contexts });
  const property = fc.asyncProperty(searchStates(QUERIES_EACH), (one) => check(engine, one));
  await fc.assert(property, { numRuns: states * RUNS });
});

test("queries that no case above has covered", async () => {
  const seed = testSeed();
  const engine = await openEngine({ contexts });
  const isNew = (feature: string) => PROMISED.includes(feature) && !featuresAsked.has(feature);
  for (const one of fc.sample(searchStates(1), { numRuns: 1_000, seed }))
    if (featuresOfCase(one.asked[0]!).some(isNew)) await check(engine, one);
  expect(PROMISED.filter(isNew)).toEqual([]);
});
