/** Tests that the commands and programs of README.md and docs/tour.md print the output that the pages show. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quern } from "./cli/terminal.ts";
import { bundledPrograms } from "./programs.ts";

/** Removes times, which differ from run to run. */
const withoutTimes = (text: string): string => text.replace(/\b[\d.]+ m?s\b/g, "TIME");

const PLAIN = { NO_COLOR: "1" };

/** Returns the words of a line, without the quotes around them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);

const made: string[] = [];
afterAll(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** Makes a folder with the files that a page shows. The first line of each is a comment with its path. */
function folderOf(page: string): string {
  const folder = mkdtempSync(join(tmpdir(), "quern-tour-"));
  made.push(folder);
  for (const [, text, path] of page.matchAll(/^```python\n(# (\S+)\n.*?)^```$/gms)) {
    mkdirSync(dirname(join(folder, path!)), { recursive: true });
    writeFileSync(join(folder, path!), text!);
  }
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  return folder;
}

const execute = promisify(execFile);

/** Resolves to what a page's program prints. */
async function printed(program: string, cwd: string): Promise<string> {
  const file = join(cwd, "program.mts");
  writeFileSync(file, `${program}export {};\n`);
  const args = await bundledPrograms([file]);
  return (await execute(process.execPath, args, { cwd, timeout: 280_000 })).stdout;
}

test("the program of README.md prints the documented output", async () => {
  const page = readFileSync("README.md", "utf8");
  const [program, output] = /^```js\n(.*?)^```\n\n```text\n(.*?)^```$/ms.exec(page)!.slice(1);
  expect(await printed(program!, folderOf(page))).toBe(output);
});

describe("the commands of docs/tour.md", () => {
  const page = readFileSync("docs/tour.md", "utf8");
  const calls = [...page.matchAll(/^```console\n\$ quern (.*)\n([^]*?)^```$/gm)].map(
    ([, line, output]) => ({ line: line!, output: output! }),
  );
  const folder = folderOf(page);
  const db = join(folder, ".quern");

  beforeAll(() => expect(calls.length).toBeGreaterThan(4));

  test("print the documented output, one after the other", async () => {
    for (const { line, output } of calls) {
      const words = wordsOf(line).map((word) => (word === "shop" ? join(folder, word) : word));
      const isTTY = line.startsWith("search"); // an index run would draw its progress
      const { stdout, stderr } = await quern([...words, "--db", db], { isTTY, env: PLAIN });
      expect(withoutTimes(stdout + stderr), line).toBe(withoutTimes(output));
    }
  });
});
