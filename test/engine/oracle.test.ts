/** Random searches of random repositories answer what brute force answers, on one index that changes from case to case. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { CONTEXTS, searchCases, type SearchCase } from "../oracle/queries.ts";
import { bringTo, difference, moveViewer } from "./corpus-engine.ts";
import { openEngine, RUNS } from "./opened.ts";

const WORKERS = [
  { workers: 0, runs: 60 },
  { workers: 1, runs: 30 },
  { workers: 3, runs: 30 },
];

const TIMEOUT_MS = 60_000 * RUNS;

test.each(WORKERS)("any query, $workers workers", { timeout: TIMEOUT_MS }, async (given) => {
  const { workers, runs } = given;
  const engine = await openEngine({ workers, contexts: (name) => CONTEXTS[name] });
  const check = async ({ corpus, request, options }: SearchCase) => {
    const there = await bringTo(engine, corpus);
    const moved = moveViewer(options, corpus, there);
    expect(await difference(engine, there, { request, options: moved })).toBeUndefined();
  };
  await fc.assert(fc.asyncProperty(searchCases(), check), {
    numRuns: runs * RUNS,
  });
});
