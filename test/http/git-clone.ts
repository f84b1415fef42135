/** A clone for the tests of routes: the files of acme/open that are indexed, and others that only git has. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Fixture } from "./engine.ts";

const base = mkdtempSync(join(tmpdir(), "quern-clone-"));
process.once("exit", () => rmSync(base, { recursive: true, force: true }));
let made = 0;

export type Run = (...args: string[]) => string;

/** Makes a clone with Ada's first commit, at a fixed time. */
export function makeClone(files: Fixture["files"]): { folder: string; run: Run } {
  const folder = join(base, String(++made));
  mkdirSync(folder);
  const date = "2024-01-02T03:04:05+01:00";
  const run: Run = (...args) =>
    execFileSync("git", args, {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_NAME: "Ada",
        GIT_AUTHOR_EMAIL: "ada@x",
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_NAME: "C",
        GIT_COMMITTER_EMAIL: "c@x",
        GIT_COMMITTER_DATE: date,
      },
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
    }).trim();
  run("init", "-q", "-b", "main");
  write(folder, files);
  run("add", "-A");
  run("commit", "-q", "-m", "first\n\nbody");
  return { folder, run };
}

function write(folder: string, files: Fixture["files"]): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const HUGE_BYTES = 33 * 2 ** 20;

/**
 * Makes three commits: `first`; `v1`, with a link, a submodule and a binary file; and `huge`, with a very large file.
 */
export function makeAwkwardClone(files: Fixture["files"]): string {
  const { folder, run } = makeClone(files);
  run("branch", "first");
  write(folder, { "lib/z.txt": "zzz\nmore\n", "bin.dat": "a\0b" });
  symlinkSync("README.md", join(folder, "link"));
  run("add", "-A");
  run("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},vendor/module`);
  run("commit", "-q", "-m", "second", "--author=Bob <bob@x>");
  run("tag", "v1");
  run("checkout", "-q", "-b", "huge");
  write(folder, { "huge.txt": "x".repeat(HUGE_BYTES) });
  run("add", "huge.txt");
  run("commit", "-q", "-m", "third");
  run("checkout", "-q", "main");
  return folder;
}
