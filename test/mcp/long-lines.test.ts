/** Answers about lines with very many matches: each line is shown once, and no call searches without end. */

import { expect, test, vi } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { MOST_PAGES } from "../../src/mcp/match-pages.ts";
import { openEngine } from "../engine/opened.ts";
import { callTool, connected } from "./connected.ts";

/** Calls the tool and follows its cursors. Resolves to the shown lines, and to the searches of each call. */
async function walk(contents: Record<string, string>, maxTokens: number) {
  const engine = await openEngine({ workers: 0 });
  const files = Object.entries(contents).map(([path, content]) => ({ path, content }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const search = vi.spyOn(engine, "search");
  const client = await connected(createMcpHandler(engine));
  const lines: string[] = [];
  const searches: number[] = [];
  let args: Record<string, unknown> = { query: "i", maxTokens };
  for (let isLast = false; !isLast;) {
    search.mockClear();
    const { text, facts } = await callTool(client, "search", args);
    searches.push(search.mock.calls.length);
    let path = "";
    for (const line of text.split("\n")) {
      if (line.startsWith("r:")) path = line;
      const number = /^(\d+): /.exec(line)?.[1];
      if (number !== undefined) lines.push(`${path} ${number}`);
    }
    isLast = facts?.cursor === undefined;
    expect(facts?.complete).toBe(isLast);
    args = { cursor: facts?.cursor, maxTokens };
  }
  return { lines: lines.sort(), searches };
}

test("a line with a hundred thousand matches takes only a few pages", async () => {
  const minified = `${"i ".repeat(100_000)}\n`;
  const contents = { a: `${minified}i\n`, b: `i\n${minified}` };
  const { lines, searches } = await walk(contents, 4_000);
  expect(lines).toEqual(["r:a 1", "r:a 2", "r:b 1", "r:b 2"]);
  expect(Math.max(...searches)).toBeLessThan(2 * MOST_PAGES);
});

test("many lines with many matches end an answer before it is full", async () => {
  const contents = { a: `${"i ".repeat(200)}\n`.repeat(30) };
  const { lines, searches } = await walk(contents, 1_000);
  expect(lines).toHaveLength(30);
  expect(new Set(lines).size).toBe(30);
  expect(Math.max(...searches)).toBeGreaterThan(MOST_PAGES - 1);
  expect(Math.max(...searches)).toBeLessThan(2 * MOST_PAGES);
});
