/** Two repositories never replace each other because they have similar names. */

import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { commit, git as run } from "../ingest/listing.ts";
import { openEngine, temporaryFolder } from "./opened.ts";

/** Makes a folder for each path, with one file that contains the path. */
function folders(...paths: string[]): string {
  const root = temporaryFolder();
  for (const path of paths) {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, path, "a.txt"), `needle ${path}`);
  }
  return root;
}

function clone(folder: string, remote?: string): string {
  mkdirSync(folder, { recursive: true });
  run(folder, "init", "-q", "-b", "main");
  if (remote !== undefined) run(folder, "remote", "add", "origin", remote);
  commit(folder, { "a.txt": "needle" });
  return folder;
}

const saysBoth = (...words: string[]) =>
  expect.objectContaining({
    code: "INVALID_REQUEST",
    message: expect.stringMatching(new RegExp(words.join(".*"))) as string,
  });

test.each<[indexed: string[], sources: string[]]>([
  [[], ["first", "acme/docs", "beta/docs"]],
  [["acme/docs"], ["first", "beta/docs"]],
])("if %j is indexed, %j are rejected before anything is read", async (indexed, paths) => {
  const root = folders("acme/docs", "beta/docs", "first");
  const engine = await openEngine();
  await engine.index(indexed.map((path) => directory(join(root, path))));
  const open = vi.fn<Source["open"]>();
  const sources = paths.map((path) => ({ ...directory(join(root, path)), open }));
  await expect(engine.index(sources)).rejects.toThrow(
    saysBoth('"docs"', "acme/docs", "beta/docs", "--name"),
  );
  expect(open).not.toHaveBeenCalled();
});

test("sources of an iterable are rejected when they are reached", async () => {
  const root = folders("acme/docs", "beta/docs");
  const engine = await openEngine();
  const sources = function* () {
    for (const path of ["acme/docs", "beta/docs"]) yield directory(join(root, path));
  };
  await expect(engine.index(sources())).rejects.toThrow(saysBoth("acme/docs", "beta/docs"));
});

test("a folder with the name of another indexed folder is rejected, and the index is unchanged", async () => {
  const root = folders("acme/docs", "beta/docs");
  const engine = await openEngine();
  await engine.index(directory(join(root, "acme/docs")));
  await expect(engine.index(directory(join(root, "beta/docs")))).rejects.toThrow(
    saysBoth("acme/docs, which is indexed", "beta/docs", "--name"),
  );
  const { stats } = await engine.search({ query: "acme/docs", matches: 0 });
  expect(stats.totalMatchCount).toBe(1);
  await engine.index(directory(join(root, "beta/docs"), { name: "beta/docs" }));
  expect((await engine.repositories()).map(({ name }) => name)).toEqual(["beta/docs", "docs"]);
});

test("the same folder is the same repository: twice in a run, by another path, or as .git", async () => {
  const root = temporaryFolder();
  const shop = clone(join(root, "shop"));
  const engine = await openEngine();
  await engine.index([git(shop), git(shop)]);
  await engine.index(git(join(shop, ".git")));
  await engine.index(directory(shop));
  const [repository, ...others] = await engine.repositories();
  expect([repository?.origin, others]).toEqual([{ folder: shop }, []]);
});

test.each<[string, string | undefined, string | undefined, "same" | "refused"]>([
  ["one remote", "git@h.org:acme/shop.git", "https://h.org/acme/shop", "same"],
  ["two remotes", "https://h.org/acme/shop", "https://h.org/beta/shop", "refused"],
  ["no remotes", undefined, undefined, "refused"],
  ["one with a remote", "https://h.org/acme/shop", undefined, "refused"],
])("two clones with %s", async (_, first, second, outcome) => {
  const root = temporaryFolder();
  const engine = await openEngine();
  await engine.index(git(clone(join(root, "a/shop"), first)));
  const other = git(clone(join(root, "b/shop"), second));
  if (outcome === "refused")
    await expect(engine.index(other)).rejects.toThrow(saysBoth("a/shop", "b/shop"));
  else expect(await engine.index(other)).toMatchObject([{ added: 0, unchanged: 1 }]);
});

test.each<[string, string | undefined, "same" | "refused"]>([
  ["as it was", "https://h.org/acme/shop", "same"],
  ["of another remote", "https://h.org/beta/shop", "refused"],
])("a repository that has moved, %s", async (_, remote, outcome) => {
  const root = temporaryFolder();
  const engine = await openEngine();
  const before = clone(join(root, "a/shop"), "https://h.org/acme/shop");
  await engine.index(git(before));
  const after = join(root, "b/shop");
  mkdirSync(dirname(after));
  renameSync(before, after);
  run(after, "remote", "set-url", "origin", remote!);
  const indexing = engine.index(git(after));
  if (outcome === "refused") await expect(indexing).rejects.toThrow(saysBoth("a/shop", "b/shop"));
  else expect(await indexing).toMatchObject([{ added: 0, removed: 0 }]);
});

test("a folder that is unpacked in another place each time stays the same repository if the old folder is gone", async () => {
  const root = folders("1/wiki");
  const engine = await openEngine();
  await engine.index(directory(join(root, "1/wiki")));
  cpSync(join(root, "1"), join(root, "2"), { recursive: true });
  rmSync(join(root, "1"), { recursive: true });
  expect(await engine.index(directory(join(root, "2/wiki")))).toMatchObject([{ removed: 0 }]);
  expect((await engine.repositories())[0]?.origin?.folder).toBe(join(root, "2/wiki"));
});

test("documents have no place, so their name alone identifies them", async () => {
  const root = folders("wiki");
  const engine = await openEngine();
  const files = [{ path: "a.txt", content: "needle" }];
  await engine.index(directory(join(root, "wiki")));
  await engine.index(documents({ name: "wiki", files }));
  expect((await engine.repositories()).map(({ origin }) => origin)).toEqual([undefined]);
  await engine.index(directory(join(root, "wiki")));
});

test("a repository stores its folder, its remote and the requested revisions", async () => {
  const shop = clone(join(temporaryFolder(), "shop"), "https://ada:secret@h.org/acme/shop.git");
  const engine = await openEngine();
  await engine.index(git(shop, { revisions: ["main", "refs/tags/*"] }));
  expect((await engine.repositories())[0]?.origin).toEqual({
    folder: shop,
    remote: "h.org/acme/shop",
    revisions: ["main", "refs/tags/*"],
  });
});
