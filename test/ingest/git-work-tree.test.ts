/** directory({ git: true }) lists what git tracks or would add, as it is on the disk. */

import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directory, type DirectoryOptions } from "../../src/ingest/sources/directory.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

function run(folder: string, ...args: string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  const allowed = ["-c", "protocol.file.allow=always"];
  return execFileSync("git", ["-C", folder, ...who, ...allowed, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function put(root: string, path: string, text: string): void {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
}

function repository(): string {
  const root = temporaryFolder();
  run(root, "init", "--quiet", "-b", "feature/x");
  put(root, ".gitignore", "*.log\nbuild/\n");
  put(root, "kept.log", "tracked although a rule excludes it");
  put(root, "src/a.ts", "committed");
  run(root, "add", "-A");
  run(root, "add", "-f", "kept.log");
  run(root, "commit", "--quiet", "-m", "first");
  return root;
}

async function indexed(root: string) {
  const engine = await openEngine();
  const [report] = await engine.index(directory(root, { name: "tree", git: true }));
  const { files } = await engine.search({ query: "file:.", matches: 1_000 });
  const paths = files.map(({ fileName }) => fileName.text).sort();
  return { engine, report: report!, paths };
}

const FIRST = [".gitignore", "kept.log", "src/a.ts"];

const STATES: [what: string, change: (root: string) => void, paths: string[]][] = [
  ["as committed", () => {}, FIRST],
  [
    "a new file",
    (root) => put(root, "n.ts", "new"),
    [".gitignore", "kept.log", "n.ts", "src/a.ts"],
  ],
  ["a new file that a rule excludes", (root) => put(root, "n.log", "new"), FIRST],
  ["a folder that a rule excludes", (root) => put(root, "build/x.ts", "new"), FIRST],
  [
    "a rule of the repository's own",
    (root) => {
      put(root, ".git/info/exclude", "secret.txt\n");
      put(root, "secret.txt", "new");
    },
    FIRST,
  ],
  ["a file that is gone", (root) => unlinkSync(join(root, "src/a.ts")), [".gitignore", "kept.log"]],
  [
    "a folder that leads elsewhere",
    (root) => {
      const outside = temporaryFolder();
      put(outside, "a.ts", "outside");
      rmSync(join(root, "src"), { recursive: true });
      symlinkSync(outside, join(root, "src"));
    },
    [".gitignore", "kept.log"],
  ],
  [
    "a moved file that nobody has staged",
    (root) => renameSync(join(root, "src/a.ts"), join(root, "src/b.ts")),
    [".gitignore", "kept.log", "src/b.ts"],
  ],
];

test.each(STATES)("%s", async (_, change, expected) => {
  const root = repository();
  change(root);
  const { paths, report } = await indexed(root);
  expect(paths).toEqual(expected);
  expect(report.revisions.map(({ name }) => name)).toEqual(["feature/x"]);
});

test("content comes from the disk, not from the commit, and unchanged files are not read again", async () => {
  const root = repository();
  put(root, "src/a.ts", "changed needle");
  const { engine } = await indexed(root);
  const found = await engine.search({ query: "needle rev:feature", matches: 9 });
  expect(found.files.map(({ branches }) => branches)).toEqual([["feature/x"]]);
  await new Promise((resolve) => setTimeout(resolve, 30));
  await engine.index(directory(root, { name: "tree", git: true }));
  const [again] = await engine.index(directory(root, { name: "tree", git: true }));
  expect(again).toMatchObject({ added: 0, removed: 0, unchanged: 3, bytesRead: 0 });
});

test("links and nested repositories are listed as skipped", async () => {
  const root = repository();
  const other = repository();
  run(root, "submodule", "--quiet", "add", other, "inner");
  symlinkSync("src/a.ts", join(root, "link.ts"));
  const { report, paths } = await indexed(root);
  expect(paths).toEqual([".gitignore", ".gitmodules", "kept.log", "src/a.ts"]);
  const skipped = report.skipped.map(({ path, reason }) => [path, reason]);
  expect(Object.fromEntries(skipped)).toEqual({ inner: "submodule", "link.ts": "symlink" });
});

test("the commit is the revision if HEAD is on no branch", async () => {
  const root = repository();
  const commit = run(root, "rev-parse", "HEAD").trim();
  run(root, "checkout", "--quiet", "--detach");
  const { report } = await indexed(root);
  expect(report.revisions.map(({ name }) => name)).toEqual([commit]);
});

test.each<[what: string, options: DirectoryOptions, message: RegExp]>([
  ["ignore", { git: true, ignore: [] }, /with git: true, git's own rules apply/],
  ["gitignore", { git: true, gitignore: true }, /with git: true, git's own rules apply/],
  ["no boolean", { git: 1 as unknown as boolean }, /git must be a boolean/],
])("rejected: %s", (_, options, message) => {
  expect(() => directory(".", options)).toThrow(message);
});

test("a folder that is not a repository is rejected", async () => {
  const engine = await openEngine();
  const source = directory(temporaryFolder(), { name: "tree", git: true });
  await expect(engine.index(source)).rejects.toMatchObject({ code: "NOT_A_GIT_REPOSITORY" });
});
