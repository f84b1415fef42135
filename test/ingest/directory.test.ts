import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { directory, type DirectoryOptions } from "../../src/ingest/sources/directory.ts";
import { versionOf } from "../../src/ingest/sources/walk.ts";
import { git, read, readLines, tempFolder, writeFiles } from "./listing.ts";

const isWindows = process.platform === "win32";
const isRoot = process.getuid?.() === 0;
const paths = async (folder: string, options?: DirectoryOptions) =>
  (await read(directory(folder, options))).entries.map((entry) => entry.path);

test("lists files with their content, in the order of their paths' bytes", async () => {
  const folder = tempFolder({
    "b/x": "1",
    "b.c": "2",
    b0: "3",
    é: "4",
    "z/y/x": "5",
    ".github/a": "6",
  });
  expect(await readLines(directory(folder))).toEqual([
    '.github/a @0 "6"',
    'b.c @0 "2"',
    'b/x @0 "1"',
    'b0 @0 "3"',
    'z/y/x @0 "5"',
    'é @0 "4"',
  ]);
  expect((await read(directory(folder))).revisions).toEqual([{ name: "HEAD" }]);
});

test(".git is skipped everywhere, both as a folder and as a file", async () => {
  const folder = tempFolder({
    ".git/config": "",
    "sub/.git": "gitdir: x",
    "sub/a": "",
    "x.git/a": "",
  });
  expect(await paths(folder)).toEqual(["sub/a", "x.git/a"]);
});

test("files larger than the limit are listed as too-large", async () => {
  const folder = tempFolder({ a: "x".repeat(11), b: "x".repeat(10) });
  expect(await readLines(directory(folder), { maxFileSize: 10 })).toEqual([
    "a @0 too-large",
    'b @0 "xxxxxxxxxx"',
  ]);
});

type RuleCase = [string, Record<string, string>, DirectoryOptions, string[]];
const RULE_CASES: RuleCase[] = [
  ["none", { a: "", "b/c": "" }, {}, ["a", "b/c"]],
  [
    "a rule and its negation",
    { ".gitignore": "*.o\n!keep.o\n", "a.o": "", "keep.o": "" },
    {},
    [".gitignore", "keep.o"],
  ],
  [
    "a folder only",
    { ".gitignore": "out/", "out/a": "", "x/out": "" },
    {},
    [".gitignore", "x/out"],
  ],
  [
    "nested overrules",
    { ".gitignore": "*.o", "x/.gitignore": "!a.o", "x/a.o": "", "a.o": "" },
    {},
    [".gitignore", "x/.gitignore", "x/a.o"],
  ],
  [
    "anchored to its own folder",
    { "x/.gitignore": "/a", a: "", "x/a": "", "x/y/a": "" },
    {},
    ["a", "x/.gitignore", "x/y/a"],
  ],
  [
    "nothing comes back below an ignored folder",
    { ".gitignore": "out\n!out/keep", "out/keep": "" },
    {},
    [".gitignore"],
  ],
  [
    ".ignore overrules .gitignore",
    { ".gitignore": "*.o", ".ignore": "!a.o", "a.o": "", "b.o": "" },
    {},
    [".gitignore", ".ignore", "a.o"],
  ],
  [
    "a BOM, CRLF and comments",
    { ".gitignore": "\ufeff# c\r\na\r\n", a: "", b: "" },
    {},
    [".gitignore", "b"],
  ],
  [
    "switched off",
    { ".gitignore": "a", ".ignore": "b", a: "", b: "" },
    { gitignore: false },
    [".gitignore", ".ignore", "a", "b"],
  ],
  ["the caller's", { a: "", "x/a": "", b: "" }, { ignore: ["/a"] }, ["b", "x/a"]],
  [
    "the caller's, with files off",
    { ".gitignore": "b", a: "", b: "" },
    { ignore: ["a"], gitignore: false },
    [".gitignore", "b"],
  ],
  [
    "the caller's bring back",
    { ".gitignore": "a", a: "" },
    { ignore: ["!a"] },
    [".gitignore", "a"],
  ],
  [
    "what one file brings back, and what is in it",
    { ".gitignore": "a/b", "a/.gitignore": "!/b", "a/b/c": "", "a/b/d/e": "" },
    {},
    [".gitignore", "a/.gitignore", "a/b/c", "a/b/d/e"],
  ],
  [
    "a folder of odd characters that the caller brings back",
    { ".gitignore": "x*", "x [a]?\\!/y": "" },
    { ignore: ["!x*"] },
    [".gitignore", "x [a]?\\!/y"],
  ],
  ["rules of the folder above do not count", { a: "" }, {}, ["a"]],
];

