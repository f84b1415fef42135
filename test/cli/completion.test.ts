/** What a shell completes. bash runs its script; the others are checked where they are installed. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { quern } from "./terminal.ts";

const script = async (shell: string): Promise<string> =>
  (await quern(["completion", shell])).stdout;

/** The answers of bash for a line whose last word is being typed. */
async function completed(...words: string[]): Promise<string[]> {
  const line = words.map((word) => `'${word}'`).join(" ");
  const asked = `${await script("bash")}
COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _quern; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", asked], { encoding: "utf8" }).trim().split("\n");
}

test.skipIf(!existsSync("/bin/bash"))("bash completes commands, options and paths", async () => {
  expect(await completed("quern", "")).toEqual(expect.arrayContaining(["index", "search", "keys"]));
  expect(await completed("quern", "se")).toEqual(["search", "serve"]);
  expect(await completed("quern", "index", "--all-")).toEqual(["--all-branches", "--all-tags"]);
  expect(await completed("quern", "search", "--per")).toEqual(["--per-file"]);
  expect(await completed("quern", "keys", "--own")).toEqual(["--owner"]);
  expect(await completed("quern", "index", "README")).toEqual(["README.md"]);
});

test.each(["bash", "zsh", "fish"])("%s has every option, and reads its script", async (shell) => {
  const text = await script(shell);
  for (const name of ["all-branches", "vimgrep", "anonymous", "wait"]) expect(text).toContain(name);
  const { error, status, stderr } = spawnSync(shell, ["-n"], { input: text, encoding: "utf8" });
  if (!error) expect([status, stderr]).toEqual([0, ""]);
});

test("a shell that is not known is refused", async () => {
  expect(await quern(["completion", "tcsh"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("bash, zsh, fish") as string,
  });
});
