/**
 * Fuzzes the tools of coding agents with calls of any kind, while the index changes between calls. Every call must get
 * a text answer. By two real tokenizers, no answer may exceed its budget. The structured part must match the tool's
 * schema, and nothing may reveal a hidden repository. The pages of a search must contain each of its lines once. An
 * input is a list of calls as JSON.
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Ajv, type ValidateFunction } from "ajv";
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";
import type { Engine } from "../src/engine.ts";
import { open } from "../src/opened-engine.ts";
import { documents } from "../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../src/mcp/index.ts";
import { TOOL_NAMES } from "../src/mcp/tool-names.ts";
import type { Random } from "../test/regex/random.ts";
import { holds, type Target } from "./target.ts";

interface Step {
  readonly tool?: string;
  readonly args?: Record<string, unknown>;
  /** Continues with the cursor of the tool's last answer. */
  readonly cursor?: boolean;
  /** Follows all cursors, and checks that every line occurs once. */
  readonly walk?: boolean;
  /** The budgets of the pages after the first, used in rotation. Default: the budget of the first page. */
  readonly budgets?: readonly number[];
  /** Makes the call as a user who may not see one of the repositories. */
  readonly hide?: boolean;
  /** Indexes other texts before the call. */
  readonly change?: number;
}

/** A text that occurs in the hidden repository, and in no question. */
const HIDDEN = "onlyInTheHiddenOne";

const lineOf = (file: number, i: number, state: number): string =>
  [
    `  const needle${i} = fetchOrder(${file}, ${state}); // größe 中文`,
    `export function order${i}(a, b) { return a + b * ${state}; }`,
    `${"x=needle;".repeat(40 + i)}`,
    "",
    `class Cart${file} extends Base {`,
  ][(file + i) % 5]!;

function sourcesOf(state: number) {
  const files = Array.from({ length: 12 }, (_, file) => ({
    path: `${file % 3 === 0 ? "lib/deep/er" : "src"}/file${file}.${file % 4 === 0 ? "py" : "ts"}`,
    content: Array.from({ length: 1 + ((file * 7 + state) % 23) }, (__, i) =>
      lineOf(file, i, i % 3 === 0 ? state : 0),
    ).join("\n"),
  })).filter((_, file) => (file + state) % 7 !== 0);
  const secret = {
    path: "src/file1.ts",
    content: `// ${HIDDEN}\nexport function order1() {} // needle\n`,
  };
  return [
    documents({ name: "acme/shop", files }),
    documents({ name: "acme/tools", files: files.slice(0, 2) }),
    documents({ name: "acme/hidden", files: [secret] }),
  ];
}

export async function openMcpTarget(): Promise<Target> {
  const engine = await open(mkdtempSync(join(tmpdir(), "quern-fuzz-mcp-")), { workers: 0 });
  await engine.index(sourcesOf(0));
  const ids = (await engine.repositories()).filter(({ name }) => name !== "acme/hidden");
  const repositoryIds = new Set(ids.map(({ id }) => id));
  const clients = {
    all: await connect(createMcpHandler(engine)),
    some: await connect(createMcpHandler(engine, { viewer: () => ({ repositoryIds }) })),
  };
  const { tools } = await clients.all.listTools();
  const ajv = new Ajv();
  const schemas = new Map(
    tools.map(({ name, outputSchema }) => [name, ajv.compile(outputSchema as object)]),
  );
  const counts = { calls: 0, pages: 0 };
  return {
    make,
    summary: () => `${counts.calls} calls, ${counts.pages} of them pages of walks`,
    async check(input) {
      const steps = stepsIn(input);
      if (!steps) return;
      const run = {
        engine,
        clients,
        schemas,
        repositoryIds,
        counts,
        cursors: new Map<string, string>(),
      };
      for (const step of steps) await take(step, run);
    },
  };
}

