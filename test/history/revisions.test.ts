/** Names of revisions: what each stands for, and which are not names. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { History } from "../../src/index.ts";
import { formsOf } from "../../src/history/revision.ts";
import { commit, git, repository } from "../ingest/listing.ts";
import { codeOf, openHistory } from "./opened.ts";

/** Texts that are not names. Every call rejects them. */
const MALFORMED = [
  ..." - -h --output=PWNED -O -- a\nb a\0b \u007f \ud800".split(" "),
  "x".repeat(513),
  7,
  null,
];
/** Texts that could be names, and expressions of git. No such revision exists for any caller. */
const UNKNOWN = [
  ..."nope HEAD~1 HEAD^ HEAD^{tree} @ @{upstream} @{-1} main@{1.year.ago} :/m :a.txt".split(" "),
  ..."HEAD:a.txt main..main main...main ^main refs/heads/ * abc deadbeef a/../b .git".split(" "),
  ..."x.lock $(touch\u00a0PWNED) FETCH_HEAD ORIG_HEAD refs/heads/nope v1-0-gdeadbeef".split(" "),
  "a b",
  "0".repeat(40),
  "x".repeat(512),
];

const rows = [
  ...MALFORMED.map((revision) => [revision, "INVALID_GIT_REF"] as const),
  ...UNKNOWN.map((revision) => [revision, undefined] as const),
];

const asked = async (history: History, revision: string) => ({
  commits: await codeOf(history.commits({ revision })),
  authors: await codeOf(history.authors({ revision })),
  base: await codeOf(history.diff({ base: revision, head: "HEAD" })),
  head: await codeOf(history.diff({ base: "HEAD", head: revision })),
  commit: await codeOf(history.commit(revision)),
  blame: await codeOf(history.blame({ path: "a.txt", revision })),
  read: await codeOf(history.read({ path: "a.txt", revision })),
  folders: await codeOf(history.folders({ paths: [], revision })),
  paths: await codeOf(history.paths({ revision })),
});

test("a text that is not a revision is rejected if a revision is required, and otherwise finds nothing", async () => {
  const folder = repository({ "a.txt": "1\n" });
  commit(folder, { "a.txt": "2\n" });
  const { history } = await openHistory(folder);
  const strict = Object.fromEntries(
    ["commits", "authors", "base", "head"].map((name) => [name, "INVALID_GIT_REF"]),
  );
  for (const [given, loose] of rows) {
    const others = ["commit", "blame", "read", "folders", "paths"].map((name) => [name, loose]);
    expect(await asked(history, given as string), JSON.stringify(given)).toEqual({
      ...strict,
      ...(Object.fromEntries(others) as object),
    });
  }
  expect(existsSync(join(folder, "PWNED"))).toBe(false);
});

test("names are resolved in their full forms, a branch before a tag before an id", async () => {
  const forms = ["refs/heads/abcd", "refs/tags/abcd", "refs/remotes/abcd", "abcd"];
  expect(formsOf("abcd")).toEqual(forms);
  expect(formsOf("HEAD")).toEqual(["HEAD"]);
  expect(formsOf("refs/heads/x")[0]).toBe("refs/heads/x");
  const folder = repository({ a: "1" });
  const first = git(folder, "rev-parse", "HEAD");
  git(folder, "tag", "both");
  git(folder, "tag", "-a", "-m", "annotated", "v1");
  const second = commit(folder, { a: "2" });
  git(folder, "branch", "both");
  git(folder, "branch", first.slice(0, 7), second);
  git(folder, "update-ref", "refs/heads/-dash", second);
  git(folder, "update-ref", "refs/remotes/origin/far", first);
  const { history } = await openHistory(folder);
  const hashOf = async (revision: string) => (await history.commit(revision))?.hash;
  expect(await hashOf("both")).toBe(second);
  expect(await hashOf("refs/tags/both")).toBe(first);
  expect(await hashOf("v1")).toBe(first);
  expect(await hashOf(first.slice(0, 7))).toBe(second);
  expect(await hashOf(first.slice(0, 8))).toBe(first);
  expect(await hashOf(first.slice(0, 4))).toBe(first);
  expect(await hashOf(first.slice(0, 3))).toBe(undefined);
  expect(await hashOf(first)).toBe(first);
  expect(await hashOf("origin/far")).toBe(first);
  expect(await hashOf("refs/heads/-dash")).toBe(second);
});

test("a reference whose name ends in that of another is not mistaken for it", async () => {
  const folder = repository({ a: "1" });
  const first = git(folder, "rev-parse", "HEAD");
  const second = commit(folder, { a: "2" });
  git(folder, "update-ref", "refs/heads/refs/heads/x", first);
  git(folder, "update-ref", "refs/tags/refs/tags/y", first);
  git(folder, "update-ref", "refs/remotes/feed/HEAD", first);
  git(folder, "tag", "refs/heads/z", first);
  git(folder, "branch", "z", second);
  const { history } = await openHistory(folder);
  const hashOf = async (revision: string) => (await history.commit(revision))?.hash;
  expect(await hashOf("x")).toBe(undefined);
  expect(await hashOf("refs/heads/x")).toBe(first); // that is the branch's name
  expect(await hashOf("y")).toBe(undefined);
  expect(await hashOf("feed")).toBe(undefined);
  expect(await hashOf("z")).toBe(second);
});

test("indexed files are read as they were indexed, and everything else as the clone is now", async () => {
  const folder = repository({ a: "1\n" });
  const { history } = await openHistory(folder);
  const first = git(folder, "rev-parse", "HEAD");
  const second = commit(folder, { a: "2\n", b: "new\n" });
  const textAt = async (revision?: string) =>
    (await history.read({ path: "a", ...(revision !== undefined && { revision }) }))?.content;
  expect(await textAt()).toBe("1\n");
  expect(await textAt("main")).toBe("1\n");
  expect(await textAt("HEAD")).toBe("1\n");
  expect([await textAt(first), await textAt(second)]).toEqual(["1\n", "2\n"]);
  expect((await history.paths())?.map(({ path }) => path)).toEqual(["a"]);
  expect((await history.commits()).total).toBe(2);
  git(folder, "branch", "-q", "-m", "main", "renamed");
  expect((await history.commit("main"))?.hash).toBe(first); // as it was indexed
  expect((await history.commit("renamed"))?.hash).toBe(second);
});
