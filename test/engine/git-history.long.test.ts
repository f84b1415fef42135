/**
 * A git repository with any history, indexed at any of its states, answers as a fresh index of the last state does.
 * Histories have commits on two branches, moves, force-pushed branches and changing sets of revisions.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { commit, git as run, repository, writeFiles } from "../ingest/listing.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

const file = fc.nat({ max: 5 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ write: file, text: fc.nat({ max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ remove: file }) },
  { weight: 2, arbitrary: fc.record({ move: file, to: file }) },
  { weight: 1, arbitrary: fc.record({ branch: fc.constantFrom("main", "side") }) },
  { weight: 1, arbitrary: fc.record({ back: fc.integer({ min: 1, max: 2 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ index: fc.constantFrom(["main"], ["main", "side"], ["side", "main"]) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const pathOf = (number: number) => `${number % 2 ? "a/" : ""}f${number}.txt`;

function change(path: string, one: Step): void {
  if ("write" in one) writeFiles(path, { [pathOf(one.write)]: `word text${one.text}\n` });
  else if ("remove" in one) run(path, "rm", "-q", "-f", "--ignore-unmatch", pathOf(one.remove));
  else if ("move" in one) move(path, pathOf(one.move), pathOf(one.to));
  else if ("branch" in one) run(path, "checkout", "-q", "-B", one.branch);
  else if ("back" in one)
    run(path, "reset", "-q", "--hard", `HEAD~${Math.min(one.back, ancestors(path))}`);
}

const ancestors = (path: string) => Number(run(path, "rev-list", "--count", "HEAD")) - 1;

function move(path: string, from: string, to: string): void {
  const isThere = run(path, "ls-files", from).trim() !== "";
  if (isThere && from !== to) run(path, "mv", "-f", "-k", from, to);
}

/** Resolves to every file of every revision, with its matches. */
async function answers(engine: Engine): Promise<string[]> {
  const lines: string[] = [];
  for (const query of [
    "rev:*",
    "word rev:*",
    "text1 rev:*",
    "text2 rev:side",
    "file:a/ rev:main",
  ]) {
    const { files, stats } = await engine.search({ query, matches: 1000 });
    const found = files.map(
      ({ fileName, branches, chunks }) =>
        `${fileName.text} ${branches?.join()} ${chunks.map(({ content }) => content).join()}`,
    );
    lines.push(`${query}: ${stats.totalMatchCount}`, ...found.sort());
  }
  return lines;
}

test("answers correctly for any history of a git repository", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
      const path = repository({ one: "word one\n" });
      for (const next of ["two", "three"]) commit(path, { [next]: `word ${next}\n` });
      run(path, "branch", "-f", "side");
      const engine = await openEngine();
      let revisions = ["main"];
      const index = async (into: Engine) =>
        into.index(git(path, { name: "r", revisions }), { symbols: "skip" });
      for (const one of steps) {
        if ("index" in one) {
          revisions = [...one.index];
          await index(engine);
          continue;
        }
        change(path, one);
        commit(path);
      }
      await index(engine);
      const fresh = await openEngine();
      await index(fresh);
      const [ours, wanted] = [await answers(engine), await answers(fresh)];
      // a failing property is repeated many times, and each engine takes 256 GiB of addresses
      await Promise.all([engine.close(), fresh.close()]);
      expect(ours).toEqual(wanted);
    }),
    { numRuns: 3 * RUNS },
  );
});
