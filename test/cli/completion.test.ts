/** Tests shell completion. bash runs its script. The scripts of other installed shells are checked. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { quern } from "./terminal.ts";

const script = async (shell: string): Promise<string> =>
  (await quern(["completion", shell])).stdout;

/** Resolves to the answers of bash for a line whose last word is being typed. */
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
  expect(await completed("quern", "keys", "re")).toEqual(["revoke"]);
  expect(await completed("quern", "index", "README")).toEqual(["README.md"]);
});

/** Resolves to the commands and options listed in the help of `quern`, or of one of its commands. */
async function listed(...argv: string[]) {
  const { stdout } = await quern([...argv, "--help"]);
  const [, commands = ""] = stdout.split("\nCommands:\n");
  return {
    options: [...stdout.matchAll(/^ {2}(?:-\w, )?--([a-z][\w-]*)/gm)].map(([, name]) => name!),
    commands: [...commands.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name!),
  };
}

/** Returns the lines of a script that are about one command. */
const linesOf = (text: string, command: string): string =>
  text
    .split("\n")
    .filter((line) => line.includes(`    ${command}) `) || line.includes(`_from ${command}'`))
    .join("\n");

test.each(["bash", "zsh", "fish"])(
  "the script for %s lists every command and option",
  async (shell) => {
    const text = await script(shell);
    const { commands } = await listed();
    expect(commands).toContain("index");
    for (const command of commands.filter((name) => name !== "help")) {
      const lines = linesOf(text, command);
      const word = (name: string) => new RegExp(`(?:^|[ '-])${name}(?:[ ':]|$)`, "m");
      expect(text).toMatch(word(command));
      const inner = (await listed(command)).commands.filter((name) => name !== "help");
      const helps = await Promise.all([
        listed(command),
        ...inner.map((name) => listed(command, name)),
      ]);
      const options = helps.flatMap((help) => help.options).filter((name) => name !== "help");
      for (const name of [...inner, ...options]) expect(lines, command).toMatch(word(name));
    }
  },
);

// the scripts for zsh and fish use only syntax that bash can parse, too, including quotes
test.each([
  ["bash", "bash"],
  ["bash", "zsh"],
  ["bash", "fish"],
  ["zsh", "zsh"],
  ["fish", "fish"],
])("%s, if installed, can parse the script for %s", async (reader, shell) => {
  const input = await script(shell);
  const { error, status, stderr } = spawnSync(reader, ["-n"], { input, encoding: "utf8" });
  if (!error) expect([status, stderr]).toEqual([0, ""]);
});

test("an unknown shell is rejected", async () => {
  expect(await quern(["completion", "tcsh"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("bash, zsh, fish") as string,
  });
});
