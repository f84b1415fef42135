/**
 * Tests which nodes exist, which slices they have ready by PostgreSQL's clock, and what a slice of a shard contains.
 */

import { expect } from "vitest";
import { Catalog } from "../../src/cluster/catalog/catalog.ts";
import { Damage } from "../../src/cluster/catalog/damage.ts";
import { LIVE_MS, Nodes, PLACED_MS, placedOwners } from "../../src/cluster/catalog/nodes.ts";
import { slicesFor } from "../../src/cluster/catalog/head.ts";
import { bringTo } from "../../src/cluster/local/bring.ts";
import { open } from "../../src/index.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { openFront, startNodes } from "./fronts.ts";
import { found, newCluster, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const node = (name: string) => ({ name, url: `http://${name}`, diskBytes: 10 });

test("a node without heartbeats is first only placed and then gone, and a node that leaves owns nothing", async () => {
  const { pool } = await newCluster();
  const nodes = new Nodes(pool, {});
  for (const name of ["a", "b", "c"]) await nodes.beat(node(name), true);
  const age = (name: string, ms: number) =>
    pool.query(
      "update quern_node set heartbeat = now() - $2 * interval '1 millisecond' where node = $1",
      [name, ms],
    );
  await age("b", LIVE_MS + 1000);
  await age("c", PLACED_MS + 1000);
  const states = async () =>
    (await nodes.all()).nodes.map(({ name, isLive, isPlaced }) => [name, isLive, isPlaced]);
  expect(await states()).toEqual([
    ["a", true, true],
    ["b", false, true],
    ["c", false, false],
  ]);
  expect(placedOwners((await nodes.all()).nodes, [1, 0], 3).sort()).toEqual(["a", "b"]);
  await nodes.drain("a");
  await nodes.beat(node("a"), false);
  expect(await states()).toContainEqual(["a", true, false]);
  await nodes.beat(node("a"), true);
  await nodes.stop("a");
  expect(await states()).toContainEqual(["a", false, true]);
});

test("by default, each slice is on two nodes, and a new shard begins at 8 GiB of text", async () => {
  const cluster = await newCluster({ onWarning: () => undefined });
  await startNodes(cluster, 3);
  const front = await openFront(cluster);
  const shardOf = async (name: string, before: number): Promise<number> => {
    await cluster.pool.query("update quern_shard set text_bytes = $1 where shard = 1", [before]);
    await front.index(shop(name, "x\n"));
    const of = "select shard from quern_repository where name = $1";
    return (await cluster.pool.query<{ shard: number }>(of, [name])).rows[0]!.shard;
  };
  expect(await shardOf("a", 0)).toBe(1);
  expect(await shardOf("b", 8 * 2 ** 30 - 1)).toBe(1);
  expect(await shardOf("c", 8 * 2 ** 30)).toBe(2);
  const ready = async () => {
    const { rows } = await cluster.pool.query(
      `select shard, count(*)::int as nodes from quern_ready join quern_shard using (shard, generation)
       where slices <> '{}' group by shard order by shard`,
    );
    return rows as unknown[];
  };
  await expect.poll(ready).toEqual([
    { shard: 1, nodes: 2 },
    { shard: 2, nodes: 2 },
  ]);
});

test("new ready slices replace the old ones or are added, and a node that starts has none", async () => {
  const { pool } = await newCluster();
  const nodes = new Nodes(pool, {});
  await nodes.beat(node("a"), true);
  const ready = async () =>
    (await nodes.all()).ready.map(({ shard, generation, slices }) => [shard, generation, slices]);
  await nodes.setReady("a", [{ shard: 1, generation: 4, slices: [0, 2] }], { isWhole: false });
  await nodes.setReady("a", [{ shard: 1, generation: 5, slices: [] }], { isWhole: false });
  expect(await ready()).toEqual([
    [1, 4, [0, 2]],
    [1, 5, []],
  ]);
  await nodes.setReady("a", [{ shard: 1, generation: 5, slices: [1] }], { isWhole: true });
  expect(await ready()).toEqual([[1, 5, [1]]]);
  await nodes.beat(node("a"), false);
  expect(await ready()).toHaveLength(1);
  await nodes.beat(node("a"), true);
  expect(await ready()).toEqual([]);
});

test("a shard has one slice per `shardBytes` of text, and no more slices than segments", () => {
  const segments = (...sizes: number[]) => sizes.map((textBytes) => ({ textBytes }));
  const rows: readonly [number[], number, number][] = [
    [[], 10, 1],
    [[0], 10, 1],
    [[10], 10, 1],
    [[10, 1], 10, 2],
    [[10, 11, 10], 10, 3],
    [[100, 100], 1, 2],
  ];
  for (const [sizes, shardBytes, expected] of rows)
    expect(slicesFor(segments(...sizes), shardBytes), sizes.join()).toBe(expected);
});

test("a directory with some slices has only their files of each repository, and its slices can change", async () => {
  const cluster = await newCluster({ shardBytes: 30 });
  const engine = await cluster.open();
  await engine.index([shop("shop", "needle one in the first run\n"), shop("other", "needle o\n")]);
  await engine.index(shop("shop", "needle one in the first run\n", "needle two in the second\n"));
  await engine.index(shop("shop", "needle 1", "needle two in the second\n", "needle three\n"));
  const catalog = new Catalog(cluster.pool, {});
  const [[shard, generation]] = [...(await catalog.generations())] as [[number, number]];
  const head = await catalog.head(shard, generation);
  expect(head.slices).toBeGreaterThan(1);
  const path = temporaryFolder();
  const environment = await openStore(path, { readOnly: false });
  const damage = new Damage(cluster.pool, {});
  const bring = async (own: number[] | undefined) => {
    const lease = await acquireLease(environment, { timeoutMs: 0 });
    const bringing = { environment, owner: lease.owner, catalog, store: cluster.segments, damage };
    const slices = own && { own: { own, of: head.slices } };
    await bringTo(bringing, [{ ...head, ...slices }]);
    await lease.release();
    await using reader = await open(path, { readOnly: true, workers: 0 });
    expect(await reader.check()).toMatchObject({ ok: true });
    const [one] = (await reader.repositories()).filter(({ name }) => name === "shop");
    const files = await found(reader, "needle repo:shop");
    expect(one!.revisions[0]!.files).toBe(files.length);
    return await found(reader, "needle");
  };
  const whole = await found(engine, "needle");
  const all = Array.from({ length: head.slices }, (_, i) => i);
  const parts: string[] = [];
  for (const slice of all) parts.push(...(await bring([slice])));
  expect(parts.sort()).toEqual(whole);
  expect(await bring(all)).toEqual(whole);
  expect(await bring([])).toEqual([]);
  expect(await bring(undefined)).toEqual(whole);
  await environment.close();
});
