/** The example of docs/agents.md runs and says what the page says. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CORPUS } from "../scripts/build-corpus.ts";

const cwd = mkdtempSync(join(tmpdir(), "quern-agent-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** Each dialogue: what is asked, after `$ agent`, then what is answered. */
const page = readFileSync("docs/agents.md", "utf8");
const dialogues = [
  ...page.matchAll(/^\$ agent (\S+) "?(.*?)"?(?: (\d+))?\n(.*?)(?=\n\n\$ |\n```)/gms),
];

test("there are dialogues", () => {
  expect(dialogues.length).toBeGreaterThanOrEqual(4);
});

test.each(dialogues.map((dialogue) => dialogue.slice(1)))("%s %s", (tool, text, line, answer) => {
  const tsx = [
    resolve("node_modules/tsx/dist/cli.mjs"),
    "--tsconfig",
    resolve("examples/tsconfig.json"),
  ];
  const asked = [join(CORPUS, "duration"), tool!, text!, ...(line ? [line] : [])];
  const said = execFileSync(process.execPath, [...tsx, resolve("examples/agent.ts"), ...asked], {
    cwd,
  });
  expect(said.toString().trimEnd()).toBe(answer);
});
