/**
 * The session of editor.ts through the Model Context Protocol: a program that edits a folder and asks
 * `quern mcp` about it. Nothing tells the server what was written; each answer is of the disk as it is.
 *
 *     npx tsx examples/agent-session.ts ~/projects/shop "discount" npx quern
 *
 *     open src/cart.ts      the file that is edited from now on
 *     type discount         types at its end; each key is written, and followed by a search
 *     close                 the file is as it was when it was opened
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [, , folder = ".", query = "todo", command = "npx", ...args] = process.argv;

const client = new Client({ name: "agent-session", version: "1" });
await client.connect(new StdioClientTransport({ command, args: [...args, "mcp", folder] }));

/** How often the query is found now. While the folder is read for the first time, the tool says so. */
async function find(): Promise<string> {
  const { structuredContent } = await client.callTool({ name: "search", arguments: { query } });
  const { matches, complete } = structuredContent as { matches: number; complete: boolean };
  return complete ? `${matches} matches` : find();
}

interface Opened {
  readonly path: string;
  readonly before: string;
  text: string;
}

let opened: Opened | undefined;

async function openFile(path: string): Promise<string> {
  const text = await readFile(join(folder, path), "utf8");
  opened = { path, before: text, text };
  return `${path}: ${text.length} characters`;
}

async function type(keys: string): Promise<string> {
  let found = "";
  for (const key of keys) {
    await writeFile(join(folder, file().path), (file().text += key));
    found = await find();
  }
  return found;
}

async function close(): Promise<string> {
  await writeFile(join(folder, file().path), file().before);
  opened = undefined;
  return find();
}

function file(): Opened {
  if (opened === undefined) throw new Error("open a file first");
  return opened;
}

try {
  console.log(await find());
  for await (const line of createInterface({ input: process.stdin })) {
    const [, order, rest = ""] = /^(\w+) ?(.*)$/.exec(line) ?? [];
    if (order === "open") console.log(await openFile(rest));
    else if (order === "type") console.log(await type(rest));
    else if (order === "close") console.log(await close());
    else console.error("open PATH, type TEXT, close");
  }
} finally {
  await client.close();
}
