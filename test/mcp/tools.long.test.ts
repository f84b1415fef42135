/** The tools in both eras of the protocol, with the official client: budgets, pages, viewers, errors in words. */

import { expect, test } from "vitest";
import { createHandler } from "../../src/http/index.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { sharedEngine } from "../engine/opened.ts";
import { callTool, connected, tokensOf } from "./connected.ts";
import { someOf } from "../runs.ts";

const lineOf = (i: number) =>
  `  const needle${i} = await fetchOrder(${i}, { retries: ${i % 7} }); // größe 中文 ${i}`;
const FILES = Array.from({ length: 30 }, (_, i) => {
  const lines = Array.from({ length: 1 + (i % 9) * 4 }, (__, k) => lineOf(k));
  return {
    path: `src/file${i}.ts`,
    content: `export function order${i}() {\n${lines.join("\n")}\n}\n`,
  };
});
const SECRET = { path: "src/secret.ts", content: "export function order99() {} // needle\n" };

const shop = sharedEngine((engine) =>
  engine.index([
    documents({ name: "acme/shop", files: FILES }),
    documents({ name: "acme/secret", files: [SECRET] }),
  ]),
);

test.each(["2025", "2026"])("era %s: tools, an answer, an error in words", async (era) => {
  const client = await connected(createMcpHandler(shop()), { era });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).join(" ")).toBe(
    "search find_files outline definitions references read tree repositories history",
  );
  const instructions = client.getInstructions() ?? "";
  expect(tokensOf(JSON.stringify(tools)) + tokensOf(instructions)).toBeLessThanOrEqual(1_600);
  const found = await callTool(client, "definitions", { symbol: "order3" });
  expect(found.text).toContain("acme/shop:src/file3.ts:1 function order3");
  expect(found.facts).toMatchObject({ matches: 1, complete: true });
  const wrong = await callTool(client, "search", { query: "a or or b" });
  expect(wrong.isError).toBe(true);
  expect(wrong.text).toContain("does not parse at character");
});

test.each([
  ["search", { query: "needle" }],
  ["references", { symbol: "fetchOrder" }],
  ["find_files", { query: "file" }],
  ["outline", { repository: "acme/shop" }],
  ["tree", { repository: "acme/shop" }],
])("%s stays within any budget", async (name, args) => {
  const client = await connected(createMcpHandler(shop()));
  for (const maxTokens of [200, 400, 1_000, 4_000]) {
    const { text } = await callTool(client, name, { ...args, maxTokens });
    expect(tokensOf(text), text).toBeLessThanOrEqual(maxTokens);
  }
});

