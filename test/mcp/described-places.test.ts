/** A search in words that no file has together leads with the places that the words describe. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { sharedEngine } from "../engine/opened.ts";
import { callTool, connected, tokensOf } from "./connected.ts";

const shop = sharedEngine((engine) =>
  engine.index([
    documents({
      name: "acme/shop",
      files: [
        { path: "src/retry.ts", content: "export function delayAfter(attempt: number) {}\n" },
        { path: "src/cart.ts", content: "export class Cart {}\n" },
      ],
    }),
    documents({
      name: "acme/secret",
      files: [{ path: "src/delay.ts", content: "export function retryDelay() {}\n" }],
    }),
  ]),
);

const ask = async (args: Record<string, unknown>, isLimited = true) => {
  const id = (await shop().repository("acme/shop"))!.id;
  const viewer = () => ({ repositoryIds: new Set([id]) });
  const handler = createMcpHandler(shop(), isLimited ? { viewer } : {});
  return (await callTool(await connected(handler), "search", args)).text;
};

test("the best places come first, and only those that the viewer may see", async () => {
  const text = await ask({ query: "where is the retry delay computed" });
  expect(text).toMatch(
    /^# Nothing found\.\n# Best places for this description, a choice and not all matches:\n {2}acme\/shop:src\/retry\.ts:1-1 function delayAfter$/m,
  );
  expect(text).not.toContain("acme/secret");
  expect(await ask({ query: "where is the retry delay computed" }, false)).toContain(
    "acme/secret:src/delay.ts:1-1 function retryDelay",
  );
});

test.each([
  ["one word", { query: "zyzzyva" }],
  ["a filter", { query: "retry lang:cobol" }],
  ["an expression", { query: "retry delay nothing", regex: true }],
  ["operators", { query: "(retry or delay) zyzzyva" }],
])("%s describes nothing", async (_, args) => {
  expect(await ask(args)).not.toContain("Best places");
});

test("filters of the call hold for the places, too", async () => {
  const text = await ask({ query: "where is the retry delay computed", path: "cart" });
  expect(text).not.toContain("retry.ts");
});

test("the answer keeps its budget", async () => {
  const text = await ask({ query: "where is the retry delay computed", maxTokens: 200 });
  expect(tokensOf(text)).toBeLessThanOrEqual(200);
});
