/**
 * A node whose disk is full drops superseded slices, then slices that are not its own, and then leaves out the rest.
 */

import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test as plainTest } from "vitest";
import { QuernError } from "../../src/index.ts";
import { directorySegments, openCluster, postgresCatalog } from "../../src/cluster/index.ts";
import { ownersOf } from "../../src/cluster/catalog/placement.ts";
import { missingBytes, ownAlone, withinDisk } from "../../src/cluster/node/disk-budget.ts";
import type { WantedShard } from "../../src/cluster/local/bring.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { openFront, SECRET, startNode } from "./fronts.ts";
import { found, newCluster, shop } from "./machines.ts";
import { fill } from "../engine/crash/fill.ts";
import { smallDisk } from "../engine/small-disk.ts";
import { nodeProgram } from "./node-processes.ts";
import { postgresPort, postgresTest as test } from "./postgres.ts";
import { RepositoryList } from "../../src/store/catalog/repository-list.ts";
import { isInTurn } from "../runs.ts";

/** Shard 1 has three slices, of 10, 20 and 30 bytes; shard 2 has one of 5 bytes. */
const wanted = (own: readonly number[] = [0, 1, 2]): WantedShard[] => {
  const head = { generation: 1, repositories: RepositoryList.EMPTY, nextSegment: 9 };
  const segmentOf = (segment: number, bytes: number) => ({
    segment,
    bytes,
    object: `o${segment}`,
    files: 1,
    textBytes: bytes,
    symbols: 0,
    hasSymbols: false,
    symbolsObject: undefined,
  });
  const three = [segmentOf(3, 10), segmentOf(1, 20), segmentOf(2, 30)];
  return [
    { ...head, shard: 1, slices: 3, segments: three, own: { own, of: 3 } },
    { ...head, shard: 2, slices: 1, segments: [segmentOf(1, 5)], own: { own: [0], of: 1 } },
  ];
};

plainTest("a node keeps its own slices first, and then foreign ones while there is room", () => {
  const ofOne = (shard: number, slice: number) => shard === 2 || slice > 0;
  const rows: [bytes: number, shard1: number[], shard2: number[], leftOut: number][] = [
    [65, [0, 1, 2], [0], 0],
    [64, [1, 2], [0], 0], // slice 0 belongs to another node
    [55, [1, 2], [0], 0],
    [54, [1, 2], [], 1],
    [40, [0, 1], [0], 1],
    [4, [], [], 3],
  ];
  for (const [bytes, one, two, leftOut] of rows) {
    const within = withinDisk(wanted(), ofOne, bytes);
    expect([...within.wanted.map(({ own }) => own!.own), within.leftOut], `${bytes}`).toEqual([
      one,
      two,
      leftOut,
    ]);
  }
  expect(missingBytes(wanted(), [])).toBe(65);
  expect(missingBytes(wanted(), wanted([1]))).toBe(40);
  expect(missingBytes(wanted([1]), wanted())).toBe(0);
  expect(ownAlone(wanted(), ofOne).map(({ own }) => own!.own)).toEqual([[1, 2], [0]]);
});

test("a node with room for one state at a time follows each publication at once", async () => {
  const cluster = await newCluster({ replicas: 1 });
  const writer = await cluster.open();
  const text = (n: number) => shop("shop", `needle ${n} ${"abc def ".repeat(2_000)}\n`);
  await writer.index(text(0));
  const { rows } = await cluster.pool.query("select max(bytes) as bytes from quern_segment");
  const bytes = Number((rows[0] as { bytes: string }).bytes);
  const node = await startNode(cluster, "one", {}, { diskBytes: Math.round(bytes * 1.5) });
  const front = await openFront(cluster);
  for (let n = 1; n <= 3; n++) {
    await writer.index(text(n));
    await front.refresh();
    expect(await found(front, "needle")).toHaveLength(1);
    expect((await found(front, `needle ${n}`))[0]).toContain(`needle ${n} `);
  }
  expect((await node.engine.status()).nodes).toMatchObject([{ ready: 1, missingBytes: 0 }]);
  expect(await node.engine.check()).toMatchObject({ ok: true, segments: 1 });
});