/** Returns each line of code in an answer, with its file. */
function told(text: string): string[] {
  let file = "";
  return text.split("\n").flatMap((one) => {
    if (/^\S+:src\//.test(one)) file = one;
    return /^\d+: /.test(one) ? [`${file} ${/^\d+/.exec(one)![0]}`] : [];
  });
}

test.each<[number[], number]>([
  [[300], 0],
  [[700], 2],
  [[2_000], 1],
  [[1_000, 200, 4_000], 0],
  [[4_000, 200, 350], 0],
  [[1_000, 200], 1],
])("pages of %j tokens with %i context lines contain every line once", async (...sizes) => {
  const [budgets, contextLines] = sizes;
  const engine = shop();
  const client = await connected(createMcpHandler(engine));
  const first = { query: "needle", maxTokens: budgets[0], contextLines };
  let answer = await callTool(client, "search", first);
  const lines = told(answer.text);
  for (let page = 1; answer.facts.cursor !== undefined; page++) {
    const maxTokens = budgets[page % budgets.length]!;
    answer = await callTool(client, "search", { cursor: answer.facts.cursor, maxTokens });
    expect(tokensOf(answer.text)).toBeLessThanOrEqual(maxTokens);
    lines.push(...told(answer.text));
  }
  const { files } = await engine.search({ query: "needle", matches: 1e6 });
  const expected = files.flatMap(({ repository, fileName, chunks }) =>
    chunks.map(({ contentStart }) => `${repository}:${fileName.text} ${contentStart.lineNumber}`),
  );
  expect(lines.toSorted()).toEqual(expected.toSorted());
  expect(answer.facts.complete).toBe(true);
});

test.each(someOf([300, 700, 1_500, 4_000], 2))(
  "%i tokens show the best line of every file before a second of any, and code only once",
  async (maxTokens) => {
    const client = await connected(createMcpHandler(shop()));
    const { text, facts } = await callTool(client, "search", { query: "needle", maxTokens });
    const best = await shop().search({ query: "needle", matches: 1e6, matchesPerFile: 1 });
    const first = best.files.map(
      ({ repository, fileName, chunks }) =>
        `${repository}:${fileName.text} ${chunks[0]!.matchRanges[0]!.start.lineNumber}`,
    );
    const lines = told(text);
    const shown = first.filter((line) => lines.includes(line));
    expect(shown).toEqual(first.slice(0, shown.length));
    if (shown.length < first.length) expect(lines.toSorted()).toEqual(shown.toSorted());
    const files = text.split("\n").filter((line) => /^acme\/\w+:/.test(line));
    expect(new Set(files).size).toBe(files.length);
    const names = ["matches", "files", "shown", "complete", "cursor"];
    expect(Object.keys(facts).filter((name) => !names.includes(name))).toEqual([]);
  },
);

test("pages of code with an open bracket contain no line twice", async () => {
  const client = await connected(createMcpHandler(shop()));
  const query = "await fetchOrder(";
  let answer = await callTool(client, "search", { query, maxTokens: 400 });
  const lines = told(answer.text);
  while (answer.facts.cursor !== undefined) {
    answer = await callTool(client, "search", { cursor: answer.facts.cursor, maxTokens: 4_000 });
    lines.push(...told(answer.text));
  }
  const { files } = await shop().search({ query, matches: 1e6 });
  const all = files.flatMap(({ repository, fileName, chunks }) =>
    chunks.flatMap(({ matchRanges }) =>
      matchRanges.map(({ start }) => `${repository}:${fileName.text} ${start.lineNumber}`),
    ),
  );
  expect(lines.toSorted()).toEqual([...new Set(all)].toSorted());
});

test.each<[string, Record<string, unknown>]>([
  ["search", { query: "needle" }],
  ["search", { query: "order99" }],
  ["search", { query: "x", repository: "acme/sec" }],
  ["definitions", { symbol: "order99" }],
  ["find_files", { query: "secret" }],
  ["repositories", {}],
  ["read", { file: "src/secret.ts" }],
])("%s %j reveals nothing of a hidden repository", async (name, args) => {
  const engine = shop();
  const { id } = (await engine.repositories()).find((one) => one.name === "acme/shop")!;
  const viewer = () => ({ repositoryIds: new Set([id]) });
  const client = await connected(createMcpHandler(engine, { viewer }));
  const { text } = await callTool(client, name, args);
  expect(text).not.toMatch(/acme\/secret|order99\(\)/);
});

test.each([
  ["path:src nowhere", "path: is a word here; did you mean file:."],
  ["nowhere OR never", "OR is a word here; write or in lower case."],
  ["nowhere AND never", "AND is a word here; a blank already means that both must be there."],
])("%s finds nothing, and suggests what was probably meant", async (query, says) => {
  const client = await connected(createMcpHandler(shop()));
  const { text, facts } = await callTool(client, "search", { query });
  expect(facts.matches).toBe(0);
  expect(text.split("\n")).toContain(`# ${says}`);
});

test("a cursor that is no longer known is rejected", async () => {
  const client = await connected(createMcpHandler(shop()));
  const { text, isError } = await callTool(client, "search", { cursor: "0123456789" });
  expect(isError).toBe(true);
  expect(text).toBe("cursor 0123456789 has expired: ask again without it");
});

test.each([
  ["http://evil.example/mcp", {}],
  ["http://localhost/mcp", { origin: "https://evil.example" }],
])("%s with %j is rejected", async (url, headers) => {
  const handler = createMcpHandler(shop());
  const response = await handler(new Request(url, { method: "POST", headers, body: "{}" }));
  expect(response.status).toBe(403);
});

test("the service mounts the tools at the configured path, behind its credentials", async () => {
  const engine = shop();
  const open = createHandler(engine, { anonymous: "all", mcp: true });
  const client = await connected(open, { path: "/api/mcp" });
  const { text } = await callTool(client, "repositories", {});
  expect(text).toContain("2 of 2 repositories.");
  const post = () => new Request("http://localhost/api/mcp", { method: "POST" });
  expect((await createHandler(engine, { anonymous: "all" })(post())).status).toBe(404);
  const closed = createHandler(engine, { authenticate: async () => undefined, mcp: true });
  expect((await closed(post())).status).toBe(401);
});
