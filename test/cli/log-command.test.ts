/** Tests quern log on a repository whose history is small enough to write its output down. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeRepository } from "../history/generated.ts";
import { quern, type Ran } from "./terminal.ts";

const home = mkdtempSync(join(tmpdir(), "quern-log-"));
const db = join(home, "index");
const lines = (...words: string[]): string => words.map((word) => `${word}\n`).join("");
let ids: string[] = []; // oldest first

beforeAll(async () => {
  const folder = makeRepository(
    [
      {
        branch: "main",
        message: "Add a cart\n",
        changes: [{ path: "cart.ts", content: lines("one", "total = 1", "three") }],
      },
      {
        branch: "main",
        message: "Round totals\n\nPrices had cents.\n",
        author: "Bob <bob@example.com>",
        changes: [
          { path: "cart.ts", content: lines("one", "total = round(1)", "three") },
          { path: "round.ts", content: lines("round") },
        ],
      },
    ],
    home,
  );
  ids = execFileSync("git", ["-C", folder, "rev-list", "--reverse", "main"], { encoding: "utf8" })
    .trim()
    .split("\n");
  const indexed = await quern(["index", "--history", folder, "--db", db]);
  expect(indexed).toMatchObject({ code: 0 });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const log = (...argv: string[]): Promise<Ran> => quern(["log", ...argv, "--db", db]);

test("prints commits with the lines that were found", async () => {
  const { code, stdout, stderr } = await log("total");
  expect(code).toBe(0);
  expect(stdout).toBe(
    `commit ${ids[1]!}
Repository: made
Author: Bob <bob@example.com>
Date:   2023-11-15T00:13:20.000Z

    Round totals

    Prices had cents.

made:cart.ts
-2:total = 1
+2:total = round(1)

commit ${ids[0]!}
Repository: made
Author: Ada <ada@example.com>
Date:   2023-11-14T23:13:20.000Z

    Add a cart

made:cart.ts
+2:total = 1
`,
  );
  expect(stderr).toMatch(/^quern: 3 matches in 2 changes, 2 commits shown, /);
});

const commitsIn = (stdout: string): number[] =>
  Array.from(stdout.matchAll(/^commit (\w+)$/gm), ([, id]) => ids.indexOf(id!));

test.each<[argv: string[], commits: number[]]>([
  [["round"], [1]],
  [["--removed", "total"], [1]],
  [["--added", '"total = 1"'], [0]],
  [["removed:total", "or", "file:round"], [1]],
  [
    ["--regex", "total = \\d"],
    [1, 0],
  ],
  [["--case", "Total"], []],
  [["author:ada", "total"], [0]],
  [["type:commit", "cents"], [1]],
  [["-m", "1", "total"], [1]],
])("%j finds the commits %j", async (argv, commits) => {
  const { code, stdout } = await log(...argv);
  expect(commitsIn(stdout)).toEqual(commits);
  expect(code).toBe(commits.length > 0 ? 0 : 1);
});

test("--patch prints the whole difference of a file", async () => {
  const { stdout } = await log("--patch", "--removed", "total");
  expect(stdout).toContain(
    "made:cart.ts\n@@ -1,3 +1,3 @@\n one\n-total = 1\n+total = round(1)\n three\n",
  );
  expect(stdout).not.toContain("round.ts");
});

test("--json prints the response", async () => {
  const { stdout } = await log("--json", "round", "file:cart");
  expect(JSON.parse(stdout)).toMatchObject({ files: [{ commit: { hash: ids[1] } }] });
});

test("both sides at once, and a wrong query, are rejected", async () => {
  expect(await log("--added", "--removed", "x")).toMatchObject({ code: 2 });
  expect(await log("sym:x")).toMatchObject({ code: 2 });
});