test.each(RULE_CASES)("%s", async (_, files, options, want) => {
  const above = tempFolder({ ".gitignore": "*" });
  const folder = join(above, "r");
  mkdirSync(folder);
  writeFiles(folder, files);
  expect(await paths(folder, options)).toEqual(want);
});

const name = fc.constantFrom("a", "b", "ab", "a.o", "b.o", "x");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const glob = fc.constantFrom("a", "*.o", "*", "a*", "?", "**", "[ab]", "x", "b.o");
const rule = fc
  .tuple(
    fc.constantFrom("", "!", "/", "!/"),
    fc.array(glob, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "/"),
  )
  .map(([before, parts, after]) => before + parts.join("/") + after);
const rules = fc.array(rule, { maxLength: 4 }).map((lines) => lines.join("\n"));
const folders = fc.uniqueArray(fc.constantFrom("", "a/", "b/", "a/b/", "x/"), {
  minLength: 1,
  maxLength: 3,
});

test("ignores the same files as git, for random rules", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, { minLength: 3, maxLength: 12 }),
      folders,
      fc.array(rules, { minLength: 3, maxLength: 3 }),
      async (names, where, texts) => {
        const folder = tempFolder();
        git(folder, "init", "-q");
        for (const file of names) tryWrite(folder, file, "");
        where.forEach((at, i) => tryWrite(folder, `${at}.gitignore`, texts[i] ?? ""));
        const listed = git(folder, "ls-files", "-z", "--others", "--exclude-standard").split("\0");
        expect(await paths(folder)).toEqual(listed.filter((file) => file !== "").toSorted());
      },
    ),
    { numRuns: Number(process.env["QUERN_IGNORE_RUNS"] ?? 20) },
  );
});

// a name can be a folder for one path and a file for another; the first is used
function tryWrite(folder: string, path: string, content: string): void {
  try {
    writeFiles(folder, { [path]: content });
  } catch {
    return;
  }
}

test.skipIf(isWindows)(
  "symlinks are listed and never followed, out of the folder least of all",
  async () => {
    const outside = tempFolder({ secret: "s" });
    const folder = tempFolder({ "a/b": "1" });
    symlinkSync(join(outside, "secret"), join(folder, "out"));
    symlinkSync(outside, join(folder, "outside"));
    symlinkSync("..", join(folder, "a/up"));
    symlinkSync("nowhere", join(folder, "dangling"));
    expect(await readLines(directory(folder))).toEqual([
      'a/b @0 "1"',
      "a/up @0 symlink",
      "dangling @0 symlink",
      "out @0 symlink",
      "outside @0 symlink",
    ]);
  },
);

test.skipIf(isWindows)("a symlink in place of .gitignore is not followed", async () => {
  const outside = tempFolder({ rules: "a" });
  const folder = tempFolder({ a: "1" });
  symlinkSync(join(outside, "rules"), join(folder, ".gitignore"));
  expect(await paths(folder)).toEqual([".gitignore", "a"]);
});

test.skipIf(isWindows)("the folder itself may be a symlink", async () => {
  const folder = tempFolder({ a: "1" });
  const link = join(tempFolder(), "link");
  symlinkSync(folder, link);
  expect(await readLines(directory(link))).toEqual(['a @0 "1"']);
});

test.skipIf(isWindows)("a fifo is unreadable", async () => {
  const folder = tempFolder();
  execFileSync("mkfifo", [join(folder, "pipe")]);
  expect(await readLines(directory(folder))).toEqual(["pipe @0 unreadable"]);
});

test.skipIf(isWindows || process.platform === "darwin")(
  "names that are not UTF-8 are listed",
  async () => {
    const folder = tempFolder({ "really\ufffd": "1" });
    const raw = (...bytes: number[]) =>
      Buffer.concat([Buffer.from(`${folder}/b`), Buffer.from(bytes)]);
    writeFileSync(raw(0xff), "");
    writeFileSync(raw(0xfe), "");
    mkdirSync(raw(0xe9, 0x78));
    expect(await readLines(directory(folder))).toEqual([
      "b\ufffd @0 invalid-path",
      "b\ufffd @0 invalid-path",
      "b\ufffdx @0 invalid-path",
      'really\ufffd @0 "1"',
    ]);
  },
);

