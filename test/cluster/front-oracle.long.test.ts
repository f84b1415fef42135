/**
 * Fronts over random placements answer as brute force does, and as one engine with the same segments does. QUERN_RUNS
 * multiplies the number of cases.
 */

import fc from "fast-check";
import { expect } from "vitest";
import { difference, moveViewer, streamDifference } from "../engine/corpus-engine.ts";
import { RUNS, someOf } from "../runs.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { comparable } from "./comparable.ts";
import { bringInParts } from "./bring-in-parts.ts";
import { openFront, startNodes } from "./fronts.ts";
import { newCluster } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const contexts = (name: string) => CONTEXTS[name];

const states = searchStates(2);

/** Draws one state, for the first layout, whose answers contain files, so that the count of files below does not depend on luck. */
const FINDS_SOME = { seed: 1, numRuns: 1 };

const LAYOUTS = [
  { nodes: 3, replicas: 2, shardBytes: 60 },
  { nodes: 5, replicas: 1, shardBytes: 400 },
  { nodes: 2, replicas: 3, shardBytes: 1 },
  { nodes: 1, replicas: 1, shardBytes: 2 ** 30 },
  { nodes: 4, replicas: 2, shardBytes: 10 },
];

test("random states, queries, viewers, placements and pages are answered as by brute force", async () => {
  const seen = { files: 0, slices: 0 };
  const check = async ({ nodes, ...layout }: (typeof LAYOUTS)[number], at: number) => {
    const cluster = await newCluster({ contexts, ...layout });
    await startNodes(cluster, nodes);
    const front = await openFront(cluster);
    const whole = await cluster.open();
    const property = fc.asyncProperty(states, async ({ corpus, asked }) => {
      const there = await bringInParts(front, corpus);
      await whole.refresh();
      for (const one of asked) {
        const moved = { ...one, options: moveViewer(one.options, corpus, there) };
        expect(await difference(front, there, moved)).toBeUndefined();
        expect(await streamDifference(front, there, moved)).toBeUndefined();
        const { viewer } = moved.options;
        const options = viewer ? { viewer } : {};
        let [cursor, other]: (string | undefined)[] = ["", ""];
        for (let page = 0; page < 3 && cursor !== undefined; page++) {
          const request = { ...one.request, matches: 3, facets: 3 };
          const mine = await front.search({ ...request, after: cursor }, options);
          const same = await whole.search({ ...request, after: other! }, options);
          expect(comparable(mine)).toEqual(comparable(same));
          seen.files += same.files.length;
          [cursor, other] = [mine.nextCursor, same.nextCursor];
        }
      }
      const { nodes: told } = await front.status();
      seen.slices += told.reduce((sum, { ready }) => sum + ready, 0);
    });
    const examples =
      at === 0 ? fc.sample(states, FINDS_SOME).map((one): [SearchState] => [one]) : [];
    await fc.assert(property, { examples, numRuns: RUNS + examples.length, endOnFailure: true });
  };
  await Promise.all(someOf(LAYOUTS, 2).map(check)); // at once, because they mostly wait for publications to arrive
  expect(seen.slices).toBeGreaterThan(2);
  expect(seen.files).toBeGreaterThan(0);
});
