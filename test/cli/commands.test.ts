/** Tests the commands repos, read, check and explain. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CORPUS } from "../../scripts/build-corpus.ts";
import type { NavigationAnswer } from "../../src/navigation/request.ts";
import type { CheckReport, FindResponse, Repository } from "../../src/index.ts";
import { ask, db, indexSome } from "./indexed.ts";
import { quern } from "./terminal.ts";

indexSome();

test("repos lists the repositories", async () => {
  const { code, stdout } = await ask("repos");
  expect(code).toBe(0);
  expect(stdout.match(/^[\w-]+/gm)?.toSorted()).toEqual(["duration", "ledger", "task-queue"]);
  expect(stdout).toContain("main, develop, v2.1.0");
  const json = JSON.parse((await ask("repos", "--json")).stdout) as Repository[];
  expect(json.map(({ name }) => name).sort()).toEqual(["duration", "ledger", "task-queue"]);
});

test("read prints the bytes of a file", async () => {
  const text = readFileSync(join(CORPUS, "duration/go.mod"), "utf8");
  expect(await ask("read", "duration", "go.mod")).toEqual({ code: 0, stdout: text, stderr: "" });
  const { stdout } = await ask("read", "duration", "go.mod", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    repository: "duration",
    path: "go.mod",
    content: text,
  });
  const old = await ask("read", "task-queue", "src/task.ts", "--rev", "develop");
  expect(old.stdout).toContain("priority");
});

test.each([
  [["duratoin", "go.mod"], "there is no repository duratoin; did you mean duration?"],
  [["nothing", "go.mod"], "there is no repository nothing; quern repos lists them"],
  [["duration", "go.mdo"], "duration has no file go.mdo; did you mean go.mod?"],
  [["duration", "src/none.go"], "duration has no file src/none.go"],
  [
    ["task-queue", "src/task.ts", "--rev", "devlop"],
    "task-queue has no indexed revision devlop; did you mean develop?",
  ],
])("read %j says what does not exist", async (words, told) => {
  expect(await ask("read", ...words)).toEqual({ code: 1, stdout: "", stderr: `quern: ${told}\n` });
});

test("check finds no damage", async () => {
  expect((await ask("check")).stdout).toMatch(/^no damage: \d+ segments?, [\d,]+ files, /);
  const { code, stdout } = await ask("check", "--json");
  expect({ code, ok: (JSON.parse(stdout) as CheckReport).ok }).toEqual({ code: 0, ok: true });
});

test("find prints the places that a description fits", async () => {
  const { code, stdout, stderr } = await ask(
    "find",
    "retry",
    "with",
    "backoff",
    "--why",
    "-m",
    "2",
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^2 places from /) });
  const [head, line] = stdout.split("\n");
  expect(head).toMatch(/^task-queue\/src\/[\w.-]+:\d+-\d+ function retryWithBackoff$/);
  expect(line).toMatch(/^\d+: /);
  expect(stdout).toMatch(/^ {2}\d+\.\d\d definition: function retryWithBackoff: /m);
  const python = await ask(
    "find",
    "retry",
    "--json",
    "-t",
    "go",
    "--filter",
    "-file:_test",
    "-g",
    "!*.md",
  );
  for (const { path } of (JSON.parse(python.stdout) as FindResponse).places)
    expect(path).toMatch(/^(?!.*_test).*\.go$/);
  const nothing = await ask("find", "zyzzyva");
  expect(nothing).toMatchObject({ code: 1, stdout: "" });
  expect(nothing.stderr).toContain("quern: not in any file: zyzzyva");
  expect((await ask("find", "retry", "--filter", "needle")).stderr).toMatch(/only filters/);
  expect((await ask("find", "retry", "-m", "0")).stderr).toMatch(/places must be a whole number/);
});

test("uses prints places with their certainty, and says how many there are", async () => {
  const { code, stdout, stderr } = await ask("uses", "retryWithBackoff");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^task-queue\/src\/[\w.-]+:\d+:\d+ resolved (?:call|import)/m);
  expect(stderr).toMatch(/^\d+ uses? of retryWithBackoff: \d+ certain/);
  const json = await ask("uses", "retryWithBackoff", "--definitions", "--json");
  const [definition] = (JSON.parse(json.stdout) as NavigationAnswer).places;
  const { path, range } = definition!;
  const place = `${path}:${range.start.lineNumber}:${range.start.column}`;
  const again = await ask("uses", "-r", "task-queue", place);
  expect(again.stdout).toBe(stdout);
  expect(await ask("uses", "zyzzyva")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "No definition of zyzzyva is known.\n",
  });
  expect((await ask("uses", "a", "--at-least", "sure")).stderr).toMatch(/atLeast must be/);
});

test("explain prints the plan", async () => {
  const { code, stdout } = await ask("explain", "retryWithBackoff lang:typescript");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^query: .*retryWithBackoff/);
  expect(stdout).toMatch(/^segment \d+: scanned, /m);
  const nothing = await ask("explain", "retryWithBackoff lang:cobol");
  expect(nothing.stdout).toMatch(
    /^segment \d+: skipped-by-filter, .*\n(?: .*\n)* {2}excluded by lang:cobol: 0 candidate files of its own$/m,
  );
  expect(JSON.parse((await ask("explain", "--json", "money")).stdout)).toHaveProperty("segments");
});

test("on a terminal, a search without matches says what would match", async () => {
  const { code, stderr } = await quern(["search", "--case", "RETRYWITHBACKOFF", "--db", db], {
    isTTY: true,
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/matches without --case: RETRYWITHBACKOFF/);
});
