/** Coding agents get the same answers from a front over nodes as from one engine with the same content. */

import { expect } from "vitest";
import type { ClusterEngine } from "../../src/cluster/index.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { callTool, connected } from "../mcp/connected.ts";
import { openFront, startNodes } from "./fronts.ts";
import { code, newCluster } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const CALLS: readonly [tool: string, args: Record<string, unknown>][] = [
  ["search", { query: "needle" }],
  ["search", { query: "needle", repository: "acme/shop", contextLines: 2 }],
  ["search", { query: "nedle" }],
  ["find_files", { query: "file1" }],
  ["outline", { repository: "acme/shop" }],
  ["outline", { path: "acme/shop:src/file1.ts" }],
  ["definitions", { symbol: "needle3" }],
  ["references", { symbol: "needle0" }],
  ["read", { path: "acme/shop:src/file2.ts" }],
  ["read", { path: "acme/shop:src/none.ts" }],
  ["tree", { repository: "acme/shop" }],
  ["repositories", {}],
];

test("each tool answers as over one engine", async () => {
  const cluster = await newCluster({ shardBytes: 40, replicas: 1 });
  const nodes = await startNodes(cluster, 2);
  const front = await openFront(cluster);
  const one = (n: number) => `export function needle${n}() {\n  needle0();\n}\n`;
  await front.index(code("acme/shop", one(0), one(1)));
  await front.index(code("acme/shop", one(0), one(1), one(2), one(3)));
  await front.index(code("acme/other", one(4)));
  const whole = await cluster.open();
  const answers = async (engine: ClusterEngine) => {
    const client = await connected(createMcpHandler(engine));
    const given: unknown[] = [];
    for (const [tool, args] of CALLS) given.push(await callTool(client, tool, args));
    return given;
  };
  const expected = await answers(whole);
  expect(expected).toContainEqual(expect.objectContaining({ isError: true }));
  expect(await answers(front)).toEqual(expected);
  expect(nodes.filter(({ asked }) => asked.has("/v1/search"))).toHaveLength(2);
});