async function connect(handler: (request: Request) => Promise<Response>): Promise<Client> {
  const client = new Client({ name: "fuzz", version: "1" });
  const fetch = (url: string | URL, init?: RequestInit) => handler(new Request(url, init));
  const url = new URL("http://localhost/mcp");
  await client.connect(new StreamableHTTPClientTransport(url, { fetch }));
  return client;
}

function stepsIn(input: Buffer): Step[] | undefined {
  try {
    const steps: unknown = JSON.parse(input.toString());
    return Array.isArray(steps) ? (steps as Step[]) : undefined;
  } catch {
    return undefined;
  }
}

interface Run {
  readonly engine: Engine;
  readonly clients: { readonly all: Client; readonly some: Client };
  readonly schemas: ReadonlyMap<string, ValidateFunction>;
  readonly repositoryIds: ReadonlySet<number>;
  readonly counts: { calls: number; pages: number };
  /** The last cursor of each tool. */
  readonly cursors: Map<string, string>;
}

async function take(step: Step, run: Run): Promise<void> {
  if (typeof step?.change === "number")
    await run.engine.index(sourcesOf(Math.abs(Math.trunc(step.change)) % 50), { symbols: "after" });
  if (typeof step?.tool !== "string" || !run.schemas.has(step.tool)) return;
  const { tool, args = {} } = step;
  const cursor = step.cursor ? run.cursors.get(tool) : undefined;
  const answer = await call(
    tool,
    cursor === undefined ? args : { cursor, maxTokens: args["maxTokens"] },
    step,
    run,
  );
  if (answer.cursor !== undefined) run.cursors.set(tool, answer.cursor);
  if (step.walk && tool === "search" && answer.cursor !== undefined) await walk(answer, step, run);
}

interface Told {
  readonly text: string;
  readonly cursor?: string;
}

async function call(
  tool: string,
  args: Record<string, unknown>,
  { hide = false }: Step,
  { clients, schemas, counts }: Run,
): Promise<Told> {
  counts.calls++;
  const client = hide ? clients.some : clients.all;
  const given = JSON.parse(JSON.stringify(args)) as Record<string, unknown>;
  const result = await client.callTool({ name: tool, arguments: given });
  const [first] = result.content as { type: string; text: string }[];
  holds(first?.type === "text", `${tool} answers no text`);
  const { text } = first;
  if (hide) holds(!text.includes(HIDDEN), `${tool} shows a hidden repository: ${text}`);
  if (result.isError) return { text };
  const { maxTokens = 4_000 } = given as { maxTokens?: number };
  const tokens = Math.max(cl100k(text).length, o200k(text).length);
  holds(tokens <= maxTokens, `${tool} takes ${tokens} tokens of ${maxTokens}: ${text}`);
  const facts = result.structuredContent as { cursor?: string; complete: boolean };
  holds(
    schemas.get(tool)!(facts),
    `${tool} says ${JSON.stringify(facts)}, which is not its schema`,
  );
  holds(typeof facts.complete === "boolean", `${tool} does not say whether it is complete`);
  holds(!(facts.complete && facts.cursor !== undefined), `${tool} is complete and goes on`);
  return { text, ...(facts.cursor !== undefined && { cursor: facts.cursor }) };
}

const linesIn = (text: string): string[] => {
  let file = "";
  return text.split("\n").flatMap((line) => {
    if (/^acme\/\w+:/.test(line)) file = line;
    return /^\d+: /.test(line) ? [`${file} ${/^\d+/.exec(line)![0]}`] : [];
  });
};

