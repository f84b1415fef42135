/** Nodes that die during a stream: a replica takes over only if the node has not yet delivered a file. */

import { expect } from "vitest";
import type { ClusterEngine } from "../../src/cluster/index.ts";
import { openFront, startNodes } from "./fronts.ts";
import { newCluster, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const FILES = 100;

/** Starts two nodes with the same slice, whose stream has several frames of files. */
async function filled() {
  const cluster = await newCluster({ onWarning: () => undefined });
  const nodes = await startNodes(cluster, 2);
  const front = await openFront(cluster);
  await front.index(shop("shop", ...Array.from({ length: FILES }, (_, n) => `needle ${n}\n`)));
  const ready = async () => (await front.status()).nodes.map((one) => one.ready);
  await expect.poll(ready).toEqual([1, 1]);
  await front.refresh();
  const asked = () => nodes.filter((node) => node.asked.has("/v1/stream"));
  return { nodes, front, asked };
}

async function streamed(front: ClusterEngine) {
  const paths: string[] = [];
  for await (const event of front.stream({ query: "needle", matches: 1000 })) {
    if (event.type === "chunk") paths.push(...event.files.map(({ fileName }) => fileName.text));
    else
      return { paths, crashes: event.accumulatedStats.crashes, isWhole: event.isSearchExhaustive };
  }
  throw new Error("a stream without an end");
}

test("before it has delivered a file: its replica streams everything", async () => {
  const { nodes, front, asked } = await filled();
  await streamed(front);
  const [first] = asked();
  nodes.forEach((node) => node.asked.clear());
  first!.streamFrames = 0;
  const { paths, ...end } = await streamed(front);
  expect(end).toEqual({ crashes: 0, isWhole: true });
  expect([paths.length, new Set(paths).size]).toEqual([FILES, FILES]);
  expect(asked()).toHaveLength(2);
});

test("after it has delivered files: its slice is a crash, and no file comes twice", async () => {
  const { nodes, front, asked } = await filled();
  nodes.forEach((node) => (node.streamFrames = 1));
  const { paths, ...end } = await streamed(front);
  expect(end).toEqual({ crashes: 1, isWhole: false });
  expect(new Set(paths).size).toBe(paths.length);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.length).toBeLessThan(FILES);
  expect(asked()).toHaveLength(1);
});
