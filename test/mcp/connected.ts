/** The official client of the Model Context Protocol, connected to a handler in this process. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { onTestFinished } from "vitest";

type Handler = (request: Request) => Promise<Response>;

/**
 * Connects a client. With the `era` "2025", it performs the handshake. With "2026", it asks the server for its
 * versions.
 */
export async function connected(
  handler: Handler,
  { era = "2026", path = "/mcp" }: { era?: string; path?: string } = {},
): Promise<Client> {
  const options = era === "2026" ? { versionNegotiation: { mode: "auto" as const } } : {};
  const client = new Client({ name: "test", version: "1" }, options);
  const fetch = (url: string | URL, init?: RequestInit) => handler(new Request(url, init));
  const url = new URL(`http://localhost${path}`);
  await client.connect(new StreamableHTTPClientTransport(url, { fetch }));
  onTestFinished(() => client.close());
  return client;
}

export interface ToolAnswer {
  readonly text: string;
  readonly facts: {
    matches?: number;
    files?: number;
    shown: number;
    complete: boolean;
    cursor?: string;
  };
  readonly isError: boolean;
}

export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<ToolAnswer> {
  const result = await client.callTool({ name, arguments: args });
  const [first] = result.content as { text: string }[];
  const facts = result.structuredContent as ToolAnswer["facts"];
  return { text: first!.text, facts, isError: result.isError === true };
}

/** Returns the number of tokens: the larger count of two real tokenizers. */
export const tokensOf = (text: string): number => Math.max(cl100k(text).length, o200k(text).length);
