/** Compares the history tool with git itself. */

import { execFileSync } from "node:child_process";
import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { directory, documents, git, type Engine } from "../../src/index.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { makeRepository, type MadeCommit } from "../history/generated.ts";
import { callTool, connected, tokensOf } from "./connected.ts";

const linesOf = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join("");

const COMMITS: MadeCommit[] = [
  {
    branch: "main",
    message: "Begin\n\nThe body of it.\n",
    changes: [
      { path: "src/cart.ts", content: linesOf(20, "line") },
      { path: "README.md", content: "# Shop\n" },
    ],
  },
  ...Array.from({ length: 120 }, (_, i) => ({
    branch: "main",
    message: `Step ${i}: ${i % 2 === 0 ? "round prices" : "count items"}\n`,
    author: i % 3 === 0 ? "Grace <grace@example.com>" : "Ada <ada@example.com>",
    changes: [{ path: "src/step.ts", content: `step ${i}\n` }],
  })),
  {
    branch: "main",
    message: "Rename the cart\n",
    changes: [
      { from: "src/cart.ts", path: "src/basket.ts" },
      { path: "src/basket.ts", content: linesOf(20, "line").replace("line 7", "LINE SEVEN") },
    ],
  },
];

interface Shop {
  readonly engine: Engine;
  readonly client: Client;
  readonly git: (...args: string[]) => string;
}

async function shop(): Promise<Shop> {
  const folder = makeRepository(COMMITS, temporaryFolder());
  const engine = await openEngine();
  await engine.index(git(folder, { name: "acme/shop", history: true }));
  const client = await connected(createMcpHandler(engine));
  const run = (...args: string[]) => execFileSync("git", ["-C", folder, ...args]).toString();
  return { engine, client, git: run };
}

const commitLines = (text: string) =>
  text.split("\n").filter((line) => /^[0-9a-f]{10} \d{4}-\d\d-\d\d /.test(line));

const FORMAT = "--format=%h %as %an: %s";

test.each<[args: Record<string, unknown>, ...asGit: string[]]>([
  [{}],
  [{ path: "src/basket.ts" }, "--", "src/basket.ts"],
  [{ author: "grace" }, "--author=grace", "-i"],
  [{ query: "round prices" }, "--grep=round prices", "-i"],
  [
    { author: "ada", query: "count", path: "src" },
    "--author=ada",
    "--grep=count",
    "-i",
    "--",
    "src",
  ],
  [{ since: "2023-11-16", until: "2023-11-18" }, "--since=2023-11-16", "--until=2023-11-18"],
])("pages of %j equal the output of git log", async (args, ...asGit) => {
  const { client, git: run } = await shop();
  const told: string[] = [];
  let given: Record<string, unknown> = { ...args, maxTokens: 400 };
  for (;;) {
    const { text, facts } = await callTool(client, "history", given);
    expect(tokensOf(text)).toBeLessThanOrEqual(400);
    told.push(...commitLines(text));
    if (facts.cursor === undefined) break;
    given = { cursor: facts.cursor, maxTokens: 400 };
  }
  const [options, paths] = [asGit, asGit].map((all, i) => {
    const at = all.indexOf("--");
    return at < 0 ? (i === 0 ? all : []) : i === 0 ? all.slice(0, at) : all.slice(at);
  });
  const said = run("log", "--abbrev=10", FORMAT, ...options!, "main", ...paths!).trimEnd();
  expect(told).toEqual(said === "" ? [] : said.split("\n"));
});

test("a new commit between two pages does not shift the pages", async () => {
  const { engine, client, git: run } = await shop();
  const first = await callTool(client, "history", { maxTokens: 300 });
  const tree = run("rev-parse", "main^{tree}").trim();
  const env = ["-c", "user.name=E", "-c", "user.email=e@example.com"];
  const next = run(...env, "commit-tree", tree, "-p", "main", "-m", "Later").trim();
  run("update-ref", "refs/heads/main", next);
  const second = await callTool(client, "history", { cursor: first.facts.cursor });
  const all = [...commitLines(first.text), ...commitLines(second.text)];
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBe(122);
  await engine.close();
});

test("a commit is shown with its message, its files and its lines", async () => {
  const { client } = await shop();
  const { text, facts } = await callTool(client, "history", { diff: "main" });
  const around = [4, 5, 6].map((i) => ` line ${i}`);
  const behind = [8, 9, 10].map((i) => ` line ${i}`);
  const [first, commit, ...lines] = text.split("\n");
  expect([first, ...lines]).toEqual([
    "# 1 file.",
    "src/basket.ts (was src/cart.ts) +1 -1",
    "@@ 5 line 3",
    ...around,
    "-line 7",
    "+LINE SEVEN",
    ...behind,
  ]);
  expect(commit).toMatch(/^[0-9a-f]{10} \d{4}-\d\d-\d\d Ada: Rename the cart <ada@example.com>/);
  expect(facts.complete).toBe(true);
});

test("the first commit is marked as the first, and its additions are shown", async () => {
  const { client, git: run } = await shop();
  const root = run("rev-list", "--max-parents=0", "main").trim();
  const { text } = await callTool(client, "history", { diff: root });
  expect(text.split("\n").toSpliced(1, 1)).toEqual([
    "# The first commit: it adds 2 files.",
    "The body of it.",
    "README.md",
    "src/cart.ts",
  ]);
});

