/**
 * What an answer says about next steps, and about what it cannot know. A model knows nothing but the words of the
 * answer.
 */

import { expect, test } from "vitest";
import { git } from "../../src/ingest/sources/git.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { sharedEngine } from "../engine/opened.ts";
import { makeClone } from "../http/git-clone.ts";
import { callTool, connected, tokensOf } from "./connected.ts";

const TREE = `package tree

type node struct {
	path string
}

func longest() int { return 1 }

func (n *node) addRoute(path string) {
	n.path = path
walk:
	for {
		return
	}
}

type leaf struct{}

func (l leaf) addRoute(path string) {}
`;
const LONG = Array.from({ length: 12_345 }, (_, i) => `line ${i}`).join("\n");

const forest = sharedEngine((engine) =>
  engine.index([
    documents({
      name: "acme/forest",
      files: [
        { path: "tree.go", content: TREE },
        { path: "a/app.py", content: "def url_for(\n    name,\n) -> str:\n    return name\n" },
        { path: "b/app.py", content: "x = 1\n" },
        { path: "long.txt", content: LONG },
        { path: "logo.png", content: "\0\0" },
      ],
    }),
    documents({ name: "acme/other", files: [{ path: "tree.go", content: "package tree\n" }] }),
  ]),
);

const ask = async (tool: string, args: Record<string, unknown>) =>
  callTool(await connected(createMcpHandler(forest())), tool, args);

