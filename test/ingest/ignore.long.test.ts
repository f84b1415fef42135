/** Compares the rules of .gitignore files with git itself, and measures the cost of the worst of them. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Slice } from "../../src/base/yield.ts";
import {
  callersRules,
  isIgnored,
  rulesBelow,
  withRules,
  type Rules,
} from "../../src/ingest/sources/ignore.ts";
import { directory } from "../../src/ingest/sources/directory.ts";
import { git, read, tempFolder } from "./listing.ts";

const isCaseless = process.platform === "win32" || process.platform === "darwin";

/** Files and folders (with '/' at the end) of the tree on which git and quern are compared. */
const TREE = [
  ..."a b ab ba a.o .a a] a^b a\\b [a] *a!#x ??? a\u00e9 \u00e9 A aaaa abab".split(" "),
  "a b",
  "a ",
  "-",
  "d/a",
  "d/b",
  "d/ab",
  "d/a.o",
  "d/d/a",
  "d/d/d/a",
  "d/d/ab/ba",
  "d/ab.d/x",
  "ab.d/ab.d/ab",
  "x/y/z/a",
  "x/y/z/y/z/b",
  "x/yz/a",
  "foo/bar",
  "foox/y/bar",
  "foobar",
];
const FOLDERS = new Set(
  TREE.flatMap((path) => path.split("/").map((_, i, parts) => parts.slice(0, i).join("/"))),
);

const slice = () => new Slice({ signal: new AbortController().signal });
const noRules = () => callersRules([], slice());
const addRules = (rules: Rules, text: string, bytes = 0) =>
  withRules(rules, { file: "/r/.gitignore", bytes, lines: text.split("\n") }, slice());

/** Resolves to what quern ignores, folders included, in the order of TREE. */
async function ignoredByQuern(files: Readonly<Record<string, string>>): Promise<string[]> {
  const found: string[] = [];
  const inFolder = async (folder: string, above: Rules) => {
    const rules = await addRules(above, files[folder] ?? "");
    for (const path of entriesOf(folder)) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const isFolder = FOLDERS.has(path);
      if (isIgnored(rules, name, isFolder)) found.push(...subtree(path));
      else if (isFolder) await inFolder(path, rulesBelow(rules, name));
    }
  };
  await inFolder("", await noRules());
  return found.toSorted();
}

const ENTRIES = [...new Set([...TREE, ...FOLDERS])].filter((path) => path !== "");
const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const entriesOf = (folder: string) => ENTRIES.filter((path) => folderOf(path) === folder);
const subtree = (path: string) => ENTRIES.filter((at) => at === path || at.startsWith(`${path}/`));

const repository = tempFolder();
git(repository, "init", "-q");
for (const path of TREE) {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), "");
}

function ignoredByGit(files: Readonly<Record<string, string>>): string[] {
  for (const folder of FOLDERS) rmSync(join(repository, folder, ".gitignore"), { force: true });
  for (const [folder, text] of Object.entries(files))
    writeFileSync(join(repository, folder, ".gitignore"), text);
  const asked = [..."-c core.ignoreCase=false".split(" "), "check-ignore", "--no-index", "-z"];
  try {
    const options = { cwd: repository, encoding: "utf8", input: ENTRIES.join("\0") } as const;
    const listed = execFileSync("git", [...asked, "--stdin"], options).split("\0");
    return listed.filter((path) => path !== "").toSorted();
  } catch (error) {
    if ((error as { status?: number }).status === 1) return []; // it ignores nothing
    throw error;
  }
}

/** One row for each case that git's own matcher treats separately. */
const LINES = [
  [
    "a",
    "/a",
    "a/",
    "d/a",
    "/d/a/",
    "!a",
    "d",
    "d/",
    "/",
    "//",
    "!",
    "",
    "#x",
    "\\#x",
    "!#x",
    "\\!#x",
  ],
  ["*", "*/", "/*", "/*/", "*/*", "d/*", "*.o", "*.d/", "a*", "*a", "*a*", "?", "??", "a?", "*?a"],
  ["**", "/**", "**/", "/**/", "**/a", "a/**", "d/**", "d/**/a", "**/d/**", "**/**/a", "x/**/z/*"],
  [
    "a**",
    "**a",
    "d/**a",
    "d/a**",
    "x/**/**/b",
    "***/a",
    "d/***/a",
    "foo**/bar",
    "fo?**/bar",
    "d**/a",
  ],
  [
    "[ab]",
    "[!a]",
    "[^a]",
    "[a-z]",
    "[]]",
    "[]a]",
    "[!]]",
    "a[]]",
    "[a",
    "[",
    "[[:alpha:]]",
    "[[:nope:]]",
  ],
  [
    "[[:alpha:]b]",
    "[[:]",
    "[[:]a]",
    "[a-]",
    "[-a]",
    "[\\]a]",
    "[a\\-z]",
    "[z-a]",
    "d[/]a",
    "d[!x]a",
    "[[:upper:]]",
  ],
  [
    "a\\",
    "a\\\\b",
    "\\a",
    "\\*",
    "\\*a!#x",
    "a\\ ",
    "a ",
    "a  ",
    " a",
    "a\\ b",
    "\\[a\\]",
    "a\u00e9",
    "a??",
    "a?",
  ],
  [
    "\u00e9",
    "??",
    "[\u00e9][\u00a9]",
    "*\u00a9",
    "d/**\\/a",
    "x/**\\/b",
    "-",
    "[a-b-d]",
    "a[^]b",
    "a[!^]b",
    "???",
  ],
].flat();

