/** Names so long that those of one answer have more characters than an expression may have. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { alternations } from "../../src/mcp/alternations.ts";
import { createMcpHandler } from "../../src/mcp/handler.ts";
import { sharedEngine } from "../engine/opened.ts";
import { callTool, connected } from "./connected.ts";

const FILES = 120;
const name = (n: number): string =>
  `verify_that_${"the_name_of_a_test_is_a_sentence_".repeat(2)}${n}`;
const folder = `tests/${"a-folder-with-a-long-name/".repeat(25)}`;

const long = sharedEngine((engine) => {
  const files = Array.from({ length: FILES }, (_, n) => ({
    path: `${folder}file-${n}.py`,
    content: `def ${name(n)}():\n    return common_part\n`,
  }));
  return engine.index(documents({ name: "acme/long", files }));
});

test("a map of a folder names the definitions of its files", async () => {
  const client = await connected(createMcpHandler(long()));
  const { text, isError } = await callTool(client, "outline", {
    path: folder,
    maxTokens: 25_000,
  });
  expect(isError, text).toBe(false);
  expect(text).toContain(`${FILES} definitions in ${FILES} files.`);
  const lines = text.match(/file-(\d+)\.py: verify_that_\S*_\1$/gm) ?? [];
  expect(lines.length).toBeGreaterThan(60);
});

test("matches name their definitions, in as many files as there is room for", async () => {
  const client = await connected(createMcpHandler(long()));
  const args = { query: "common_part", maxTokens: 25_000 };
  const { text, isError } = await callTool(client, "search", args);
  expect(isError, text).toBe(false);
  expect(text.match(/ {2}\[in verify_that_/g)!.length).toBeGreaterThan(60);
});

test("all names are put into texts that expressions can have", () => {
  const names = Array.from({ length: 500 }, (_, n) => `${name(n)}.$`);
  const texts = alternations(names);
  expect(texts.join("|")).toBe(names.map((one) => one.replace(/[.$]/g, "\\$&")).join("|"));
  expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(8_000);
  expect(texts.length).toBeLessThan(10);
  expect(alternations([])).toEqual([]);
});
