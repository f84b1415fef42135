/**
 * The engine with pages of 256 bytes, blocks of 1 000 bytes and segments of 6 KiB, so that every document has their
 * edges. There is one thread, because the constants are replaced only here.
 */

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { checkEnvironment } from "../../src/store/upkeep/check.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, difference, moveViewer } from "./corpus-engine.ts";
import { checkAgainstFresh, steps, take, type World } from "./history.ts";
import { openEngine, RUNS, temporaryFolder } from "./opened.ts";
import { unaccounted } from "./stored-keys.ts";

vi.mock("../../src/store/format/format.ts", async (original) => ({
  ...(await original<object>()),
  PAGE_BYTES: 256,
  BLOCK_BYTES: 1000,
  SEGMENT_BYTES: 6 * 1024,
  RETIRE_MS: 0,
}));

test("any query", async () => {
  const engine = await openEngine({ contexts: (name) => CONTEXTS[name] });
  const check = async ({ corpus, asked }: SearchState) => {
    const there = await bringTo(engine, corpus);
    for (const one of asked) {
      const moved = { ...one, options: moveViewer(one.options, corpus, there) };
      expect(await difference(engine, there, moved)).toBeUndefined();
    }
  };
  await fc.assert(fc.asyncProperty(searchStates(5), check), {
    numRuns: 10 * RUNS,
    endOnFailure: true,
  });
});

test.each([1, 3] as const)("any history, up to %i revisions", async (revisions) => {
  const check = async (history: Parameters<typeof take>[1][]) => {
    const path = temporaryFolder();
    const open = () => openEngine({ contexts: () => ["acme/api"] }, path);
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
    const fresh = await openEngine({ contexts: () => ["acme/api"] });
    await checkAgainstFresh(world, fresh, history.at(-1)!);
    await world.engine.close();
    const environment = openEnvironment(path, { readOnly: true });
    expect((await checkEnvironment(environment)).problems).toEqual([]);
    expect(unaccounted(environment)).toEqual([]);
    await environment.close();
  };
  await fc.assert(
    fc.asyncProperty(fc.array(steps(revisions), { minLength: 2, maxLength: 8 }), check),
    { numRuns: 3 * RUNS, endOnFailure: true },
  );
});