describe.skipIf(isCaseless)("ignores the same files as git", () => {
  test("the tree contains what the rows need", () => {
    expect(ENTRIES.length).toBeGreaterThan(40);
    expect(ignoredByGit({ "": "a" }).length).toBeGreaterThan(3);
  });

  test.each(LINES)("%j", async (line) => {
    expect(await ignoredByQuern({ "": line })).toEqual(ignoredByGit({ "": line }));
  });

  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("a", "b", "d", "x", "y", "z", ".", "o", "ab") },
    { weight: 4, arbitrary: fc.constantFrom("*", "?", "**", "/", "**/", "/**", "*/", "/*") },
    fc.constantFrom(
      "[ab]",
      "[!a]",
      "[a-y]",
      "[",
      "]",
      "\\",
      "-",
      "[[:alpha:]]",
      "!",
      "\u00e9",
      " ",
    ),
  );
  const line = fc
    .tuple(fc.constantFrom("", "", "!", "/", "!/"), fc.array(piece, { minLength: 1, maxLength: 7 }))
    .map(([before, pieces]) => before + pieces.join(""));
  const text = fc.array(line, { minLength: 1, maxLength: 12 }).map((lines) => lines.join("\n"));
  const rules = fc.record({ "": text, d: text, "d/d": text }, { requiredKeys: [""] });

  test("for random rules in several folders", async () => {
    await fc.assert(
      fc.asyncProperty(rules, async (files) => {
        expect(await ignoredByQuern(files)).toEqual(ignoredByGit(files));
      }),
      { numRuns: Number(process.env["QUERN_IGNORE_RUNS"] ?? 100) },
    );
  });
});

/** Rules for which a matcher with backtracking tries every way to divide a path. */
const ATTACKS: [what: string, rules: string, name: string][] = [
  ["double stars over one name", `${"/**/a".repeat(60)}/b`, "a"],
  ["double stars and stars", `${"/**/*a*".repeat(60)}/b`, "aaaaaaaa"],
  ["stars in a name", `${"*a".repeat(120)}b`, "a".repeat(250)],
  ["classes", `${"*[a-z]".repeat(120)}!`, "a".repeat(250)],
  ["as many patterns as count", "**/x*a?b\n".repeat(1_700), "xab".repeat(80)],
  [
    "as many endings",
    Array.from({ length: 255 }, (_, i) => `*${"a".repeat(i + 1)}`).join("\n"),
    "ab",
  ],
  ["as many names", Array.from({ length: 130_000 }, (_, i) => `n${i}`).join("\n"), "n"],
  ["brackets that never end", `${"[[:".repeat(1_300)}]\n`.repeat(250), "a"],
];

describe("bounded", () => {
  test.each(ATTACKS)("%s", async (_, text, name) => {
    const before = process.cpuUsage();
    let rules = await addRules(await noRules(), text, text.length);
    for (let depth = 0; depth < 4_096 / (name.length + 1); depth++) {
      expect(isIgnored(rules, `${name}c`, false)).toBe(false);
      rules = rulesBelow(rules, name);
    }
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1_500);
  });

  test.each<[what: string, text: string, bytes: number, most: string]>([
    ["steps", "**/x*a?b\n".repeat(100), 0, "16384 characters of patterns with wildcards"],
    ["bytes", "a", 300_000, "1048576 bytes"],
    ["files", "a", 0, "256 files of rules"],
  ])("more %s than the limit are an error that names the file", async (_, text, bytes, most) => {
    const addAll = async () => {
      let rules = await noRules();
      for (let i = 0; i < 3_000; i++) rules = await addRules(rules, text, bytes);
    };
    const message = `the rules of /r/.gitignore and of the folders above it are more than ${most}; shorten them, or index the folder with gitignore: false`;
    await expect(addAll()).rejects.toMatchObject({ code: "SOURCE_UNREADABLE", message });
  });

  test("a line longer than any path is skipped", async () => {
    const lines = ["[a]".repeat(1_400), "a".repeat(5_000), "b"].join("\n");
    const rules = await addRules(await noRules(), lines);
    expect(isIgnored(rules, "b", false)).toBe(true);
    expect(isIgnored(rules, "a", false)).toBe(false);
  });

  test("a walk with hostile rules can be aborted, and otherwise ends", async () => {
    const folder = tempFolder({ ".gitignore": `${"/**/a".repeat(200)}/b\n` });
    const deep = "a/".repeat(800);
    mkdirSync(join(folder, deep), { recursive: true });
    for (let i = 0; i < 300; i++) writeFileSync(join(folder, deep, `${i}`), "");
    const before = process.cpuUsage();
    expect((await read(directory(folder))).entries.length).toBe(301);
    // only the time of the rules; the system itself may take seconds for such a deep path
    const { user } = process.cpuUsage(before);
    expect(user / 1000).toBeLessThan(2_000);
    const signal = AbortSignal.timeout(1);
    const aborted = read(directory(folder), { signal });
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
  });
});
