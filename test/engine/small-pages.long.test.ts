/**
 * The engine with pages of 256 bytes, blocks of 1 000 bytes and segments of 6 KiB, so that every document has their
 * edges.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import { checkEnvironment } from "../../src/store/upkeep/check.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, difference, moveViewer } from "./corpus-engine.ts";
import { checkAgainstFresh, steps, take, type World } from "./history.ts";
import { openEngine, SMALL_LAYOUT, temporaryFolder } from "./opened.ts";
import { RUNS, someOf } from "../runs.ts";
import { unaccounted } from "./stored-keys.ts";

const internals = {
  layout: SMALL_LAYOUT,
  retireMs: 0,
  runs: { ...RUN_BOUNDS, segmentBytes: 6 * 1024 },
};
const { pageBytes } = SMALL_LAYOUT;

test.each(
  someOf(
    [
      { workers: 0, states: 5 },
      { workers: 2, states: 3 },
    ],
    2,
  ),
)("any query, $workers workers", async ({ states, ...options }) => {
  const contexts = (name: string) => CONTEXTS[name];
  const engine = await openEngine({ contexts, ...options, internals });
  const check = async ({ corpus, asked }: SearchState) => {
    const there = await bringTo(engine, corpus);
    for (const one of asked) {
      const moved = { ...one, options: moveViewer(one.options, corpus, there) };
      expect(await difference(engine, there, moved)).toBeUndefined();
    }
  };
  await fc.assert(fc.asyncProperty(searchStates(5, { pageBytes }), check), {
    numRuns: states * RUNS,
    endOnFailure: true,
  });
});

test("segments are filled and merged up to their maximum size", async () => {
  const path = temporaryFolder();
  const engine = await openEngine({ internals }, path);
  const files = Array.from({ length: 10 }, (_, i) => ({
    path: `${i}.txt`,
    content: `${i}`.repeat(2_000),
  }));
  const sizes = async () => {
    const environment = openEnvironment(path, { readOnly: true });
    const snapshot = environment.snapshot();
    const { segments } = readManifest(snapshot);
    snapshot.close();
    await environment.close();
    return segments.map(({ textBytes }) => textBytes);
  };
  await engine.index(documents({ name: "r", files }));
  expect(await sizes()).toEqual([6_000, 6_000, 6_000, 2_000]);
  await engine.compact();
  expect(await sizes()).toEqual([6_000, 6_000, 6_000, 2_000]);
});

test.each([
  { revisions: 1, workers: 0 },
  { revisions: 3, workers: 0 },
  { revisions: 1, workers: 2 },
] as const)("any history: $revisions revisions, $workers workers", async (kind) => {
  const { revisions, workers } = kind;
  const check = async (history: Parameters<typeof take>[1][]) => {
    const path = temporaryFolder();
    const options = { contexts: () => ["acme/api"], workers, internals };
    const open = () => openEngine(options, path);
    const world: World = {
      engine: await open(),
      corpus: { repositories: [] },
      async reopen() {
        await world.engine.close();
        return open();
      },
      async compact(engine) {
        const { segmentsAfter } = await engine.compact();
        expect(segmentsAfter).toBeLessThanOrEqual(16);
      },
    };
    for (const step of history) await take(world, step);
    const fresh = await openEngine(options);
    await checkAgainstFresh(world, fresh, history.at(-1)!);
    await world.engine.close();
    const environment = openEnvironment(path, { readOnly: true });
    expect((await checkEnvironment(environment)).problems).toEqual([]);
    expect(unaccounted(environment)).toEqual([]);
    await environment.close();
  };
  await fc.assert(
    fc.asyncProperty(fc.array(steps(revisions, pageBytes), { minLength: 2, maxLength: 8 }), check),
    { numRuns: 2 * RUNS, endOnFailure: true },
  );
});
