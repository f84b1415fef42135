/** Every way in which an answer can be partial, and the message that says so. */

import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/index.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { outline } from "../../src/mcp/outline-tool.ts";
import { read } from "../../src/mcp/read-tool.ts";
import { search } from "../../src/mcp/search-tools.ts";
import { definitions, references } from "../../src/mcp/symbol-tools.ts";
import { coreOf } from "../../src/core-of.ts";
import { EngineFacade } from "../../src/engine-facade.ts";
import type { Outcome, Tool, ToolContext } from "../../src/mcp/tool.ts";
import { openEngine, sharedEngine } from "../engine/opened.ts";
import { callTool, connected } from "./connected.ts";
import { toolContext } from "./tool-context.ts";

const FILES = Array.from({ length: 40 }, (_, i) => ({
  path: `src/file${i}.ts`,
  content: `export function order${i}() {\n  return needle(${i});\n}\n`,
}));
const SKIPPED = { path: "data.bin", content: "needle\0\0" };

const shop = sharedEngine((engine) =>
  engine.index(documents({ name: "acme/shop", files: [...FILES, SKIPPED] })),
);

const run = (tool: Tool, args: object, context: ToolContext): Promise<Outcome> =>
  tool.run(tool.input.parse(args), context);

/**
 * Returns an engine whose answers have the statistics of an engine that lacks something. The tools have no other sign
 * of that.
 */
function lacking(engine: Engine, stats: Record<string, unknown>): Engine {
  const core = coreOf(engine);
  return new EngineFacade({
    ...core,
    view(options) {
      const view = core.view(options);
      return {
        ...view,
        search: async (...asked) => {
          const response = await view.search(...asked);
          return { ...response, stats: { ...response.stats, ...stats } };
        },
      };
    },
  });
}

const TOOLS: [tool: Tool, found: object, nothing: object][] = [
  [search, { query: "needle" }, { query: "nowhere" }],
  [references, { symbol: "needle" }, { symbol: "nowhere" }],
  [definitions, { symbol: "order1" }, { symbol: "nowhere" }],
  [outline, { path: "src" }, { path: "nowhere" }],
];

const REASONS: [why: string, stats: Record<string, unknown>, words: RegExp][] = [
  [
    "time",
    { flushReason: "FLUSH_REASON_TIMER_EXPIRED", shardsSkipped: 1 },
    /INCOMPLETE: time ran out after \d+ ms/,
  ],
  ["a damaged segment", { crashes: 1 }, /INCOMPLETE: 1 part of the index is damaged/],
  ["damaged segments", { crashes: 2 }, /INCOMPLETE: 2 parts of the index are damaged and were/],
  [
    "missing symbols",
    { filesSkipped: 3 },
    /INCOMPLETE: the definitions of 3 files are not indexed/,
  ],
];

test.each(
  REASONS.flatMap(([why, stats, words]) =>
    TOOLS.flatMap(([tool, found, nothing]) => [
      { why, stats, words, tool, name: tool.name, args: found },
      { why, stats, words, tool, name: tool.name, args: nothing },
    ]),
  ),
)("$why: $name $args", async ({ stats, words, tool, args }) => {
  const engine = lacking(shop(), stats);
  const { text, facts } = await run(tool, args, toolContext(engine));
  expect(text).toMatch(words);
  expect(facts.complete).toBe(false);
});

test.each(REASONS)("a file is not said to be missing if %s", async (_, stats, words) => {
  const engine = lacking(shop(), stats);
  const asked = { file: "src/nowhere.ts" };
  await expect(run(read, asked, toolContext(engine))).rejects.toThrow(words);
  await expect(run(read, { file: "src/file1.ts" }, toolContext(engine))).resolves.toBeDefined();
});

test.each(
  TOOLS.flatMap(([tool, ...args]) => args.map((one) => ({ tool, name: tool.name, args: one }))),
)("an index behind: $name $args", async ({ tool, args }) => {
  const words = "INCOMPLETE: /srv/shop is still being indexed: new content is missing.";
  const { text, facts } = await run(tool, args, toolContext(shop(), [words]));
  expect(text).toContain(words);
  expect(facts.complete).toBe(false);
});

const NEED_SYMBOLS: [tool: string, args: Record<string, unknown>][] = [
  ["definitions", { symbol: "order1" }],
  ["definitions", { file: "src/file1.ts", line: 1 }],
  ["outline", { repository: "acme/shop" }],
  ["outline", { path: "src" }],
  ["outline", { path: "src/file1.ts" }],
  ["read", { file: "src/file1.ts", definition: "order1" }],
  ["search", { query: "sym:order1 file:file1" }],
];

test("symbols that are not indexed yet", async () => {
  const engine = await openEngine();
  await engine.index(documents({ name: "acme/shop", files: FILES }), { symbols: "skip" });
  const client = await connected(createMcpHandler(engine));
  for (const [tool, args] of NEED_SYMBOLS) {
    const { text, facts } = await callTool(client, tool, args);
    expect(text, tool).toMatch(/INCOMPLETE: the definitions of \d+ files? are not indexed yet\./);
    expect(facts?.complete ?? false).toBe(false);
  }
  const listed = await callTool(client, "repositories", {});
  expect(listed.text).toContain("definitions of 0 of 40 files are known");
});

