/** Histories on real threads. Only the constants of waiting are replaced; small-pages.long.test.ts replaces others. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { CorpusFile, CorpusRepository } from "../oracle/corpus.ts";
import { checkAgainstFresh, steps, take, type Step, type World } from "./history.ts";
import { openEngine, temporaryFolder } from "./opened.ts";
import { RUNS, someOf } from "../runs.ts";

// otherwise index runs would wait before they delete merged segments
const file = (path: string, language: string, text: string): CorpusFile => ({
  path,
  language,
  bytes: Buffer.from(text),
});

/** Returns a repository with this many revisions. One file is in all of them, and each has a file of its own. */
function ofLanguage(id: number, revisions: number, language: string): CorpusRepository {
  const name = `r${id}`;
  const ending = language.toLowerCase();
  const common = file(`all.${ending}`, language, `needle of ${name}\n`);
  const own = (i: number) => file(`${i}.${ending}`, language, `needle ${i} of ${name}\n`);
  const names = revisions === 1 ? ["HEAD"] : ["main", "next", "old"];
  const listed = names.map((revision, i) => ({ name: revision, files: [common, own(i)] }));
  return { id, name, metadata: {}, revisions: listed };
}

/**
 * Returns steps in which three segments are merged into one, whatever the random histories do. No two have the same
 * languages or files.
 */
const merged = (revisions: number): Step => ({
  corpus: {
    repositories: ["Go", "C", "Java"].map((name, i) => ofLanguage(i + 1, revisions, name)),
  },
  regex: false,
  queries: ["needle", "lang:go needle", "lang:c", "lang:java", "rev:next needle", "rev:* r2"],
  styles: ["whole", "whole", "whole"],
  pick: 0,
  oneByOne: true,
  afterwards: "compact",
});

const THREADS = [
  { workers: 1, revisions: 1 },
  { workers: 3, revisions: 3 },
] as const;

test.each(someOf(THREADS, 2))(
  "answers correctly after any history, $workers threads",
  async (given) => {
    const { workers, revisions } = given;
    let mostMerged = 0;
    const check = async (history: Step[]) => {
      const path = temporaryFolder();
      const contexts = () => ["acme/api"];
      const open = () => openEngine({ workers, contexts, internals: { retireMs: 0 } }, path);
      const world: World = {
        engine: await open(),
        corpus: { repositories: [] },
        async reopen() {
          await world.engine.close();
          return open();
        },
        async compact(engine) {
          const { segmentsBefore, segmentsAfter } = await engine.compact();
          expect(segmentsAfter).toBeLessThanOrEqual(1);
          mostMerged = Math.max(mostMerged, segmentsBefore);
        },
      };
      for (const step of history) await take(world, step);
      const fresh = await openEngine({ workers, contexts });
      await checkAgainstFresh(world, fresh, history.at(-1)!);
      expect((await world.engine.check()).problems).toEqual([]);
      await fresh.close();
      await world.engine.close();
    };
    const histories = fc.array(steps(revisions), { minLength: 2, maxLength: 8 });
    await fc.assert(fc.asyncProperty(histories, check), {
      numRuns: 1 + RUNS,
      endOnFailure: true,
      examples: [[[merged(revisions)]]],
    });
    expect(mostMerged).toBeGreaterThanOrEqual(3);
  },
);