const ROWS: readonly (readonly [tool: string, args: Record<string, unknown>, words: RegExp])[] = [
  ["definitions", { symbol: "url_for" }, /\n4: {5}return name$/],
  ["read", { file: "a/app.py", definition: "url_for" }, /\n4: {5}return name$/],
  ["read", { path: "a/app.py", definition: "url_for" }, /\n4: {5}return name$/],
  ["read", { file: "a/app.py", lines: "all" }, /lines must be like "40-80", "40-" or "40"/],
  ["read", { file: "a/app.py", lines: "20-10" }, /lines must be "10-20", not "20-10"/],
  [
    "read",
    { file: "acme/forest:tree.go", definition: "node.addRoute" },
    /, 19 lines\n9: .*\n15: }$/s,
  ],
  ["read", { file: "acme/forest:tree.go", definition: "leaf.addRoute" }, /, 19 lines\n19: .*$/],
  [
    "read",
    { file: "acme/forest:tree.go", definition: "addRoute" },
    /The first of 2 definitions of addRoute; others in lines 19\.\n9: /,
  ],
  [
    "definitions",
    { symbol: "leaf.addRoute" },
    /1 of these is in leaf, listed first\.\nacme\/forest:tree\.go:19 /,
  ],
  [
    "definitions",
    { symbol: "bush.addRoute" },
    /None of these is in bush itself: it may inherit one\./,
  ],
  [
    "definitions",
    { symbol: "node::addRoute" },
    /1 of these is in node, listed first\.\nacme\/forest:tree\.go:9 /,
  ],
  ["definitions", { symbol: "adRoute" }, /No definition of adRoute\.\n# Near names: addRoute\n/],
  ["references", { symbol: "adRoute" }, /No line names adRoute\.\n# Near names: addRoute\n/],
  [
    "references",
    { symbol: "adRoute" },
    /content is not searchable: 1 binary\.\n# Matched whole words/,
  ],
  ["references", { symbol: "adRoute", path: "nowhere" }, /No indexed file matches these filters\./],
  [
    "references",
    { symbol: "leaf.addRoute" },
    /^# A line may mean another addRoute than that of leaf\.$/m,
  ],
  [
    "outline",
    { path: "acme/forest:tree.go" },
    /^3 struct node\n  4 field path\n7 function longest\n9 method node\.addRoute$/m,
  ],
  [
    "read",
    { file: "app.py" },
    /could be any of: acme\/forest:a\/app\.py, acme\/forest:b\/app\.py\. Give one of these as file\.$/,
  ],
  [
    "read",
    { file: "long.txt", lines: "12000-", maxTokens: 1_000 },
    /Lines \d+ to 12345 are not shown: read them with lines "\d+-12345"\.$/,
  ],
  [
    "find_files",
    { query: "a/ap.py" },
    /^# No file found\.\n# Near names: acme\/forest:a\/app\.py\n/,
  ],
  [
    "find_files",
    { query: "elsewhere/app.py" },
    /^# No file found\.\n# Near names: acme\/forest:a\/app\.py, acme\/forest:b\/app\.py\n# Files and values/,
  ],
  ["find_files", { query: "lgtx" }, /^# No file found\.\n# Near names: acme\/forest:long\.txt\n/],
  ["find_files", { query: "lnog.t[a-y]t" }, /^# No file found\.\n# Files and values [^\n]*$/],
  [
    "search",
    { query: "func (n *node) addRoute(", path: "tree.go" },
    /\n9: func \(n \*node\) addRoute\(path string\) {\n/,
  ],
  ["search", { query: "longest() int {", language: "go" }, /\n7: func longest\(\) int/],
  ["search", { query: "longest()) or (n", path: "tree.go" }, /\n9: func \(n \*node\)/],
  ["search", { query: "(node or leaf) path", path: "tree.go" }, /\n9: func \(n \*node\)/],
  [
    "find_files",
    { query: "lnog.txt" },
    /^# No file found\.\n# Near names: acme\/forest:long\.txt\n/,
  ],
  [
    "find_files",
    { query: "zzzzzz" },
    /^# No file found\.\n# Files and values that look like secrets are hidden\.$/,
  ],
  ["find_files", { query: "zzzzzz repo:acme/none" }, /^# No file found\./],
  [
    "definitions",
    { file: "acme/forest:tree.go", line: 9 },
    /^# Line 9 names func, n, node, addRoute, path, string\.$/m,
  ],
  [
    "references",
    { file: "acme/forest:tree.go", line: 9 },
    /^# Line 9 names node, addRoute, path\.$/m,
  ],
  [
    "search",
    { query: "rg -n longest tree" },
    /This looks like a shell command: give the words alone, and filters as arguments\./,
  ],
  [
    "search",
    { query: "src/**/none" },
    /This looks like a glob of paths: use find_files, or the argument path\./,
  ],
  ["search", { query: "zz\\d+none" }, /This looks like a regular expression: set regex: true\./],
  [
    "search",
    { query: "x", repository: "zzz" },
    /there is no repository "zzz" here\. 2 repositories are indexed, such as acme\/forest, acme\/other\.$/,
  ],
];

test.each(ROWS)("%s %j", async (tool, args, words) => {
  const { text } = await ask(tool, args);
  expect(text).toMatch(words);
});

test("clauses that apply to each file come last in a line", async () => {
  const { text } = await ask("definitions", { symbol: "tree" });
  expect(text.match(/package tree/g)).toHaveLength(4); // two titles, two lines
  const both = await ask("definitions", { file: "acme/forest:tree.go", line: 9 });
  expect(both.text).toMatch(/:3 struct node/);
});

test("the message about omissions fits into any budget", async () => {
  for (let maxTokens = 200; maxTokens < 260; maxTokens++) {
    const { text } = await ask("read", { file: "long.txt", lines: "9000-", maxTokens });
    expect(text).toMatch(/read them with lines "\d+-12345"\.$/);
    expect(tokensOf(text)).toBeLessThanOrEqual(maxTokens);
  }
});

const history = sharedEngine((engine) =>
  engine.index(git(makeClone({ "a.ts": "one\ntwo\n" }).folder, { name: "acme/cloned" })),
);

test.each([
  [
    { since: "2999-01-01" },
    /No matching commit[^\n]*\.\n# Without filters there are \d+; the newest:\n[0-9a-f]{10} /,
  ],
  [
    { author: "nobody", path: "a.ts" },
    /No matching commit[^\n]*\.\n# Without filters there are \d+; the newest:\n/,
  ],
  [{ path: "b.ts" }, /No matching commit[^\n]*\.\n# No commit touches the path at all\.$/],
])("history of none: %j", async (args, words) => {
  const client = await connected(createMcpHandler(history()));
  const { text } = await callTool(client, "history", args);
  expect(text).toMatch(words);
});