test.runIf(isInTurn(3))(
  "a node without room drops a slice of another node before it fetches its own",
  async () => {
    const objects = directorySegments(temporaryFolder());
    const cluster = await newCluster({ segments: objects, replicas: 1, shardBytes: 1 });
    const writer = await cluster.open();
    const text = (n: number) => `needle${n} ${"abc def ".repeat(2_000)}\n`;
    const names = Array.from({ length: 6 }, (_, n) => `r${n}`);
    for (const name of names) await writer.index(shop(name, text(0)));
    const { rows } = await cluster.pool.query<{ shard: number; bytes: string }>(
      "select shard, bytes from quern_segment order by shard",
    );
    const bytes = rows.reduce((sum, one) => sum + Number(one.bytes), 0);
    const isOwn = ({ shard }: { shard: number }) =>
      ownersOf(["old", "new"], [shard, 0], 1)[0] === "old";
    const own = rows.filter(isOwn).map(({ shard }) => shard);
    expect([own.length > 0, own.length < rows.length]).toEqual([true, true]);
    const room = Math.round(bytes * 1.1); // too little for one more version of a repository
    const old = await startNode(cluster, "old", {}, { diskBytes: room });
    const ready = async () => {
      const { rows: held } = await cluster.pool.query<{ shard: number }>(
        `select distinct shard from quern_ready where node = 'old' and slices <> '{}' order by shard`,
      );
      return held.map(({ shard }) => shard);
    };
    await expect.poll(ready).toEqual(rows.map(({ shard }) => shard));

    // the new node owns some of them, and never has them ready
    let end = (): void => undefined;
    const never = new Promise<never>((_, reject) => (end = () => reject(new Error("it is over"))));
    const opening = openCluster({
      catalog: postgresCatalog(cluster.pool),
      segments: { ...objects, get: () => never },
      directory: temporaryFolder(),
      workers: 0,
      replicas: 1,
      shardBytes: 1,
      node: { name: "new", url: "http://127.0.0.1:1", secret: SECRET, diskBytes: 2 ** 40 },
    });
    opening.catch(() => undefined);
    onTestFinished(async () => {
      end();
      await expect(opening).rejects.toThrow("it is over");
    });
    const placed = () => old.engine.status().then(({ nodes }) => nodes.map(({ name }) => name));
    await expect.poll(placed).toEqual(["new", "old"]);
    await old.engine.refresh();
    expect(await ready()).toEqual(rows.map(({ shard }) => shard)); // no other node has them

    const { rows: named } = await cluster.pool.query<{ name: string }>(
      "select name from quern_repository where shard = $1",
      [own[0]],
    );
    await writer.index(shop(named[0]!.name, text(1)));
    await expect.poll(ready).toEqual(own);
    const front = await openFront(cluster);
    // the node has handed over the slices by now, but may still fetch the new version
    const newest = () => front.refresh().then(() => found(front, "needle1"));
    await expect.poll(newest).toHaveLength(1);
    expect((await front.search({ query: "needle0", matches: 9 })).stats.crashes).toBe(
      rows.length - own.length,
    );
  },
);

test("while a node's disk is really full, its replica serves new content", async ({ skip }) => {
  const disk = smallDisk(24) ?? skip("mounting needs root");
  const objects = temporaryFolder();
  const cluster = await newCluster({ segments: directorySegments(objects) });
  const newNode = await nodeProgram(
    {
      objects,
      postgresPort: postgresPort!,
      database: cluster.pool.options.database!,
      replicas: 2,
      secret: SECRET,
      shardBytes: 2 ** 30,
    },
    (name) => join(name === "small" ? disk : temporaryFolder(), "node"),
  );
  const [small, large] = [await newNode("small"), await newNode("large")];
  onTestFinished(
    async () => void (await Promise.all([small, large].map((one) => one.end("SIGKILL")))),
  );
  const writer = await cluster.open();
  await writer.index(shop("shop", "needle 0\n"));
  await Promise.all([small.start(), large.start()]);
  const front = await openFront(cluster);
  const nodes = async () => (await front.status()).nodes;
  const isWhole = { ready: 1, missingBytes: 0 };
  await expect.poll(nodes).toMatchObject([isWhole, isWhole]);

  fill(disk);
  const long = randomBytes(2 ** 20).toString("base64");
  await writer.index(shop("shop", "needle_fresh\n", `needle ${long}\n`));
  await front.refresh();
  expect(await found(front, "needle_fresh")).toEqual(["shop: needle_fresh"]); // no base64
  expect((await front.search({ query: "needle", matches: 9 })).isSearchExhaustive).toBe(true);
  await expect.poll(() => small.warnings.join()).toMatch(/full|no space/i);
  expect(await nodes()).toMatchObject([isWhole, { name: "small", ready: 0, isLive: true }]);
  expect((await nodes())[1]!.missingBytes).toBeGreaterThan(2 ** 20);

  rmSync(join(disk, "filler"));
  await small.end("SIGTERM");
  await small.start();
  await expect.poll(nodes).toMatchObject([isWhole, isWhole]);
  await large.end("SIGKILL");
  const { stats, isSearchExhaustive } = await front.search({ query: "needle", matches: 9 });
  expect([stats.totalMatchCount, isSearchExhaustive]).toEqual([2, true]);
});

test("a node whose disk is full keeps the older state, warns once, and tries again later", async () => {
  const objects = directorySegments(temporaryFolder());
  const cluster = await newCluster({ segments: objects, replicas: 1 });
  const writer = await cluster.open();
  const index = (name: string, text: string) => writer.index(shop(name, text), { symbols: "skip" }); // publishes once
  await index("shop", "needle 0\n");
  let isFull = false;
  let asked = 0;
  const segments: typeof objects = {
    ...objects,
    get(key, range, signal) {
      asked++;
      // throws as LMDB does when it writes the fetched bytes
      if (isFull) throw new QuernError("DISK_FULL", "there is no room");
      return objects.get(key, range, signal);
    },
  };
  const warnings: string[] = [];
  const node = { name: "one", url: "http://127.0.0.1:1", secret: SECRET, diskBytes: 2 ** 40 };
  await using engine = await openCluster({
    catalog: postgresCatalog(cluster.pool),
    segments,
    directory: temporaryFolder(),
    workers: 0,
    replicas: 1,
    node,
    onWarning: ({ message }) => void warnings.push(message),
  });
  isFull = true;
  await index("shop", "needle 1\n");
  await expect.poll(() => warnings).toHaveLength(1);
  expect(warnings[0]).toContain("there is no room");
  const { shards, nodes } = await engine.status();
  expect([shards[0]!.published, shards[0]!.here, nodes[0]!.ready]).toEqual([2, 1, 0]);
  const before = asked;
  await index("other", "needle 2\n"); // the node hears of that, and waits
  const { rows } = await cluster.pool.query("select 1 from quern_ready where generation = 1");
  expect(rows).toHaveLength(1);
  expect(asked).toBe(before);
});
