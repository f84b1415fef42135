/** Tests what a user learns about files that are not committed. */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { countUncommitted } from "../../src/git/uncommitted.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { git } from "../ingest/listing.ts";
import { quern } from "./terminal.ts";

const { signal } = new AbortController();

/** Makes a repository `shop` with three committed files. */
function shop(): string {
  const folder = join(temporaryFolder(), "shop");
  mkdirSync(join(folder, "src"), { recursive: true });
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, `src/${name}.txt`), `${name}\n`);
  writeFileSync(join(folder, ".gitignore"), "*.log\n");
  git(folder, "init", "-q");
  git(folder, "add", ".");
  git(folder, "commit", "-qm", "first");
  return folder;
}

/** Changes, deletes, stages, adds and ignores one file each. Four of them differ from the commit. */
function edit(folder: string): void {
  writeFileSync(join(folder, "src/a.txt"), "needle\n");
  rmSync(join(folder, "src/b.txt"));
  writeFileSync(join(folder, "src/c.txt"), "staged\n");
  git(folder, "add", "src/c.txt");
  writeFileSync(join(folder, "src/new.txt"), "needle\n");
  writeFileSync(join(folder, "src/new.log"), "needle\n");
}

describe("the number of files that differ from the commit", () => {
  test("is 0 in a clean work tree and in a bare repository", async () => {
    const folder = shop();
    expect(await countUncommitted(folder, signal)).toBe(0);
    const bare = join(temporaryFolder(), "shop.git");
    git(folder, "clone", "-q", "--bare", ".", bare);
    expect(await countUncommitted(bare, signal)).toBe(0);
  });

  test("includes changed, deleted, staged and new files, and not ignored ones", async () => {
    const folder = shop();
    edit(folder);
    expect(await countUncommitted(folder, signal)).toBe(4);
  });

  test.each([
    ["plain", 1],
    ["a=b", undefined],
  ])("runs no filter that the repository names %s", async (name, expected) => {
    const folder = shop();
    const ran = join(folder, ".git/ran");
    const command = `touch ${JSON.stringify(ran)}; cat`;
    git(folder, "config", `filter.${name}.clean`, command);
    git(folder, "config", `filter.${name}.required`, "true");
    writeFileSync(join(folder, ".git/info/attributes"), `*.txt filter=${name}\n`);
    writeFileSync(join(folder, "src/a.txt"), "z\n"); // of the same size, so that git compares the content
    expect(await countUncommitted(folder, signal)).toBe(expected);
    expect(existsSync(ran)).toBe(false);
  });
});

test("quern index and a search that finds nothing say how many files are not indexed", async () => {
  const folder = shop();
  const db = ["--db", join(folder, "../index")];
  expect((await quern(["index", folder, ...db])).stderr).toBe("");
  edit(folder);
  const note =
    "quern: 4 files of shop differ from its commit, which alone is indexed; quern index --worktree includes them\n";
  expect((await quern(["index", folder, ...db])).stderr).toBe(note);
  const missing = await quern(["search", "needle", ...db]);
  expect(missing.code).toBe(1);
  expect(missing.stderr.endsWith(note)).toBe(true);
  expect((await quern(["search", "a", ...db])).stderr).not.toContain(note);
  expect((await quern(["search", "needle", "--count", ...db])).stderr).toBe("");
});

test("--worktree includes them, and a run without it returns to the commit", async () => {
  const folder = shop();
  edit(folder);
  const db = ["--db", join(folder, "../index")];
  const found = async () => (await quern(["search", "needle", "-c", ...db])).stdout;
  expect(await quern(["index", folder, "--worktree", ...db])).toMatchObject({ stderr: "" });
  expect(await found()).toBe("2\n");
  await quern(["index", folder, ...db]);
  expect(await found()).toBe("0\n");
});

test.each([
  [["."], "--worktree is for git work trees"],
  [["shop", "--rev", "main"], "give one of them"],
])("--worktree with %j is refused", async (argv, message) => {
  const folder = shop();
  const [path, ...flags] = argv;
  const at = join(folder, "..", path!);
  const { code, stderr } = await quern(["index", at, "--worktree", ...flags]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
