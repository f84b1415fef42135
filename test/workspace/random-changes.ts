/** Random changes to a folder that is followed, with every kind of notices. */

import fc from "fast-check";
import { join } from "node:path";
import { openEngine, temporaryFolder, type OpenedOptions } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";
import { BRANCHES, KINDS, notices as made, takeAll, type Step } from "./interleaving.ts";

const NAMES = ["a", "b", "c", "d.txt", "e.py"];
const TEXTS = ["needle", "hay", "needle needle\n", "def needle(): pass\n", "", "needle\0"];

const paths = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const texts = fc.constantFrom(...TEXTS);
const kinds = <Kind extends Step["kind"]>(...all: Kind[]) =>
  fc.record({ kind: fc.constantFrom(...all) });
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("write" as const), path: paths, text: texts }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("remove", "touch", "folder"), path: paths }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("move" as const), path: paths, to: paths }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("unsaved" as const),
      path: paths,
      text: fc.option(texts, { nil: undefined }),
    }),
  },
  { weight: 6, arbitrary: kinds("search") },
  { weight: 4, arbitrary: kinds("ask", "turn", "answer") },
  { weight: 1, arbitrary: kinds("settle") },
);
const gitSteps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("checkout" as const), branch: fc.constantFrom(...BRANCHES) }),
  kinds("stash", "unstash"),
);

const OF_GIT = { weight: 1, arbitrary: gitSteps };

/** Each kind of notices, with how often changes are drawn, and from what. */
export const ROWS = Object.keys(KINDS).flatMap((notices) => [
  [notices, "files", 9, steps] as const,
  [notices, "branches, too", 1, fc.oneof({ weight: 6, arbitrary: steps }, OF_GIT)] as const,
]);

/** Expects that no answer differs from the state of the disk. */
export async function followRandomChanges(
  notices: string,
  runs: number,
  step: fc.Arbitrary<Step>,
  engineOptions: OpenedOptions = {},
): Promise<void> {
  const engine = await openEngine({
    workers: 1,
    ...engineOptions,
    internals: { ...engineOptions.internals, notices: made },
  });
  const home = temporaryFolder();
  let round = 0;
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 10, maxLength: 60 }),
    fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
    async (given, chances) => {
      const root = join(home, `tree${round++}`);
      const random = () => chances.next().value ?? 0;
      await takeAll({ notices, steps: given }, { engine, root, random });
    },
  );
  await fc.assert(property, { numRuns: runs * RUNS });
}
