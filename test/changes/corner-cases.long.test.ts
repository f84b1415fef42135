/** Histories with everything that git's diff treats in a way of its own. Each is compared with git log as a whole. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../../src/ingest/sources/git.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { makeRepository, type MadeCommit } from "../history/generated.ts";
import { ALL, expectAllEqual, expectEqual, indexed, shownLines } from "./compared.ts";

const lines = (from: number, to: number, word = "line"): string =>
  Array.from({ length: to - from }, (_, i) => `${word} ${from + i}\n`).join("");

type Files = readonly MadeCommit["changes"][number][];

/** Returns a commit for each list of changes, all on one branch. */
const commits = (...all: Files[]): MadeCommit[] =>
  all.map((changes, i) => ({ branch: "main", message: `commit ${i}\n`, changes }));

const file = (path: string | Buffer, content: string | Buffer, mode = "100644") => ({
  path,
  content,
  mode,
});
const gone = (path: string) => ({ path, removed: true }) as const;

const PATCH = `diff --git a/x b/x
--- a/x
+++ b/x
@@ -1,2 +1,2 @@
-old
+new
 same
`;

const CASES: Readonly<Record<string, MadeCommit[]>> = {
  "a moved block": commits(
    [file("a.txt", lines(0, 40))],
    [file("a.txt", lines(0, 5) + lines(15, 40) + lines(5, 15))],
  ),
  "an exact copy": commits([file("a.txt", lines(0, 20))], [file("b.txt", lines(0, 20))]),
  "swapped names": commits(
    [file("a.txt", lines(0, 20, "one")), file("b.txt", lines(0, 20, "two"))],
    [file("a.txt", lines(0, 20, "two")), file("b.txt", lines(0, 20, "one"))],
  ),
  "a rename with edits": commits(
    [file("a.txt", lines(0, 40))],
    [gone("a.txt"), file("b.txt", `${lines(0, 30)}new\n${lines(31, 40)}`)],
  ),
  "one file becomes two": commits(
    [file("a.txt", lines(0, 40))],
    [gone("a.txt"), file("b.txt", lines(0, 38)), file("c.txt", lines(2, 40))],
  ),
  "a file becomes a link, and a file again": commits(
    [file("a", "target\nmore\n")],
    [file("a", "target", "120000")],
    [file("a", "target\nmore\n")],
  ),
  "a file becomes a submodule, and a file again": commits(
    [file("a", "target\n")],
    [{ path: "a", commit: "1234567890123456789012345678901234567890" }],
    [file("a", "target\n")],
  ),
  "a file becomes a folder": commits(
    [file("a", lines(0, 20))],
    [gone("a"), file("a/a", lines(0, 20))],
    [gone("a/a"), file("a", lines(0, 20))],
  ),
  "only the mode": commits([file("a.sh", "x\n")], [file("a.sh", "x\n", "100755")]),
  "mode and content": commits([file("a.sh", "x\n")], [file("a.sh", "y\n", "100755")]),
  links: commits([file("l", "one", "120000")], [file("l", "two\nlines", "120000")], [gone("l")]),
  "empty files": commits([file("a", "")], [file("a", "x")], [file("a", "")], [gone("a")]),
  "an octopus merge": [
    ...commits([file("a", "a\n")]),
    ...[1, 2, 3].map((n) => ({
      branch: `b${n}`,
      parents: [1],
      message: `b${n}`,
      changes: [file(`f${n}`, `${n}\n`)],
    })),
    {
      branch: "main",
      parents: [1, 2, 3, 4],
      message: "octopus",
      changes: [file("f1", "1\n"), file("f2", "2\n"), file("f3", "3\n"), file("born", "here\n")],
    },
    { branch: "main", message: "after", changes: [file("born", "here\nand there\n")] },
  ],
  "several roots": [
    ...commits([file("a", "a\n")]),
    { branch: "other", parents: [], message: "root", changes: [file("a", "b\n")] },
    { branch: "third", parents: [], message: "root", changes: [file("a", "a\n")] },
  ],
  "empty messages and commits": [
    { branch: "main", message: "", changes: [file("a", "a\n")] },
    { branch: "main", message: "", changes: [] },
    { branch: "main", message: "\n\n", changes: [] },
    { branch: "main", message: "  indented\n\n\nbody", changes: [gone("a")] },
  ],
  "dates that are equal, go back, or come after 2038": [
    { branch: "main", message: "now", date: "1700000000 +0000", changes: [file("a", "1\n")] },
    { branch: "main", message: "same", date: "1700000000 +0000", changes: [file("a", "2\n")] },
    { branch: "main", message: "back", date: "1000 +0000", changes: [file("a", "3\n")] },
    { branch: "main", message: "zero", date: "0 +0000", changes: [file("a", "4\n")] },
    { branch: "main", message: "far", date: "4102444800 +0000", changes: [file("a", "5\n")] },
  ],
  "line ends": commits(
    [file("a", "one\r\ntwo\r\n")],
    [file("a", "one\ntwo\r\n")],
    [file("a", "one\rtwo\r\n\r\r\n")],
  ),
  "no newline at the end": commits(
    [file("a", "one\ntwo")],
    [file("a", "one\ntwo\n")],
    [file("a", "one\ntwo\nthree")],
    [file("a", "\n")],
    [file("a", "\\ No newline at end of file")],
    [file("a", "\\ No newline at end of file\n-- x\n++ y\n")],
  ),
  encodings: [
    {
      branch: "main",
      message: Buffer.from("gr\xfc\xdfe\n", "latin1"),
      encoding: "ISO-8859-1",
      changes: [file(Buffer.from("gr\xfc\xdfe.txt", "latin1"), Buffer.from("\xfc\n", "latin1"))],
    },
    {
      branch: "main",
      message: Buffer.from("\x83\x65\x83\x58\x83\x67\n", "latin1"),
      encoding: "Shift_JIS",
      changes: [file("größe.txt", "ß\n")],
    },
  ],
  "odd paths": commits(
    [
      file("new\nline", "1\n"),
      file("tab\there", "2\n"),
      file('qu"ote', "3\n"),
      file("back\\slash", "4\n"),
      file("a b/c d", "5\n"),
      file(" b/x b/x", "6\n"),
      file("--option", "7\n"),
      file(":(top)x", "8\n"),
    ],
    [file("new\nline", "one\n"), gone("tab\there"), file(" b/x b/x", "six\n")],
  ),
  "a patch inside a file": commits(
    [file("x.patch", PATCH)],
    [file("x.patch", `${PATCH}${PATCH}`)],
    [file("x.patch", PATCH.replaceAll("+new\n", "").replaceAll("2 @@", "1 @@"))],
    [file("x.patch", `${"0".repeat(40)}\0`)],
  ),
  NUL: commits(
    [file("a", "text\n"), file("late", `${"x\n".repeat(4000)}\0\n`)],
    [file("a", "te\0xt\n"), file("late", `${"y\n".repeat(4000)}\0\n`)],
    [file("a", "text again\n")],
  ),
  "files that cross the limit of size": commits(
    [file("a", lines(0, 10))],
    [file("a", "x\n".repeat(2 ** 20 + 1))],
    [file("a", lines(0, 11))],
    [gone("a")],
  ),
  "a long line": commits([file("a", `${"ab".repeat(900)}\n`)], [file("a", "short\n")]),
  "a line that is there often": commits(
    [file("a", "same\n".repeat(300))],
    [file("a", "same\n".repeat(40))],
    [file("a", `${"same\nother\n".repeat(70)}`)],
  ),
};

