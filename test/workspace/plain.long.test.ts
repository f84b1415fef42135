/**
 * If many files change, they are laid over the index without posting lists and symbols. The limits here are so low that
 * one changed file is too many for posting lists, and a few are too many to be laid over the index.
 */

import { expect, test } from "vitest";
import { EVENTS, FILES, follow, holding, put } from "./followed-folder.ts";
import { followRandomChanges, ROWS } from "./random-changes.ts";

const SMALL = {
  internals: {
    workspaces: {
      withSymbols: { files: 0, bytes: 0 },
      overlaid: { files: 3, bytes: 1_000 },
    },
  },
};

test.each(ROWS)(
  "answers are right during random changes (notices: %s; changes of %s)",
  async (notices, _, runs, step) => followRandomChanges(notices, Math.ceil(runs / 3), step, SMALL),
);

test.each(EVENTS)("the next answer is right if %s", async (_, happens, expected) => {
  const { root, tree } = await follow(FILES, {}, SMALL);
  happens(root);
  expect(await holding(tree, "needle")).toEqual(expected);
  await tree.settled();
  expect(await holding(tree, "needle")).toEqual(expected);
});

test("definitions of files are known once the index has caught up, and those of unsaved text at once", async () => {
  const { root, tree } = await follow(FILES, {}, SMALL);
  await tree.settled();
  put(root, "new.py", "def needle(): pass\n");
  tree.set("own.py", "def needle(): pass\n");
  const { files, seen, isSearchExhaustive } = await tree.search({
    query: "sym:needle",
    matches: 9,
  });
  expect(files.map(({ fileName }) => fileName.text)).toEqual(["own.py"]);
  expect([seen.overlaid, isSearchExhaustive]).toEqual([2, false]);
  await tree.settled();
  expect(await holding(tree, "sym:needle")).toEqual(["new.py", "own.py"]);
});

test("if too much has changed, a search waits for the index", async () => {
  let runs = 0;
  const { root, tree } = await follow(FILES, { onIndexed: () => void runs++ }, SMALL);
  await tree.settled();
  const before = runs;
  for (let i = 0; i < 9; i++) put(root, `${i}.txt`, "needle");
  const { stats } = await tree.search({ query: "needle", matches: 0 });
  expect(stats.fileCount).toBe(11);
  // files that were written just now are still laid over the index, because they may change unseen
  expect(runs).toBeGreaterThan(before);
});
