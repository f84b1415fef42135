/**
 * Measures the figures of docs/agents.md: how soon `quern mcp FOLDER` answers after its start, without an index and
 * with one, and how much longer a tool call takes than the engine alone.
 *
 *     npm run build && npx tsx scripts/agent-figures.ts FOLDER --symbol NAME [--db DIR]
 *
 * With `--db`, an existing index of FOLDER, measures only what needs an index. The ignore rules of FOLDER apply, so
 * nothing is found in a folder that a .gitignore excludes. Processor time is that of all threads of the server.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { open } from "../src/opened-engine.ts";
import { findFiles, search } from "../src/mcp/search-tools.ts";
import { definitions, references } from "../src/mcp/symbol-tools.ts";
import type { Facts, Tool } from "../src/mcp/tool.ts";
import { toolContext } from "../test/mcp/tool-context.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    symbol: { type: "string", default: "main" },
    rounds: { type: "string", default: "100" },
    db: { type: "string" },
  },
});
const folder = resolve(positionals[0] ?? ".");
const { symbol } = values;
const home = mkdtempSync(join(tmpdir(), "quern-figures-"));
const db = values.db ?? join(home, "index");

interface Started {
  readonly client: Client;
  readonly began: number;
  readonly pid: number;
}

async function started(): Promise<Started> {
  const began = performance.now();
  const client = new Client(
    { name: "figures", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  );
  const args = [resolve("dist/cli.js"), "mcp", folder, "--db", db];
  const transport = new StdioClientTransport({ command: process.execPath, args });
  await client.connect(transport);
  return { client, began, pid: transport.pid! };
}

const ask = async (client: Client): Promise<string> => {
  const result = await client.callTool({ name: "search", arguments: { query: symbol } });
  return (result.content as { text: string }[])[0]!.text;
};

const MS_PER_TICK = 10;

/** Formats the time since the start, and the processor time if the system reports it. */
function since({ began, pid }: Started): string {
  const ms = Math.round(performance.now() - began);
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return `${ms} ms`;
  const fields = readFileSync(file, "utf8").split(") ")[1]!.split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return `${ms} ms (${ticks * MS_PER_TICK} of processor time)`;
}

async function firstAnswer(what: string): Promise<void> {
  const server = await started();
  const { client } = server;
  const text = await ask(client);
  const lines = text.split("\n").filter((line) => /INCOMPLETE|found|match/.test(line));
  console.log(`${what}: first answer after ${since(server)}: ${lines.slice(0, 2).join(" ")}`);
  while (/still being indexed/.test(await ask(client)))
    await new Promise((next) => setTimeout(next, 500));
  console.log(`${what}: all of it is read after ${since(server)}`);
  await client.close();
}

const median = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1]!;

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** Measures how much longer tools take than the engine alone. */
async function overhead(): Promise<void> {
  await using engine = await open(db, { readOnly: true });
  const context = toolContext(engine);
  const spent = { engine: 0, calls: 0 };
  const counted = new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        const began = performance.now();
        const result: unknown = await (value as (...given: unknown[]) => unknown).apply(
          target,
          args,
        );
        spent.engine += performance.now() - began;
        spent.calls++;
        return result;
      };
    },
  });
  const asked: [Tool, Record<string, unknown>][] = [
    [search, { query: symbol }],
    [references, { symbol }],
    [definitions, { symbol }],
    [findFiles, { query: symbol.slice(0, 3) }],
  ];
  for (const [tool, given] of asked) {
    const args = tool.input.parse(given);
    const own: number[] = [];
    const whole: number[] = [];
    let facts = {};
    for (let round = 0; round < Number(values.rounds); round++) {
      spent.engine = spent.calls = 0;
      const took = await timed(async () => {
        ({ facts } = await tool.run(args, { ...context, engine: counted }));
      });
      whole.push(took);
      own.push(took - spent.engine);
    }
    const { matches = 0, shown } = facts as Facts;
    console.log(
      `${tool.name}: ${shown} of ${matches} in ${median(whole).toFixed(2)} ms, ${median(own).toFixed(2)} ms of it beyond ${spent.calls} calls of the engine (medians of ${values.rounds})`,
    );
  }
}

try {
  if (values.db === undefined) await firstAnswer("without an index");
  await firstAnswer("with an index");
  await overhead();
} finally {
  rmSync(home, { recursive: true, force: true });
}
