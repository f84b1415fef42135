/** A name that a repository or a caller chooses never becomes an option or a command of git. */

import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { commit, git as run, readLines, repository, tempFolder } from "../ingest/listing.ts";

const isWindows = process.platform === "win32";

/** Puts a program in front of git that records the arguments, each followed by NUL. */
function recordedGit(): () => string[] {
  const folder = tempFolder();
  const log = join(folder, "arguments");
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh\nprintf '%s\\0' "$@" >> '${log}'\nexec '${real}' "$@"\n`;
  writeFileSync(join(folder, "git"), script);
  chmodSync(join(folder, "git"), 0o755);
  const path = process.env["PATH"];
  process.env["PATH"] = `${folder}${delimiter}${path}`;
  onTestFinished(() => void (process.env["PATH"] = path));
  return () => readFileSync(log, "utf8").split("\0").filter(Boolean);
}

const read = async (folder: string, revisions: string[]): Promise<string> => {
  try {
    return (await readLines(git(folder, { revisions }))).join();
  } catch (error) {
    if (error instanceof QuernError) return error.code;
    throw error;
  }
};

describe.skipIf(isWindows)("revisions", () => {
  test.each([
    "-h",
    "--help",
    "--output=PWNED",
    "--upload-pack=touch PWNED",
    "-c core.pager=touch",
    "--exec-path=/tmp",
    "--git-dir=/",
    "-",
    "--",
    "-O/etc/passwd",
    "$(touch PWNED)",
    "`touch PWNED`",
    ";touch PWNED",
  ])("a revision named %j is treated only as a name", async (name) => {
    const folder = repository({ a: "1" });
    const given = recordedGit();
    expect(await read(folder, [name])).toBe("REVISION_NOT_FOUND");
    expect(given().length).toBeGreaterThan(2);
    const named = given().filter((argument) => name.length > 2 && argument.includes(name));
    for (const argument of named)
      expect([`refs/heads/${name}`, `refs/tags/${name}`]).toContain(argument);
    expect(existsSync(join(folder, "PWNED"))).toBe(false);
  });
});

describe.skipIf(isWindows)("repositories", () => {
  test("branches, files and folders whose names begin with '-' are indexed as they are", async () => {
    const files = { "--help": "1", "-rf": "2", "--output=x/-c": "3" };
    const folder = join(tempFolder(), "--git-dir=x");
    renameSync(repository(files), folder);
    // plumbing commands accept names that `git branch` rejects
    run(folder, "update-ref", "refs/heads/-b", run(folder, "rev-parse", "HEAD"));
    const given = recordedGit();
    const lines = await read(folder, ["-b"]);
    expect(lines).toContain('--help @0 "1"');
    expect(lines).toContain('--output=x/-c @0 "3"');
    for (const name of [...Object.keys(files), "-b", "--git-dir=x"])
      expect(given()).not.toContain(name);
  });

  test("programs in a repository's own configuration are not run", async () => {
    const folder = repository({ "a.txt": "1", ".gitattributes": "*.txt diff=evil filter=evil\n" });
    const marker = join(tempFolder(), "PWNED");
    const touch = `touch ${marker}; cat`;
    const keys = {
      "core.pager": touch,
      "core.fsmonitor": touch,
      "core.sshCommand": touch,
      "core.hooksPath": folder,
      "core.alternateRefsCommand": touch,
      "credential.helper": `!${touch}`,
      "diff.external": touch,
      "diff.evil.textconv": touch,
      "diff.evil.command": touch,
      "filter.evil.smudge": touch,
      "filter.evil.clean": touch,
      "alias.ls-tree": `!${touch}`,
      "alias.cat-file": `!${touch}`,
      "remote.--upload-pack=x.url": `ext::sh -c "${touch}"`,
      "remote.origin.url": `ext::sh -c "${touch}"`,
      "remote.origin.uploadpack": touch,
      "uploadpack.packObjectsHook": touch,
    };
    const first = run(folder, "rev-parse", "HEAD");
    commit(folder, { "a.txt": "2" });
    for (const [key, value] of Object.entries(keys)) run(folder, "config", key, value);
    expect(await readLines(git(folder))).toContain('a.txt @0 "2"');
    const indexed = { revisions: [{ name: "main", commit: first }] };
    expect(await readLines(git(folder), { indexed })).toEqual(['a.txt @0 "2"']);
    expect(existsSync(marker)).toBe(false);
  });
});

const CONTROLS = ["a\nb", "a\rb", "a\0b", "\u001b[31mred", "a\tb", "\u0085", "a\u009fb", "\u007f"];

test.each(CONTROLS)("a repository may not be named %j", (name) => {
  const sources = [
    () => documents({ name, files: [] }),
    () => directory(".", { name }),
    () => git(".", { name }),
  ];
  for (const make of sources) {
    let caught: unknown;
    try {
      make();
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({ code: "INVALID_REQUEST" });
    // the message cannot be used to write to a terminal, either
    expect((caught as Error).message).not.toMatch(/\p{Cc}/u);
  }
});

test.skipIf(isWindows).each(["a\nb", "\u001b[2J"])(
  "a folder named %j is not the name of a repository",
  (name) => {
    expect(() => directory(join(tempFolder(), name))).toThrow(/control characters/);
  },
);