test.each(Object.entries(CASES))("%s", async (_, history) => {
  await expectAllEqual(makeRepository(history, temporaryFolder()));
});

const run = (folder: string, ...args: string[]): string =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();

test("dates before 1970", async () => {
  const folder = makeRepository(CASES["an exact copy"]!, temporaryFolder());
  const tree = run(folder, "rev-parse", "main^{tree}");
  const parent = run(folder, "rev-parse", "main");
  const content = `tree ${tree}\nparent ${parent}\nauthor A <a@x> -100000 +0000\ncommitter A <a@x> -86400 +0000\n\nold\n`;
  const input = { input: content, encoding: "utf8" } as const;
  const args = ["-C", folder, "hash-object", "-w", "--literally", "-t", "commit", "--stdin"];
  const id = execFileSync("git", args, input).trim();
  run(folder, "update-ref", "refs/heads/main", id);
  const engine = await indexed(folder);
  const { files } = await engine.search({ query: "type:commit before:1970-01-01", matches: 9 });
  expect(files.map(({ commit }) => [commit!.hash, commit!.date])).toEqual([
    [id, "1969-12-31T00:00:00.000Z"],
  ]);
});

test("ids of SHA-256", async () => {
  const folder = temporaryFolder();
  run(folder, "init", "-q", "-b", "main", "--object-format=sha256");
  for (const content of ["one\n", "one\ntwo\n"]) {
    writeFileSync(join(folder, "a.txt"), content);
    run(folder, "add", "-A");
    run(folder, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-q", "-m", content);
  }
  await expectAllEqual(join(folder, ".git"));
});

test("grafts and replaced objects are ignored", async () => {
  const folder = makeRepository(CASES["line ends"]!, temporaryFolder());
  const [newest, , oldest] = run(folder, "rev-list", "main").split("\n") as [
    string,
    string,
    string,
  ];
  run(folder, "replace", newest, oldest);
  mkdirSync(join(folder, "info"), { recursive: true });
  writeFileSync(join(folder, "info", "grafts"), `${newest} ${oldest}\n`);
  await expectAllEqual(folder);
});

test("configuration and attributes do not change differences", async () => {
  const base = temporaryFolder();
  const attributes = "*.txt diff=shout -text\n*.c binary\n*.h -diff\n";
  const content = lines(0, 30);
  const history = commits(
    [file(".gitattributes", attributes), file("a.txt", content), file("b.c", content)],
    [file("a.txt", `  ${content}`), file("b.c", `${content}more\n`), file("c.h", content)],
    [gone("a.txt"), file("d.txt", content)],
  );
  const folder = makeRepository(history, base);
  for (const [name, value] of [
    ["diff.shout.textconv", "tr a-z A-Z <"],
    ["diff.shout.xfuncname", "line"],
    ["diff.algorithm", "patience"],
    ["diff.context", "0"],
    ["diff.interHunkContext", "50"],
    ["diff.renames", "copies"],
    ["diff.noprefix", "true"],
    ["diff.mnemonicPrefix", "true"],
    ["diff.external", "false"],
    ["diff.ignoreSubmodules", "all"],
    ["diff.indentHeuristic", "false"],
    ["diff.suppressBlankEmpty", "true"],
    ["diff.relative", "true"],
    ["core.quotePath", "false"],
    ["color.ui", "always"],
    ["log.showSignature", "true"],
    ["i18n.logOutputEncoding", "UTF-16"],
  ])
    run(folder, "config", name!, value!);
  const engine = await indexed(folder);
  for (const name of run(folder, "config", "--local", "--list", "--name-only").split("\n"))
    if (!name.startsWith("core.repo") && name !== "core.bare")
      run(folder, "config", "--unset-all", name);
  await expectEqual(engine, folder);
});

test("commits that git has collected are found until their revision goes", async () => {
  const folder = makeRepository(CASES["line ends"]!, temporaryFolder());
  run(folder, "branch", "gone", "main~1");
  run(folder, "update-ref", "refs/heads/other", "main~2");
  const engine = await indexed(folder);
  const source = git(folder, { name: "made", history: true, revisions: ["other"] });
  run(folder, "symbolic-ref", "HEAD", "refs/heads/other");
  for (const branch of ["main", "gone"]) run(folder, "branch", "-q", "-D", branch);
  run(folder, "gc", "-q", "--prune=now");
  const before = await engine.search({ query: "type:commit rev:*", matches: ALL });
  expect(before.files).toHaveLength(3);
  await engine.index(source, { symbols: "skip", words: "skip" });
  await expectEqual(engine, folder);
});

test("commits whose blobs are missing have no lines, and all others have", async () => {
  const folder = makeRepository(
    [
      ...commits([file("a.txt", "one\n")], [file("big.txt", "big\n"), file("b.txt", "two\n")]),
      { branch: "side", parents: [1], message: "m", changes: [file("c.txt", "two\n two\n")] },
      { branch: "main", parents: [2, 3], message: "m", changes: [] },
      ...commits([gone("big.txt"), file("b.txt", "four\n")], [file("a.txt", "two\n")]),
    ],
    temporaryFolder(),
  );
  const [head, removing, , side, adding, root] = run(
    folder,
    "rev-list",
    "--date-order",
    "main",
  ).split("\n");
  const blob = run(folder, "rev-parse", `${adding}:big.txt`);
  rmSync(join(folder, "objects", blob.slice(0, 2), blob.slice(2)));
  const engine = await openEngine();
  const [report] = await engine.index(git(folder, { name: "made", history: true }));
  expect(report!.history).toEqual({ commits: 6, withoutLines: [removing, adding] });
  const shown = async (query: string): Promise<unknown[]> => {
    const { files } = await engine.search({ query, isRegexEnabled: true, matches: ALL });
    return files.map((one) => [one.commit!.hash, one.fileName.text, shownLines(one)]);
  };
  expect(await shown("type:diff ^")).toEqual([
    [head, "a.txt", ["removed 1: one", "added 1: two"]],
    [side, "c.txt", ["added 1: two", "added 2:  two"]],
    [root, "a.txt", ["added 1: one"]],
  ]);
  expect(await shown("type:diff file:b.*.txt")).toEqual([
    [removing, "b.txt", []],
    [removing, "big.txt", []],
    [adding, "b.txt", []],
    [adding, "big.txt", []],
  ]);
});
