/** Tests the names that `quern index` gives to repositories, and the revisions that it keeps. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Repository } from "../../src/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { commit, git as run } from "../ingest/listing.ts";
import { quern } from "./terminal.ts";

/** Makes a folder of folders, some of them repositories, and a command on an index there. */
function world(paths: Record<string, "folder" | "repository" | `https://${string}`>) {
  const root = temporaryFolder();
  for (const [path, kind] of Object.entries(paths)) {
    const folder = join(root, path);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "a.txt"), "needle\n");
    if (kind === "folder") continue;
    run(folder, "init", "-q", "-b", "main");
    if (kind !== "repository") run(folder, "remote", "add", "origin", kind);
    commit(folder);
  }
  const db = ["--db", join(root, "index")];
  const index = (...argv: string[]) =>
    quern(["index", ...argv.map((word) => (word in paths ? join(root, word) : word)), ...db]);
  const repositories = async () =>
    JSON.parse((await quern(["repos", "--json", ...db])).stdout) as Repository[];
  return {
    root,
    index,
    names: async () => (await repositories()).map(({ name }) => name),
    repositories,
  };
}

test("a repository is named after its remote, and a folder after itself", async () => {
  const { index, names } = world({
    "a/docs": "https://ada:secret@github.com/acme/docs.git",
    "b/docs": "https://github.com/beta/docs",
    notes: "folder",
    plain: "repository",
  });
  expect(await index("a/docs", "b/docs", "notes", "plain")).toMatchObject({ code: 0 });
  expect(await names()).toEqual(["github.com/acme/docs", "github.com/beta/docs", "notes", "plain"]);
});

test("the error for two sources with one name says both paths and what to do", async () => {
  const { index, root } = world({ "acme/docs": "folder", "beta/docs": "folder" });
  const ran = await index("acme/docs", "beta/docs");
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  for (const words of ['"docs"', join(root, "acme/docs"), join(root, "beta/docs"), "--name"])
    expect(ran.stderr).toContain(words);
});

test.each<[template: string, names: string[]]>([
  ["team/{folder}", ["team/docs", "team/notes"]],
  ["{parent}-{folder}", ["acme-docs", "acme-notes"]],
  ["{remote}", ["github.com/acme/docs", "notes"]],
])("--name %j names repositories by its template", async (template, expected) => {
  const { index, names } = world({
    "acme/docs": "https://github.com/acme/docs",
    "acme/notes": "folder",
  });
  expect(await index("acme/docs", "acme/notes", "--name", template)).toMatchObject({ code: 0 });
  expect((await names()).toSorted()).toEqual(expected);
});

test.each([
  ["fixed", /gives 2 paths the same name; use a template: --name 'team\/\{folder\}'/],
  ["{base}", /\{base\} is unknown; use \{folder\}, \{parent\} or \{remote\}/],
])("--name %j for two paths is rejected", async (template, says) => {
  const { index } = world({ a: "folder", b: "folder" });
  const { code, stderr } = await index("a", "b", "--name", template);
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
});

test("a folder keeps its name until it gets another one", async () => {
  const { index, names, root } = world({ shop: "repository" });
  await index("shop", "--name", "the shop");
  run(join(root, "shop"), "remote", "add", "origin", "https://github.com/acme/shop");
  await index("shop");
  expect(await names()).toEqual(["the shop"]);
});

test("a run without --rev keeps the requested revisions", async () => {
  const { index, repositories, root } = world({ shop: "repository" });
  const shop = join(root, "shop");
  const revisions = async () =>
    (await repositories()).flatMap((one) => one.revisions.map(({ name }) => name));
  for (const name of ["release-1", "topic"]) run(shop, "branch", name);
  run(shop, "tag", "v1");

  await index("shop", "--rev", "main", "--rev", "release-*");
  expect(await revisions()).toEqual(["main", "release-1"]);
  run(shop, "branch", "release-2");
  await index("shop");
  expect(await revisions()).toEqual(["main", "release-2", "release-1"]);
  await index("shop", "--all-branches");
  expect(await revisions()).toEqual(["main", "topic", "release-2", "release-1"]);
  await index("shop", "--all-tags");
  expect(await revisions()).toEqual(["main", "v1"]);
  await index("shop", "--rev", "topic");
  expect(await revisions()).toEqual(["topic"]);
});

test("options for revisions are rejected for folders", async () => {
  const { index } = world({ notes: "folder" });
  for (const flags of [["--rev", "x"], ["--all-branches"], ["--all-tags"]])
    expect(await index("notes", ...flags)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("are for git repositories") as string,
    });
});