async function walk(first: Told, step: Step, run: Run): Promise<void> {
  const told = linesIn(first.text);
  let cursor = first.cursor;
  for (let pages = 0; cursor !== undefined; pages++) {
    holds(pages < 2_000, "a search has no last page");
    run.counts.pages++;
    const maxTokens = step.budgets?.[pages % step.budgets.length] ?? step.args?.["maxTokens"];
    const next = await call("search", { cursor, maxTokens }, step, run);
    told.push(...linesIn(next.text));
    cursor = next.cursor;
  }
  const { files } = await run.engine.search(
    { query: String(step.args?.["query"]), matches: 1e6 },
    step.hide ? { viewer: { repositoryIds: run.repositoryIds } } : {},
  );
  const all = files.flatMap(({ repository, fileName, chunks }) =>
    chunks.flatMap(({ matchRanges }) =>
      matchRanges.map(({ start }) => `${repository}:${fileName.text} ${start.lineNumber}`),
    ),
  );
  const missing = all.filter((line) => !told.includes(line));
  holds(missing.length === 0, `pages of ${JSON.stringify(step.args)} lack ${missing.join(", ")}`);
  holds(new Set(told).size === told.length, `pages of ${JSON.stringify(step.args)} double a line`);
}

// ── calls ──

const WORDS = [
  "needle",
  "order1",
  "order",
  "fetchOrder",
  "Cart3",
  "中文",
  "größe",
  "x",
  "nothing",
  "Base",
];
const PATHS = [
  "src",
  "lib/deep",
  "file1.ts",
  "src/file1.ts",
  "*.py",
  "**/file*",
  "acme/shop:src",
  "",
  ".",
  "[",
  "a:b:c",
];
const NAMES = ["acme/shop", "acme/hidden", "shop", "acme/tools", "nope", ""];
const QUERIES = [
  "needle or order",
  "sym:order",
  "(needle",
  "a or or b",
  "file:ts needle",
  "-needle",
  "repo:acme/nope x",
  "lang:ts",
  "rev:HEAD needle",
  "\\bneedle\\d+\\b",
  "rg -n needle",
  "*.ts",
];

function make(random: Random): Buffer {
  const pick = <T>(values: readonly T[]): T => values[random(values.length)]!;
  const maybe = <T>(part: number, value: () => T): T | undefined =>
    random(part) === 0 ? value() : undefined;
  const args = () => ({
    query: maybe(2, () => pick([...WORDS, ...QUERIES, ...PATHS])),
    regex: maybe(4, () => random(2) === 0),
    case: maybe(4, () => random(2) === 0),
    symbol: maybe(2, () => pick(WORDS)),
    file: maybe(2, () => pick(PATHS)),
    line: maybe(3, () => random(30)),
    lines: maybe(3, () => pick(["3", "2-", "2-9", "900", "x"])),
    definition: maybe(5, () => pick(WORDS)),
    repository: maybe(3, () => pick(NAMES)),
    path: maybe(3, () => pick(PATHS)),
    language: maybe(6, () => pick(["TypeScript", "python", "klingon"])),
    revision: maybe(9, () => pick(["HEAD", "nope", "-x"])),
    contextLines: maybe(4, () => random(60)),
    depth: maybe(4, () => random(25)),
    diff: maybe(9, () => pick(["HEAD", "a..b"])),
    maxTokens: maybe(2, () => pick([200, 201, 300, 1_000, 25_000, 150, 200 + random(900)])),
    cursor: maybe(20, () => pick(["", "123456789012"])),
  });
  const step = (): Step => ({
    tool: random(3) === 0 ? "search" : pick(TOOL_NAMES),
    args: args(),
    cursor: random(3) === 0,
    hide: random(2) === 0,
    ...(random(12) === 0 && { change: random(50) }),
  });
  const walking = (): Step => ({
    tool: "search",
    args: { query: pick(WORDS), maxTokens: pick([200, 350, 900]), contextLines: random(4) },
    hide: random(2) === 0,
    walk: true,
    ...(random(2) === 0 && { budgets: [pick([200, 900, 4_000]), 200 + random(900)] }),
  });
  const steps = Array.from({ length: 1 + random(8) }, () =>
    random(15) === 0 ? walking() : step(),
  );
  return Buffer.from(JSON.stringify(steps));
}
