/**
 * How long a stranger blocks the caller's thread: by his arguments, each text that a tool takes, as long and as unusual
 * as possible; and by his files, which somebody else's agent reads.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import { watchStalls } from "../../bench/stall.ts";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/handler.ts";
import { TOOLS } from "../../src/mcp/server.ts";
import { tellFigure } from "../figures.ts";
import { callTool, connected } from "../mcp/connected.ts";
import { someOf } from "../runs.ts";
import { SLOWNESS } from "../slowness.ts";

const textsOf = (filled: (piece: string) => string): [what: string, text: string][] => [
  ["letters", filled("ab")],
  ["words", filled("a b ")],
  ["slashes", filled("/")],
  ["colons", filled(":")],
  ["parts", filled("a/")],
  ["open brackets", filled("[")],
  ["open braces", filled("{a,")],
  ["open parentheses", filled("(")],
  ["stars", filled("*")],
  ["stars and slashes", filled("**/")],
  ["question marks", filled("?a")],
  ["backslashes", filled("\\")],
  ["quotes", filled('"')],
  ["digits", filled("9")],
  ["dots", filled("../")],
  ["blanks", `a${filled(" ").slice(2)}b`],
  ["line ends", filled("\n")],
  ["halves of characters", filled("\ud800")],
  ["zeros", filled("\0")],
  ["revisions", filled("HEAD~")],
  ["names of languages", filled("pythn")],
];

/**
 * Returns texts as long as the argument may be, and one that is longer. All are for queries. Paths and names are read
 * by the same code in each tool, so each of these arguments has a third of the texts, unless QUERN_RUNS asks for more.
 */
const textsFor = (field: string, n: number) => {
  const length = field === "query" ? 10_000 : 4_096;
  const own = textsOf((piece) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length));
  const all = [...own, ["too long", "[".repeat(100_000)] as const];
  return field === "query" ? all : someOf(all, 3, n);
};

/** The arguments that each tool needs before it examines others. A new tool needs a row. */
const BASES: Record<string, Record<string, unknown>> = {
  search: { query: "needle" },
  find_files: { query: "a" },
  outline: { path: "src" },
  definitions: { symbol: "needle" },
  references: { symbol: "needle" },
  read: { file: "src/a0.ts" },
  tree: { repository: "r/0" },
  repositories: {},
  history: { repository: "r/0" },
};

const isText = (schema: z.ZodType): boolean =>
  schema.safeParse("text").success && !schema.safeParse(1.5).success;

const CASES = TOOLS.flatMap(({ name, input }) =>
  Object.entries(input.shape as Record<string, z.ZodType>)
    .filter(([, schema]) => isText(schema))
    .map(([field]) => [name, field] as const),
).map(([name, field], n) => [name, field, n] as const);

const BYTES = 2 * 2 ** 20;
const filled = (piece: string) => piece.repeat(Math.floor(BYTES / piece.length));
const FILES: Record<string, string> = {
  "same.js": filled("function same(){}\n"),
  "line.js": filled("function inLine(){}"),
  "open.js": filled("function open(){} // (\n"), // each body goes on to the end of the file
  "lines.txt": filled("\n"),
  "uses.txt": filled("use it\n"),
};
/** Calls of agents that read these files. */
const READ: [name: string, args: Record<string, unknown>][] = [
  ["definitions", { symbol: "same" }],
  ["definitions", { symbol: "inLine" }],
  ["definitions", { symbol: "open" }],
  ["outline", { repository: "hostile", path: "same.js" }],
  ["outline", { repository: "hostile", path: "line.js" }],
  ["read", { repository: "hostile", file: "lines.txt" }],
  ["read", { repository: "hostile", file: "lines.txt", lines: "1000000-" }],
  ["read", { repository: "hostile", file: "line.js" }],
  ["read", { repository: "hostile", file: "open.js", definition: "open" }],
  ["references", { symbol: "use" }],
  ["references", { file: "hostile:uses.txt", line: 100_000 }],
  ["search", { query: "use" }],
];

const path = mkdtempSync(join(tmpdir(), "quern-agents-"));
let engine: Engine;
afterAll(async () => {
  await engine.close();
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
});
beforeAll(async () => {
  engine = await open(path, { workers: 1 });
  const sources = Array.from({ length: 300 }, (_, i) =>
    documents({
      name: `r/${i}`,
      files: [{ path: `src/a${i}.ts`, content: `export function needle() {}\n` }],
    }),
  );
  await engine.index(sources, { symbols: "skip" });
  const files = Object.entries(FILES).map(([name, content]) => ({ path: name, content }));
  await engine.index(documents({ name: "hostile", files }));
});

/** The limit of milliseconds of processor time in one turn, including the client's part. The documented limit is 5. */
const MOST_MS = 12 * SLOWNESS;
const TRIES = 3;
/** The maximum number of characters of an answer. Every answer is short, whatever the request is. */
const MOST_ANSWER = 20_000; // 4 000 tokens

test("every tool that takes a text is attacked", () => {
  const names = TOOLS.map(({ name }) => name);
  expect(Object.keys(BASES).toSorted()).toEqual(names.toSorted());
  expect([...new Set(CASES.map(([name]) => name))].toSorted()).toEqual(names.toSorted());
});

test.each(someOf(CASES, 3))("%s: %s", async (name, field, n) => {
  const client = await connected(createMcpHandler(engine, { timeoutMs: 500 }));
  let turn = Infinity;
  for (let left = TRIES; left > 0 && turn > MOST_MS; left--) {
    const stalls = watchStalls();
    for (const [what, text] of textsFor(field, n)) {
      const { text: told } = await callTool(client, name, { ...BASES[name], [field]: text });
      expect(told.length, what).toBeLessThan(MOST_ANSWER);
    }
    turn = Math.min(turn, (await stalls()).ownMs);
  }
  tellFigure(`${name} ${field}: ${turn.toFixed(1)} ms`);
  expect(turn).toBeLessThan(MOST_MS);
});

test.each(someOf(READ, 3))("%s of a hostile file: %j", async (name, args) => {
  const client = await connected(createMcpHandler(engine, { timeoutMs: 2_000 }));
  let turn = Infinity;
  for (let left = TRIES; left > 0 && turn > MOST_MS; left--) {
    const stalls = watchStalls();
    const { text: told } = await callTool(client, name, args);
    expect(told).not.toBe("");
    expect(told.length).toBeLessThan(MOST_ANSWER);
    turn = Math.min(turn, (await stalls()).ownMs);
  }
  tellFigure(`${name} ${JSON.stringify(args)}: ${turn.toFixed(1)} ms`);
  expect(turn).toBeLessThan(MOST_MS);
});
