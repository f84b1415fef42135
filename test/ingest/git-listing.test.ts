/** Compares the listings of git() with git's own, for random trees and large ones. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { git } from "../../src/ingest/sources/git.ts";
import type { Entry } from "../../src/ingest/sources/source.ts";
import { git as run, read, repository } from "./listing.ts";
import { RUNS } from "../runs.ts";

/** Commits a tree with these files, all of one of two contents, on a branch of that name. */
function commitTree(folder: string, branch: string, files: ReadonlyMap<string, string>): string {
  const lines = [...files].map(([path, id]) => `100644 ${id}\t${path}\0`);
  writeFileSync(join(folder, ".git/lines"), lines.join(""));
  run(folder, "read-tree", "--empty");
  run(folder, "-c", "alias.fill=!git update-index -z --index-info < .git/lines", "fill");
  const id = run(folder, "commit-tree", "-m", branch, run(folder, "write-tree"));
  run(folder, "branch", "-f", branch, id);
  return id;
}

/** Returns the content of the index after these entries: `path id` for each file of each revision. */
function apply(states: Map<string, string>[], entries: readonly Entry[]): string[][] {
  for (const entry of entries) {
    for (const revision of entry.revisions) {
      const state = states[revision]!;
      if (entry.kind === "removed") expect(state.delete(entry.path)).toBe(true);
      else if (entry.kind === "file") state.set(entry.path, entry.version!);
    }
  }
  return states.map((state) => [...state].map(([path, id]) => `${path} ${id}`).toSorted());
}

const show = (files: ReadonlyMap<string, string>) =>
  [...files].map(([path, id]) => `${path} ${id}`).toSorted();

test("random trees: full listings are merged, and changes lead from one listing to the next", async () => {
  const folder = repository({ one: "1", two: "2" });
  const ids = [run(folder, "rev-parse", "HEAD:one"), run(folder, "rev-parse", "HEAD:two")];
  const path = fc.constantFrom(
    "a",
    "a.b",
    "b/a",
    "b/a.c",
    "b-",
    "c/d/e",
    "c/d.e",
    "c0",
    "é",
    "😀/x",
    "\ufb01",
  );
  const tree = fc.uniqueArray(fc.tuple(path, fc.constantFrom(...ids)), {
    selector: ([name]) => name,
    minLength: 1,
  });
  const trees = fc.array(tree, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(trees, trees, async (before, after) => {
      const commits = before.map((files, i) => ({
        name: `r${i}`,
        commit: commitTree(folder, `r${i}`, new Map(files)),
      }));
      const first = await read(git(folder, { revisions: commits.map(({ name }) => name) }));
      const states = before.map(() => new Map<string, string>());
      expect(apply(states, first.entries)).toEqual(before.map((files) => show(new Map(files))));
      const together = first.entries.map(
        (entry) => entry.kind === "file" && `${entry.path} ${entry.version}`,
      );
      expect(new Set(together).size).toBe(together.length);

      after.forEach((files, i) => commitTree(folder, `r${i}`, new Map(files)));
      const names = after.map((_, i) => `r${i}`);
      const next = await read(git(folder, { revisions: names }), {
        indexed: { revisions: commits },
      });
      const bases = next.revisions.map(({ base }) => new Map(states[Number(base!.slice(1))]));
      expect(apply(bases, next.entries)).toEqual(after.map((files) => show(new Map(files))));
    }),
    { numRuns: 8 * RUNS },
  );
});

test("a large tree, whose listing arrives in many pieces", async () => {
  const folder = repository({ a: "1" });
  const id = run(folder, "rev-parse", "HEAD:a");
  const paths = Array.from({ length: 4000 }, (_, i) => `${"long-".repeat(i % 40)}${i % 7}/${i}`);
  const commit = commitTree(folder, "large", new Map(paths.map((path) => [path, id])));
  const options = { revisions: ["large"] };
  const full = await read(git(folder, options));
  expect(full.entries.map((entry) => entry.path).toSorted()).toEqual(paths.toSorted());
  const indexed = { revisions: [{ name: "main", commit: run(folder, "rev-parse", "main") }] };
  const changes = await read(git(folder, options), { indexed });
  expect(changes.revisions).toMatchObject([{ name: "large", commit, base: "main" }]);
  const changed = [...paths, "a"].toSorted();
  expect(changes.entries.map((entry) => entry.path).toSorted()).toEqual(changed);
});
