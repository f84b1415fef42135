/** A front over nodes answers as one engine with the whole index does. */

import { describe, expect } from "vitest";
import { createHandler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { clientOf, post } from "../http/service.ts";
import type { ClusterEngine } from "../../src/cluster/index.ts";
import type { SearchEvent } from "../../src/index.ts";
import { comparable } from "./comparable.ts";
import { openFront, startNodes } from "./fronts.ts";
import { code, found, newCluster, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

/** Fills a cluster with two repositories of several segments each, in slices of a few bytes. */
async function filled(nodes: number, replicas = 2) {
  const cluster = await newCluster({ shardBytes: 40, replicas });
  const running = await startNodes(cluster, nodes);
  const front = await openFront(cluster);
  const one = (n: number) => `export function needle${n}() {} // needle\n`;
  await front.index(code("shop", one(1)));
  await front.index(code("shop", one(1), one(2)));
  await front.index(code("other", one(3), one(4)));
  await front.index(code("shop", one(1), one(2), one(5)));
  const whole = await cluster.open();
  return { cluster, nodes: running, front, whole };
}

async function streamed(engine: ClusterEngine, matches: number) {
  const events: SearchEvent[] = [];
  for await (const event of engine.stream({ query: "needle", matches })) events.push(event);
  return events;
}

describe("each method of an engine", () => {
  test("search() answers as one engine, with pages and facets", async () => {
    const { front, whole, nodes } = await filled(3);
    const request = { query: "needle", matches: 3, facets: 5 };
    expect((await whole.search(request)).files.length).toBeGreaterThan(0);
    expect(comparable(await front.search(request))).toEqual(
      comparable(await whole.search(request)),
    );
    let [after, other] = ["", ""];
    for (let pages = 0; ; pages++) {
      const [page, same] = [
        await front.search({ query: "needle", matches: 2, after }),
        await whole.search({ query: "needle", matches: 2, after: other }),
      ];
      expect(comparable(page)).toEqual(comparable(same));
      if (page.nextCursor === undefined || same.nextCursor === undefined) {
        expect(pages).toBeGreaterThan(2);
        break;
      }
      [after, other] = [page.nextCursor, same.nextCursor];
    }
    expect(nodes.filter(({ asked }) => asked.has("/v1/search")).length).toBeGreaterThan(1);
  });

  test("search() calls a node a second time only for many files", async () => {
    const { front, whole, nodes } = await filled(1);
    const many = Array.from({ length: 9 }, (_, i) => `const many = ${i};\n`);
    await front.index(code("many", ...many));
    await whole.refresh();
    const secondCalls = async (query: string, matches: number) => {
      const before = nodes[0]!.asked.get("/v1/show") ?? 0;
      const request = { query, matches };
      expect(comparable(await front.search(request))).toEqual(
        comparable(await whole.search(request)),
      );
      return (nodes[0]!.asked.get("/v1/show") ?? 0) - before;
    };
    expect(await secondCalls("needle", 100)).toBe(0);
    expect(await secondCalls("many", 100)).toBe(1);
    expect(await secondCalls("many", 0)).toBe(0);
  });

  test("search() finds the definitions around matches as one engine", async () => {
    const { front, whole } = await filled(3);
    const bodies = [1, 2, 3].map((n) => `function around${n}() {\n  needle();\n}\n`);
    await front.index(code("bodies", ...bodies));
    await whole.refresh();
    for (const matchesPerFile of [1, 9]) {
      const request = { query: "needle", matches: 100, matchesPerFile, enclosing: true };
      const answer = await front.search(request);
      expect(comparable(answer)).toEqual(comparable(await whole.search(request)));
      const chunks = answer.files.flatMap((file) => file.chunks);
      const names = chunks.flatMap(({ enclosing }) => enclosing!.map((one) => one?.symbol));
      expect(names).toEqual(expect.arrayContaining(["around1", "around2", "around3", undefined]));
    }
  });

  test("stream() answers as one engine, in full and with a limit", async () => {
    const { front, whole } = await filled(3);
    for (const matches of [100, 3, 1, 0]) {
      const [events, others] = [await streamed(front, matches), await streamed(whole, matches)];
      const [end, other] = [events.at(-1)!, others.at(-1)!];
      if (end.type !== "final" || other.type !== "final") throw new Error("no end");
      expect(end.isSearchExhaustive).toBe(other.isSearchExhaustive);
      expect(end.accumulatedStats.totalMatchCount).toBe(other.accumulatedStats.totalMatchCount);
      expect(end.accumulatedStats.actualMatchCount).toBe(other.accumulatedStats.actualMatchCount);
      const ranges = events.flatMap((event) =>
        event.type === "chunk" ? event.files.flatMap(({ chunks }) => chunks) : [],
      );
      expect(ranges.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0)).toBe(
        end.accumulatedStats.actualMatchCount,
      );
    }
  });

  test("read(), list(), repository(), repositories() and explain() answer as one engine", async () => {
    const { front, whole } = await filled(3);
    for (const path of ["src/file0.ts", "src/file2.ts", "src", "nothing"]) {
      const place = { repository: "shop", path };
      expect(await front.read(place)).toEqual(await whole.read(place));
      expect(await front.list(place)).toEqual(await whole.list(place));
    }
    for (const path of ["", "/", "src/"]) {
      const place = { repository: "shop", path };
      expect(await front.list(place)).toEqual(await whole.list(place));
      expect(await front.list({ ...place, revision: "none" })).toBeUndefined();
    }
    expect(await front.read({ repository: "none", path: "src/file0.ts" })).toBeUndefined();
    expect(await front.repositories()).toEqual(await whole.repositories());
    expect(await front.repository("shop")).toEqual(await whole.repository("shop"));
    expect(await front.repository("none")).toBeUndefined();
    for (const query of [
      "Needle1 case:yes",
      "nothing repo:shop",
      "needle repo:none",
      "sym:needle3",
    ]) {
      const [mine, other] = [
        await front.explain({ query, matches: 3 }),
        await whole.explain({ query, matches: 3 }),
      ];
      const shape = ({ segments, stats, ...rest }: typeof mine) => ({
        ...rest,
        outcomes: segments.map(({ outcome }) => outcome).sort(),
        total: stats.totalMatchCount,
        scanned: stats.shardsScanned,
      });
      expect(shape(mine)).toEqual(shape(other));
    }
    expect(await front.history("shop")).toBeUndefined();
  });

  test("calls that a front does not support are rejected with a reason", async () => {
    const { front, nodes } = await filled(1);
    const overlay = [{ repository: "shop", path: "a.ts", content: "" }];
    const request = { query: "needle", matches: 1 };
    const place = { repository: "shop", path: "src" };
    const code = { code: "INVALID_REQUEST", message: expect.stringContaining("overlay") as string };
    await expect(front.search(request, { overlay })).rejects.toMatchObject(code);
    await expect(front.explain(request, { overlay })).rejects.toMatchObject(code);
    expect(() => front.stream(request, { overlay })).toThrow("overlay");
    await expect(front.read(place, { overlay })).rejects.toMatchObject(code);
    await expect(front.list(place, { overlay })).rejects.toMatchObject(code);
    await expect(front.check()).rejects.toThrow("a front has no index of its own");
    await expect(front.internal(new Request("http://x/"))).rejects.toThrow("is not a node");
    await expect(front.drain()).rejects.toThrow("is not a node");
    expect(await nodes[0]!.engine.check()).toMatchObject({ ok: true });
  });
});

test("trees and lists of all files call each node once, however many folders there are", async () => {
  const cluster = await newCluster({ shardBytes: 40, replicas: 2 });
  const nodes = await startNodes(cluster, 3);
  const front = await openFront(cluster);
  const paths = [
    "a",
    "b/c",
    ...Array.from({ length: 40 }, (_, i) => `é${i % 7}/${i}/deep/${i}.ts`),
  ];
  const some = (from: number, to: number) =>
    documents({ name: "r", files: paths.slice(from, to).map((path) => ({ path, content: path })) });
  await front.index(some(0, 20));
  await front.index(some(0, paths.length));
  const whole = await cluster.open();
  const answers = async (engine: ClusterEngine): Promise<unknown[]> => {
    const client = clientOf(createHandler(engine, { anonymous: "all" }));
    const asked = { repoName: "r", revisionName: "HEAD" };
    const tree = await client("/api/tree", post({ ...asked, paths }));
    const files = await client("/api/files", post(asked));
    return [tree.status, await tree.json(), files.status, await files.json()];
  };
  for (const { asked } of nodes) asked.clear();
  const got = await answers(front);
  const calls = nodes.map(({ asked }) => [asked.get("/v1/list") ?? 0, asked.get("/v1/paths") ?? 0]);
  expect(got).toEqual(await answers(whole));
  expect(got[3]).toHaveLength(paths.length);
  for (const [lists, all] of calls) {
    expect(lists).toBe(0);
    expect(all).toBeLessThanOrEqual(2); // one call for each route
  }
  expect(calls.some(([, all]) => all! > 0)).toBe(true);
});

test("a query that names repositories is sent only to the nodes that hold them, and its counters are those of one engine", async () => {
  const contexts = (name: string) => (name === "own" ? ["r1", "r2"] : undefined);
  const cluster = await newCluster({ shardBytes: 1, replicas: 1, contexts });
  const nodes = await startNodes(cluster, 4);
  const front = await openFront(cluster);
  const names = Array.from({ length: 6 }, (_, n) => `r${n}`);
  for (const name of names) await front.index(shop(name, `needle in ${name}\n`, "hay\n"));
  const whole = await cluster.open();
  const viewer = { repositoryIds: new Set([1, 2, 3]) };
  const rows: [query: string, most: number][] = [
    ["needle repo:^r3$", 1],
    ["needle repo:r[12]", 2],
    ["needle (repo:^r1$ or repo:^r4$)", 2],
    ["needle repo:r1 repo:r2", 0],
    ["needle context:own", 2],
    ["needle repo:^none$", 0],
    ["needle (repo:^r1$ or lang:go)", 6],
    ["needle -repo:^r1$", 6],
    ["needle fork:no", 6],
  ];
  const asks = () => nodes.reduce((sum, { asked }) => sum + (asked.get("/v1/search") ?? 0), 0);
  for (const options of [{}, { viewer }])
    for (const [query, most] of rows) {
      const before = asks();
      const mine = await front.search({ query, matches: 10, facets: 3 }, options);
      expect(asks() - before, query).toBeLessThanOrEqual(most);
      const same = await whole.search({ query, matches: 10, facets: 3 }, options);
      expect(comparable(mine), query).toEqual(comparable(same));
      const streams = [front, whole].map(async (engine) => {
        for await (const event of engine.stream({ query, matches: 10 }, options))
          if (event.type === "final") return event.accumulatedStats.shardsSkippedFilter;
        return undefined;
      });
      const [ofFront, ofWhole] = await Promise.all(streams);
      expect(ofFront, query).toBe(ofWhole);
    }
  const before = asks();
  await front.search({ query: "needle", matches: 10 });
  expect(asks() - before).toBeGreaterThan(2);
});

test("a node answers its own searches as a front does, and status() lists all nodes", async () => {
  const { nodes, front, whole } = await filled(2, 1);
  await Promise.all(nodes.map(({ engine }) => engine.refresh()));
  for (const { engine } of nodes)
    expect(await found(engine, "needle")).toEqual(await found(whole, "needle"));
  const { nodes: told } = await front.status();
  expect(told.map(({ name, isLive, isPlaced }) => [name, isLive, isPlaced])).toEqual([
    ["node-0", true, true],
    ["node-1", true, true],
  ]);
  const slices = told.reduce((sum, { ready }) => sum + ready, 0);
  expect(slices).toBeGreaterThan(2);
  expect(told.every(({ ready }) => ready < slices)).toBe(true);
});
