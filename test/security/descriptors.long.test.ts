/**
 * Without free file descriptors, each public call rejects with a QuernError, the process lives, and nothing is lost.
 * Once descriptors are free, the call works again.
 */

import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../engine/opened.ts";
import { bundledPrograms } from "../programs.ts";
import { someOf } from "../runs.ts";

/** Enough to load the modules of quern and of its packages. */
const LIMIT = 500;

function makeFiles(): string {
  const folder = temporaryFolder();
  const files = join(folder, "files");
  mkdirSync(files);
  writeFileSync(join(files, "a.py"), "def a():\n  pass\n");
  writeFileSync(join(files, "b.txt"), "b a\n");
  writeFileSync(join(files, "c.txt"), "a\n");
  mkdirSync(join(files, "deep/er"), { recursive: true });
  writeFileSync(join(files, "deep/er/d.txt"), "a\n");
  writeFileSync(join(files, "deep/.gitignore"), "*.log\n");
  writeFileSync(join(files, "deep/er/d.log"), "a\n");
  for (const name of ["repository", "clones/one"]) {
    const repository = join(folder, name);
    cpSync(files, repository, { recursive: true });
    const git = (...args: string[]) => execFileSync("git", ["-C", repository, ...args]);
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a");
  }
  return folder;
}

interface Line {
  readonly call: string;
  readonly left?: number;
  readonly successes?: number;
  readonly codes?: readonly string[];
  readonly wrong: readonly string[];
}

test.each(someOf([0, 1], 2))(
  "without free descriptors, every call fails cleanly, %i workers",
  async (workers) => {
    const [program] = await bundledPrograms(["test/security/descriptors-process.ts"]);
    const command = `ulimit -n ${LIMIT}; exec "$0" "$@"`;
    const args = ["-c", command, process.execPath, program!, makeFiles(), String(workers)];
    const { stdout } = await promisify(execFile)("sh", args).catch(
      (error: { stdout: string; stderr: string }) => {
        throw new Error(error.stdout + error.stderr);
      },
    );
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    expect(lines.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
    expect(lines.length).toBeGreaterThan(20);
    for (const { call, successes } of lines) expect([call, successes]).toEqual([call, 3]);
    const codes = new Set(
      lines.flatMap((line) => line.codes ?? []).map((code) => code.split(" ")[0]),
    );
    expect([...codes]).toEqual(["OVERLOADED"]);
  },
);
