/** Histories on real threads, with the constants as they are; small-pages.test.ts has the strange ones. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { checkAgainstFresh, steps, take, type Step, type World } from "./history.ts";
import { openEngine, RUNS, temporaryFolder } from "./opened.ts";

const THREADS = [
  { workers: 1, revisions: 1 },
  { workers: 3, revisions: 3 },
] as const;

const TIMEOUT_MS = 60_000 * RUNS;

test.each(THREADS)("on $workers threads", { timeout: TIMEOUT_MS }, async (given) => {
  const { workers, revisions } = given;
  const check = async (history: Step[]) => {
    const path = temporaryFolder();
    const contexts = () => ["acme/api"];
    const open = () => openEngine({ workers, contexts }, path);
    const world: World = {
      engine: await open(),
      corpus: { repositories: [] },
      async reopen() {
        await world.engine.close();
        return open();
      },
      // what is merged away would be waited for
      compact: () => Promise.resolve(),
    };
    for (const step of history) await take(world, step);
    const fresh = await openEngine({ workers, contexts });
    await checkAgainstFresh(world, fresh, history.at(-1)!);
    expect((await world.engine.check()).problems).toEqual([]);
    await fresh.close();
    await world.engine.close();
  };
  const histories = fc.array(steps(revisions), { minLength: 2, maxLength: 8 });
  await fc.assert(fc.asyncProperty(histories, check), { numRuns: 3 * RUNS, endOnFailure: true });
});
