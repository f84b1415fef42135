/** Tests that the corpus becomes git repositories with the same ids every time, and work trees equal to the folders. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  buildCorpus,
  CORPUS,
  readTree,
  repositoryNames,
  type BuiltRepository,
} from "../../scripts/build-corpus.ts";
import { languageOf } from "../../src/ingest/classification/languages.ts";
import { countMatches, decode, type CorpusFile, type Counts } from "./brute-force.ts";

interface RevisionGolden extends Counts {
  readonly repository: string;
  readonly revision: string;
  readonly query: string;
}

const target = mkdtempSync(join(tmpdir(), "corpus-"));
let built: BuiltRepository[] = [];

beforeAll(async () => {
  built = await buildCorpus(join(target, "first"));
});
afterAll(() => rmSync(target, { recursive: true, force: true }));

const git = (path: string, ...args: string[]): Buffer =>
  execFileSync("git", ["-C", path, ...args], { stdio: ["ignore", "pipe", "inherit"] });

const idsOf = ({ path, revisions }: BuiltRepository): string =>
  git(path, "rev-parse", ...revisions).toString();

test("every repository of the corpus is built", async () => {
  expect(built.map(({ name }) => name)).toEqual(await repositoryNames());
  expect(built.length).toBeGreaterThanOrEqual(12);
  const withHistory = built.filter(({ revisions }) => revisions.length > 1);
  expect(withHistory.map(({ name, revisions }) => [name, ...revisions])).toEqual([
    ["pebble", "main", "develop", "v0.1"],
    ["task-queue", "main", "develop", "v1.0.0", "v2.0.0", "v2.1.0"],
  ]);
});

test("commit ids do not depend on when, where or by whom they are built", async () => {
  process.env["GIT_AUTHOR_NAME"] = "Somebody Else";
  const again = await buildCorpus(join(target, "second"));
  delete process.env["GIT_AUTHOR_NAME"];
  expect(again.map(idsOf)).toEqual(built.map(idsOf));
});

test("the work tree of main is the folder, and nothing in it is ignored", async () => {
  for (const { name, path } of built) {
    const tracked = git(path, "ls-files", "-z").toString().split("\0").filter(Boolean);
    const folder = await readTree(join(CORPUS, name));
    expect(tracked.toSorted()).toEqual([...folder.keys()].toSorted());
    expect(git(path, "status", "--porcelain", "--ignored").toString()).toBe("");
    expect(git(path, "ls-files", "--cached", "--ignored", "--exclude-standard").toString()).toBe("");
    expect(existsSync(join(path, "README.md")), name).toBe(true);
  }
});

test("its repositories are in more than fifteen languages", async () => {
  const languages = new Set<string>();
  for (const { name } of built)
    for (const [path, { content }] of await readTree(join(CORPUS, name)))
      languages.add(languageOf(path, content));
  languages.delete(""); // unknown languages
  expect(languages.size).toBeGreaterThan(15);
});

test("a history contains renames, additions, changes and deletions", () => {
  const path = join(target, "first", "task-queue");
  const letters = git(path, "log", "--all", "--name-status", "-M", "--format=").toString();
  expect([...new Set(letters.match(/^[A-Z]/gm))].toSorted()).toEqual(["A", "D", "M", "R"]);
});

test("an existing repository is not overwritten", async () => {
  await expect(buildCorpus(join(target, "first"))).rejects.toThrow("already there");
});

const revisions = JSON.parse(
  readFileSync(join(CORPUS, "golden/revisions.json"), "utf8"),
) as RevisionGolden[];

test.each(revisions)("$repository at $revision has the golden counts of $query", (golden) => {
  const files = filesAt(golden.repository, golden.revision);
  const { totalMatchCount, fileCount } = golden;
  expect(countMatches(golden, files)).toEqual({ totalMatchCount, fileCount });
});

function filesAt(repository: string, revision: string): CorpusFile[] {
  const folder = join(target, "first", repository);
  const paths = git(folder, "ls-tree", "-r", "-z", "--name-only", revision).toString().split("\0");
  return paths.filter(Boolean).map((path) => {
    return { repository, path, text: decode(git(folder, "show", `${revision}:${path}`)) };
  });
}
