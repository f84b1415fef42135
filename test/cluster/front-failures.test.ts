/** What fronts answer while nodes fail: all of it, or words for what is missing. */

import { describe, expect } from "vitest";
import { postgresCatalog, type ClusterEngine } from "../../src/cluster/index.ts";
import { comparable } from "./comparable.ts";
import { openFront, startNodes } from "./fronts.ts";
import { found, newCluster, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const request = { query: "needle", matches: 100 };

async function filled(count: number, replicas: number) {
  const cluster = await newCluster({ shardBytes: 20, replicas, onWarning: () => undefined });
  const nodes = await startNodes(cluster, count);
  const front = await openFront(cluster);
  const one = (n: number) => `needle ${n} and more\n`;
  for (let n = 1; n <= 4; n++)
    await front.index(shop("shop", ...Array.from({ length: n }, (_, i) => one(i))));
  await front.index(shop("other", one(7), one(8)));
  const whole = comparable(await front.search(request));
  expect(whole.isSearchExhaustive).toBe(true);
  expect(whole.counters["shardsScanned"]).toBeGreaterThan(2);
  return { cluster, nodes, front, whole };
}

async function finalOf(front: ClusterEngine) {
  for await (const event of front.stream(request)) if (event.type === "final") return event;
  throw new Error("a stream without an end");
}

describe("a node that is gone", () => {
  test("without a replica: the answer says that it is partial", async () => {
    const { nodes, front, whole } = await filled(2, 1);
    const used = nodes.find(({ asked }) => asked.has("/v1/show"))!;
    used.cut();
    const answer = await front.search(request);
    expect(answer.isSearchExhaustive).toBe(false);
    expect(answer.stats.crashes).toBeGreaterThan(0);
    expect(answer.stats.totalMatchCount).toBeLessThan(whole.counters["totalMatchCount"] as number);
    const final = await finalOf(front);
    expect(final.isSearchExhaustive).toBe(false);
    expect(final.accumulatedStats.crashes).toBe(answer.stats.crashes);
    nodes.forEach((node) => node.cut());
    await expect(front.read({ repository: "shop", path: "src/file0.ts" })).rejects.toMatchObject({
      code: "OVERLOADED",
    });
    nodes.forEach((node) => node.mend());
    expect(comparable(await front.search(request))).toEqual(whole);
  });

  test("slow: the answer says that time ran out", async () => {
    const { nodes, front } = await filled(2, 1);
    nodes.forEach((node) => (node.delayMs = 3_600_000));
    const { stats, isSearchExhaustive } = await front.search(request, { timeoutMs: 100 });
    expect(stats).toMatchObject({ flushReason: "FLUSH_REASON_TIMER_EXPIRED", crashes: 0 });
    expect(stats.shardsSkipped).toBeGreaterThan(0);
    expect(isSearchExhaustive).toBe(false);
  });
});

test("without PostgreSQL searches go on with what is known, and nothing is published", async () => {
  const { cluster, whole } = await filled(2, 2);
  let isDown = false;
  const orFail = <T>(run: () => T): T => {
    if (isDown) throw new Error("PostgreSQL is down");
    return run();
  };
  const { pool } = cluster;
  const catalog = postgresCatalog({
    query: async (text, values) => orFail(() => pool.query(text, values)),
    connect: async () => orFail(() => pool.connect()),
  });
  const warnings: string[] = [];
  const onWarning = ({ message }: { message: string }) => void warnings.push(message);
  const front = await openFront(cluster, { catalog, onWarning });
  isDown = true;
  await expect.poll(() => warnings.length, { timeout: 10_000 }).toBe(1);
  expect(comparable(await front.search(request))).toEqual(whole);
  await expect(front.index(shop("new", "x"))).rejects.toThrow("PostgreSQL is down");
  await expect(front.status()).rejects.toThrow("PostgreSQL is down");
  isDown = false;
  await front.index(shop("new", "needle too\n"));
  expect(await found(front, "too")).toEqual(["new: needle too"]);
});

describe("who may see what", () => {
  test("a hidden repository is in no answer of a front", async () => {
    const { cluster, front } = await filled(2, 2);
    const engine = await cluster.open();
    const { id } = (await engine.repository("shop"))!;
    const viewer = { repositoryIds: new Set([id]) };
    const alone = await newCluster({ shardBytes: 20 });
    const only = await alone.open();
    await only.index(shop("shop", ...[0, 1, 2, 3].map((n) => `needle ${n} and more\n`)));
    for (const query of ["needle", "needle repo:other", "needle repo:^other$ or more"]) {
      const seen = await front.search({ query, matches: 50, facets: 10 }, { viewer });
      const { files, stats } = await only.search({ query, matches: 50, facets: 10 });
      expect(seen.files.map(({ fileName }) => fileName.text).sort()).toEqual(
        files.map(({ fileName }) => fileName.text).sort(),
      );
      expect(seen.stats.totalMatchCount).toBe(stats.totalMatchCount);
      expect(seen.stats.fileCount).toBe(stats.fileCount);
      expect(JSON.stringify(seen)).not.toContain("other");
      const plan = await front.explain({ query, matches: 1 }, { viewer });
      const hidden = await front.explain(
        { query: query.replace("other", "never"), matches: 1 },
        { viewer },
      );
      expect(plan.notIndexed.map(({ reason }) => reason)).toEqual(
        hidden.notIndexed.map(({ reason }) => reason),
      );
    }
    expect(await front.repository("other", { viewer })).toBeUndefined();
    const place = { repository: "other", path: "src/file0.ts" };
    expect(await front.read(place, { viewer })).toBeUndefined();
    expect(await front.list({ ...place, path: "src" }, { viewer })).toBeUndefined();
    expect((await front.repositories({ viewer })).map(({ name }) => name)).toEqual(["shop"]);
    const nobody = { viewer: { repositoryIds: new Set<number>() } };
    expect((await front.search(request, nobody)).stats.totalMatchCount).toBe(0);
  });

  test("a node's port tells nothing to those without the secret", async () => {
    const { nodes } = await filled(1, 1);
    const calls = [
      "search",
      "show",
      "stream",
      "read",
      "list",
      "describe",
      "explain",
      "refresh",
      "no",
    ];
    for (const call of calls)
      for (const method of ["GET", "POST"]) {
        const response = await fetch(`${nodes[0]!.url}/v1/${call}`, { method });
        expect([response.status, await response.text()]).toEqual([401, ""]);
      }
  });
});