test("two revisions are compared page by page", async () => {
  const { client, git: run } = await shop();
  const root = run("rev-list", "--max-parents=0", "main").trim();
  let answer = await callTool(client, "history", { diff: `${root}..main`, maxTokens: 200 });
  expect(answer.text).toContain("2 files.");
  const lines = answer.text.split("\n");
  while (answer.facts.cursor !== undefined) {
    answer = await callTool(client, "history", { cursor: answer.facts.cursor, maxTokens: 200 });
    lines.push(...answer.text.split("\n"));
  }
  expect(lines.filter((line) => line === "+step 119")).toHaveLength(1);
  expect(lines.filter((line) => line === "-line 7")).toHaveLength(1);
});

test("lines name the commits that they come from", async () => {
  const { client } = await shop();
  const { text } = await callTool(client, "history", { path: "src/basket.ts", blame: "7-9" });
  expect(text.split("\n").map((line) => line.replace(/^[0-9a-f]{10} \S+ /, "* "))).toEqual([
    "# acme/shop:src/basket.ts at HEAD.",
    "* Ada: Begin",
    "7: line 6",
    "* Ada: Rename the cart",
    "8: LINE SEVEN",
    "* Ada: Begin",
    "9: line 8",
  ]);
});

test.each<[args: Record<string, unknown>, words: RegExp]>([
  [{ revision: "nope" }, /no branch, tag or commit "nope"/],
  [{ diff: "--output=x" }, /must not begin with "-"/],
  [{ diff: "main..nope" }, /no branch, tag or commit "nope"/],
  [{ blame: "3" }, /blame needs the path of a file/],
  [{ blame: "3", path: "nope.ts" }, /has no file "nope.ts"/],
  [{ since: "someday" }, /must be an ISO 8601 date/],
  [{ repository: "acme/shp" }, /Near names: acme\/shop/],
])("%j is rejected with a reason", async (args, words) => {
  const { client } = await shop();
  const { text, isError } = await callTool(client, "history", args);
  expect(isError).toBe(true);
  expect(text).toMatch(words);
});

test("a repository without commits is answered with a reason", async () => {
  const engine = await openEngine();
  const files = [{ path: "a.ts", content: "a\n" }];
  await engine.index([documents({ name: "notes", files }), directory(temporaryFolder())]);
  const client = await connected(createMcpHandler(engine));
  const { text, isError } = await callTool(client, "history", { repository: "notes" });
  expect(isError).toBe(true);
  expect(text).toMatch(/notes .*The history is not available here/);
});

test("a hidden repository has no history", async () => {
  const folder = makeRepository(COMMITS.slice(0, 2), temporaryFolder());
  const engine = await openEngine();
  await engine.index([
    git(folder, { name: "acme/hidden" }),
    documents({ name: "open", files: [{ path: "a", content: "a" }] }),
  ]);
  const { id } = (await engine.repositories()).find(({ name }) => name === "open")!;
  const viewer = () => ({ repositoryIds: new Set([id]) });
  const client = await connected(createMcpHandler(engine, { viewer }));
  const asked = (repository: string) => callTool(client, "history", { repository });
  const hidden = await asked("acme/hidden");
  expect(hidden.isError).toBe(true);
  expect(hidden.text.replaceAll("hidden", "x")).toBe(
    (await asked("acme/nothing")).text.replaceAll("nothing", "x"),
  );
});

test("changed finds the changes that added or removed a text, in pages", async () => {
  const { client, git: run } = await shop();
  const told: string[] = [];
  let given: Record<string, unknown> = { changed: "step 1", maxTokens: 400 };
  for (;;) {
    const { text, facts } = await callTool(client, "history", given);
    expect(tokensOf(text)).toBeLessThanOrEqual(400);
    expect(text).toMatch(/^# 33 changes of acme\/shop with "step 1", newest first\./);
    told.push(...text.split("\n").filter((line) => /^(?:[0-9a-f]{10} |[+-]\d+: )/.test(line)));
    if (facts.complete) break;
    given = { cursor: facts.cursor, maxTokens: 400 };
  }
  const expected = run("log", "-Gstep 1", "-p", "-U0", FORMAT.replace("%s", "%s · src/step.ts"))
    .split("\n")
    .filter((line) => /^(?:[0-9a-f]{7,40} |[+-]step 1)/.test(line))
    .map((line) => line.replace(/^([+-])/, "$11: "));
  const shortened = (lines: string[]) =>
    lines.map((line) => line.replace(/^([0-9a-f]{7})\w* /, "$1 "));
  expect(shortened(told)).toEqual(shortened(expected));
});

test.each<[args: Record<string, unknown>, changes: number]>([
  [{ changed: "LINE SEVEN" }, 1],
  [{ changed: "line", path: "src/cart.ts" }, 2],
  [{ changed: "line", path: "README.md" }, 0],
  [{ changed: "step 119", author: "grace" }, 0],
  [{ changed: "step 119", author: "ada" }, 1],
  [{ changed: "step 3", query: "round" }, 7],
  [{ changed: "step", until: "2023-11-15T00:30:00Z" }, 1],
  [{ changed: "step", since: "2030-01-01" }, 0],
])("changed with %j finds %i changes", async (args, changes) => {
  const { client } = await shop();
  const { text } = await callTool(client, "history", args);
  expect(text).toMatch(new RegExp(`^# ${changes} changes? of acme/shop`));
});