test.each([
  ["the tools alone", (engine: Engine) => createMcpHandler(engine, { timeoutMs: 1 })],
  [
    "the mount",
    (engine: Engine) => createHandler(engine, { mcp: true, anonymous: "all", timeoutMs: 1 }),
  ],
] as const)("time that has really run out, of %s", async (_, serve) => {
  const engine = await openEngine();
  const content = "a".repeat(2 ** 20);
  const files = Array.from({ length: 60 }, (_, i) => ({
    path: `${i}.txt`,
    content: `${i}${content}`,
  }));
  await engine.index(documents({ name: "acme/large", files }), { symbols: "skip" });
  const client = await connected(serve(engine), { path: "/api/mcp" });
  const { text, facts } = await callTool(client, "search", { query: "a+[bc]d", regex: true });
  expect(text).toContain("INCOMPLETE: time ran out");
  expect(facts.complete).toBe(false);
});

test("a budget", async () => {
  const client = await connected(createMcpHandler(shop()));
  for (const [tool, args] of TOOLS.map(([{ name }, found]) => [name, found] as const)) {
    if (tool === "definitions") continue; // one definition fits
    const { text, facts } = await callTool(client, tool, { ...args, maxTokens: 200 });
    expect(text).toMatch(/Not all shown\. The next ones: cursor "\d{12}"$/);
    expect(facts).toMatchObject({ complete: false, cursor: expect.any(String) as string });
  }
  const cut = await callTool(client, "read", {
    file: "src/file1.ts",
    lines: "1-2",
    maxTokens: 200,
  });
  expect(cut.facts.complete).toBe(true);
});

test("a body that is cut, and lines of a file that are omitted", async () => {
  const engine = await openEngine();
  const body = Array.from({ length: 300 }, (_, i) => `  step${i}();\n`).join("");
  await engine.index(
    documents({ name: "r", files: [{ path: "a.ts", content: `function long() {\n${body}}\n` }] }),
  );
  const client = await connected(createMcpHandler(engine));
  const told = await callTool(client, "definitions", { symbol: "long", maxTokens: 300 });
  expect(told.text).toMatch(
    /\d+ lines of the body are left out: read takes file and definition\.$/,
  );
  expect(told.facts.complete).toBe(false);
  const read = await callTool(client, "read", { file: "a.ts", maxTokens: 300 });
  expect(read.text).toMatch(/Lines \d+ to 302 are not shown: read them with lines "\d+-302"\.$/);
  expect(read.facts.complete).toBe(false);
});

test.each(["needle", "nowhere"])("files that are not searchable: %s", async (query) => {
  const client = await connected(createMcpHandler(shop()));
  const { text } = await callTool(client, "search", { query });
  expect(text).toContain("acme/shop has files whose content is not searchable: 1 binary.");
});

test.each(["needle", "nowhere"])("repositories that are not indexed: %s", async (query) => {
  const client = await connected(createMcpHandler(shop()));
  const asked = { query: `${query} (repo:acme/shop or repo:acme/other)` };
  const { text } = await callTool(client, "search", asked);
  expect(text).toContain("acme/other is not indexed here.");
});

test("a folder that is too large to list", async () => {
  const engine = await openEngine();
  const files = Array.from({ length: 2_100 }, (_, i) => ({ path: `d${i}/f`, content: "" }));
  await engine.index(documents({ name: "many", files }), { symbols: "skip" });
  const client = await connected(createMcpHandler(engine));
  const { text, facts } = await callTool(client, "tree", { repository: "many" });
  expect(text).toContain("INCOMPLETE: only 2 000 folders were opened");
  expect(facts.complete).toBe(false);
});

test("an index that has changed between two pages", async () => {
  const engine = await openEngine();
  await engine.index(documents({ name: "acme/shop", files: FILES }));
  const client = await connected(createMcpHandler(engine));
  const first = await callTool(client, "search", { query: "needle", maxTokens: 300 });
  await engine.index(documents({ name: "acme/more", files: FILES.slice(0, 1) }));
  const next = await callTool(client, "search", { cursor: first.facts.cursor });
  expect(next.text).toContain("The index has changed since the previous page");
});

test("more definitions than an outline reads", async () => {
  const engine = lacking(shop(), { totalMatchCount: 20_001 });
  const { text, facts } = await run(outline, { path: "src" }, toolContext(engine));
  expect(text).toContain("INCOMPLETE: only 40 definitions were read: outline a folder below.");
  expect(facts.complete).toBe(false);
});

test("a list whose last shown line no longer exists when it continues", async () => {
  const engine = await openEngine();
  const paths = Array.from({ length: 100 }, (_, i) => `a-longer-name-of-a-file-${1_000 + i}.txt`);
  const index = (kept: string[]) =>
    engine.index(documents({ name: "r", files: kept.map((path) => ({ path, content: "x" })) }), {
      symbols: "skip",
    });
  await index(paths);
  const client = await connected(createMcpHandler(engine));
  const first = await callTool(client, "tree", { repository: "r", maxTokens: 300 });
  const last = first.text.split("\n").at(-2)!;
  await index(paths.filter((path) => path !== last));
  const next = await callTool(client, "tree", { cursor: first.facts.cursor, maxTokens: 4_000 });
  expect(next.text).toContain("The list has changed since the previous page");
  expect(next.facts.complete).toBe(false);
  expect(next.text).toContain(paths.at(-1));
});
