/** Nodes that die during a stream: a replica takes over only if the node has not yet delivered a file. */

import { expect } from "vitest";
import type { ClusterEngine } from "../../src/cluster/index.ts";
import type { SearchOptions } from "../../src/index.ts";
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

test("before it has delivered a file, on each replica and each time: its slice is a crash", async () => {
  const { nodes, front } = await filled();
  nodes.forEach((node) => (node.streamFrames = 0));
  expect(await streamed(front)).toEqual({ paths: [], crashes: 1, isWhole: false });
  const calls = nodes.reduce((sum, { asked }) => sum + (asked.get("/v1/stream") ?? 0), 0);
  expect(calls).toBe(5);
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

/** Ends a stream over two nodes that send one frame and no more. */
async function ofStalling(options: (stop: AbortController) => SearchOptions) {
  const { nodes, front } = await filled();
  for (const node of nodes) Object.assign(node, { streamFrames: 1, stalls: true });
  const stop = new AbortController();
  let files = 0;
  const request = { query: "needle", matches: 1000 };
  for await (const event of front.stream(request, options(stop))) {
    if (event.type === "final") return { files, ...event };
    files += event.files.length;
    setImmediate(() => stop.abort());
  }
  throw new Error("a stream without an end");
}

test("it stalls after it has delivered files: the stream ends in time, and says so", async () => {
  const { files, accumulatedStats, isSearchExhaustive } = await ofStalling(() => ({
    timeoutMs: 2_000,
  }));
  const late = { flushReason: "FLUSH_REASON_TIMER_EXPIRED", shardsSkipped: 1, crashes: 0 };
  expect(accumulatedStats).toMatchObject(late);
  expect([files > 0, isSearchExhaustive]).toEqual([true, false]);
});

test.each([undefined, 3_600_000])(
  "it stalls, and the caller gives up (a limit of %s ms)",
  async (timeoutMs) => {
    const given = timeoutMs === undefined ? {} : { timeoutMs };
    const left = ofStalling(({ signal }) => ({ signal, ...given }));
    await expect(left).rejects.toMatchObject({ name: "QuernError", code: "ABORTED" });
  },
);

test("it does not begin, and the caller gives up", async () => {
  const { nodes, front } = await filled();
  for (const node of nodes) node.delayMs = 3_600_000;
  const stop = new AbortController();
  const options = { signal: stop.signal, timeoutMs: 3_600_000 };
  const next = front
    .stream({ query: "needle", matches: 1 }, options)
    [Symbol.asyncIterator]()
    .next();
  setImmediate(() => stop.abort());
  await expect(next).rejects.toMatchObject({ name: "QuernError", code: "ABORTED" });
});