test.skipIf(isWindows || isRoot)("a folder that cannot be read is listed", async () => {
  const folder = tempFolder({ "a/b": "", c: "" });
  chmodSync(join(folder, "a"), 0);
  expect((await readLines(directory(folder)))[0]).toBe("a @0 unreadable");
  chmodSync(join(folder, "a"), 0o700);
});

test.skipIf(isWindows || isRoot)("a root that cannot be read is SOURCE_UNREADABLE", async () => {
  const folder = tempFolder();
  chmodSync(folder, 0);
  await expect(read(directory(folder))).rejects.toMatchObject({ code: "SOURCE_UNREADABLE" });
  chmodSync(folder, 0o700);
});
describe("versions", () => {
  const versions = async (folder: string) =>
    (await read(directory(folder))).entries.map((entry) =>
      entry.kind === "file" ? entry.version : "",
    );
  const old = { size: 5n, mtimeNs: 10n ** 18n + 1n, ctimeNs: 10n ** 18n + 2n, ino: 7n };

  test("do not change while the file is not changed", async () => {
    const folder = tempFolder({ a: "1" });
    await new Promise((resolve) => setTimeout(resolve, 60));
    const [before] = await versions(folder);
    expect(before).toBeTypeOf("string");
    expect(await versions(folder)).toEqual([before]);
    // same size and mtime
    writeFileSync(join(folder, "a"), "2");
    utimesSync(join(folder, "a"), new Date(0), new Date(0));
    await new Promise((resolve) => setTimeout(resolve, 60));
    const [after] = await versions(folder);
    expect(after).toBeTypeOf("string");
    expect(after).not.toBe(before);
    renameSync(join(folder, "a"), join(folder, "b"));
  });

  test("are missing for a file that was just written", async () => {
    const folder = tempFolder({ a: "1" });
    utimesSync(join(folder, "a"), new Date(0), new Date(Date.now() + 60_000));
    expect(await versions(folder)).toEqual([undefined]);
  });

  test.each<[object, number, boolean]>([
    [{}, 1e12 + 11, true],
    [{}, 1e12 + 10, false],
    [{}, 1e12 - 5000, false],
    [{ mtimeNs: 10n ** 18n + 10n ** 9n + 1n }, 1e12 + 11, false],
    [{ ctimeNs: 10n ** 18n + 10n ** 9n + 1n }, 1e12 + 11, false],
    [{ mtimeNs: 10n ** 18n, ctimeNs: 10n ** 18n }, 1e12 + 1999, false],
    [{ mtimeNs: 10n ** 18n, ctimeNs: 10n ** 18n }, 1e12 + 2000, true],
  ])("%o listed at %d has a version: %s", (change, now, want) => {
    expect(versionOf({ ...old, ...change }, now) !== undefined).toBe(want);
  });

  test("differ with each of the four numbers", () => {
    const keys = ["size", "mtimeNs", "ctimeNs", "ino"] as const;
    const all = [
      versionOf(old, 2e12),
      ...keys.map((key) => versionOf({ ...old, [key]: old[key] + 1n }, 2e12)),
    ];
    expect(new Set(all).size).toBe(5);
  });
});

describe("bad input", () => {
  test("a path that does not exist", async () => {
    const missing = join(tempFolder(), "no/where");
    const error: unknown = await read(directory(missing)).catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: "SOURCE_NOT_FOUND",
      message: expect.stringContaining(missing),
    });
  });

  test("a file", async () => {
    const file = join(tempFolder({ a: "" }), "a");
    await expect(read(directory(file))).rejects.toMatchObject({
      code: "SOURCE_UNREADABLE",
      message: expect.stringMatching(/is not a folder/),
    });
  });

  test("an aborted signal", async () => {
    const signal = AbortSignal.abort();
    await expect(read(directory(tempFolder()), { signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
  });
});

test("the event loop turns while a large folder is listed", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 3000 }, (_, i) => [`d${i % 10}/f${i}`, ""]),
  );
  const folder = tempFolder(files);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const listed = await paths(folder);
  clearInterval(timer);
  expect(listed.length).toBe(3000);
  expect(turns).toBeGreaterThan(2);
});
