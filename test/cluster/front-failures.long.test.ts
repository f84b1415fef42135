/**
 * What fronts answer while nodes fail, come, leave and fall behind: a published state, or a message that says what is
 * missing.
 */

import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished } from "vitest";
import {
  directorySegments,
  postgresCatalog,
  type ClusterEngine,
  type SegmentStore,
} from "../../src/cluster/index.ts";
import { ownersOf } from "../../src/cluster/catalog/placement.ts";
import { comparable } from "./comparable.ts";
import { openFront, SECRET, startNode, startNodes, type RunningNode } from "./fronts.ts";
import { found, newCluster, shop } from "./machines.ts";
import type { SearchOptions } from "../../src/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { bundledPrograms } from "../programs.ts";
import type { FrontTold } from "./front-process.ts";
import { postgresPort, postgresTest as test } from "./postgres.ts";
import { SHORT_LIVED } from "../short-lived.ts";
import { isInTurn } from "../runs.ts";

const request = { query: "needle", matches: 100 };
/** The pause between two searches of a lane, without which it would use a core for as long as nodes start and end. */
const PAUSE_MS = 20;

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

async function finalOf(front: ClusterEngine, options: SearchOptions = {}) {
  for await (const event of front.stream(request, options))
    if (event.type === "final") return event;
  throw new Error("a stream without an end");
}

describe("a node that is unavailable", () => {
  test("but has a replica makes no answer partial or wrong", async () => {
    const { nodes, front, whole } = await filled(3, 2);
    const asking = { isOver: false, answers: 0 };
    const load = Array.from({ length: 2 }, async () => {
      for (; !asking.isOver; await sleep(PAUSE_MS)) {
        expect(comparable(await front.search(request))).toEqual(whole);
        asking.answers++;
      }
    });
    for (let turn = 0; turn < 6; turn++) {
      const node = nodes[turn % nodes.length]!;
      node.cut();
      const before = asking.answers;
      await expect.poll(() => asking.answers).toBeGreaterThan(before + 3);
      expect((await finalOf(front)).isSearchExhaustive).toBe(true);
      expect((await front.read({ repository: "shop", path: "src/file0.txt" }))?.content).toContain(
        "needle 0",
      );
      node.mend();
      const after = asking.answers; // searches that have met the failure are over
      await expect.poll(() => asking.answers).toBeGreaterThan(after + 3);
    }
    asking.isOver = true;
    await Promise.all(load);
    expect(nodes.filter(({ asked }) => asked.has("/v1/search")).length).toBeGreaterThan(1);
  });

  test.runIf(isInTurn(2))(
    "and hangs is replaced by its replica for reads and lists after ten seconds",
    async () => {
      const { nodes, front } = await filled(2, 2);
      const file = { repository: "shop", path: "src/file0.txt" };
      await front.read(file);
      const asked = nodes.find((node) => node.asked.has("/v1/read"))!;
      asked.delayMs = 10_000_000;
      const [read, listed] = await Promise.all([
        front.read(file),
        front.list({ repository: "shop", path: "src" }),
      ]);
      expect(read?.content).toContain("needle 0");
      expect(listed?.length).toBeGreaterThan(3);
    },
  );

  test("and has no replica makes answers partial, and they say so", async () => {
    const { nodes, front, whole } = await filled(2, 1);
    const used = nodes.find(({ asked }) => asked.has("/v1/search"))!;
    used.cut();
    const answer = await front.search(request);
    expect(answer.isSearchExhaustive).toBe(false);
    expect(answer.stats.crashes).toBeGreaterThan(0);
    expect(answer.stats.totalMatchCount).toBeLessThan(whole.counters["totalMatchCount"] as number);
    const final = await finalOf(front);
    expect(final.isSearchExhaustive).toBe(false);
    expect(final.accumulatedStats.crashes).toBe(answer.stats.crashes);
    nodes.forEach((node) => node.cut());
    await expect(front.read({ repository: "shop", path: "src/file0.txt" })).rejects.toMatchObject({
      code: "OVERLOADED",
    });
    nodes.forEach((node) => node.mend());
    expect(comparable(await front.search(request))).toEqual(whole);
  });

  test("is reported only to viewers who may see something in a lost slice", async () => {
    const cluster = await newCluster({ shardBytes: 1, replicas: 1, onWarning: () => undefined });
    const nodes = await startNodes(cluster, 2);
    const front = await openFront(cluster);
    const names = Array.from({ length: 6 }, (_, n) => `r${n}`);
    for (const name of names) await front.index(shop(name, `needle of ${name}\n`));
    const { rows } = await cluster.pool.query<{ id: number; shard: number }>(
      "select repository as id, shard from quern_repository",
    );
    const ownerOf = (shard: number) => ownersOf(["node-0", "node-1"], [shard, 0], 1)[0];
    const isLost = ({ shard }: { shard: number }) => ownerOf(shard) === "node-0";
    const held = async () => {
      const owned =
        "select distinct node, shard from quern_ready where slices <> '{}' order by shard";
      return (await cluster.pool.query(owned)).rows as unknown[];
    };
    const shards = rows.map(({ shard }) => shard).sort((a, b) => a - b);
    await expect.poll(held).toEqual(shards.map((shard) => ({ node: ownerOf(shard), shard })));
    await front.refresh();
    const [lost, left] = [rows.filter(isLost), rows.filter((one) => !isLost(one))];
    expect([lost.length > 0, left.length > 0]).toEqual([true, true]);
    nodes[0]!.cut();
    const asked = async (seen: { id: number }[]) => {
      const viewer = { repositoryIds: new Set(seen.map(({ id }) => id)) };
      const { stats, isSearchExhaustive } = await front.search(request, { viewer });
      return [stats.totalMatchCount, stats.crashes, isSearchExhaustive];
    };
    expect(await asked(left)).toEqual([left.length, 0, true]);
    expect(await asked(lost.slice(0, 1))).toEqual([0, 1, false]);
    expect(await asked(rows)).toEqual([left.length, lost.length, false]);
  });

  test("but still accepts connections makes answers partial, not overloaded", async () => {
    const { nodes, front } = await filled(2, 1);
    const names = nodes.map(({ name }) => name);
    const [keeper] = ownersOf(names, [1, 0], 1);
    const used = nodes.find(({ name }) => name !== keeper)!;
    await used.engine.close();
    const isLost = async () => {
      const { stats, isSearchExhaustive } = await front.search(request);
      return [stats.crashes > 0, isSearchExhaustive];
    };
    expect(await isLost()).toEqual([true, false]);
    const isHeard = async () =>
      (await front.status()).nodes.some(({ name, ready }) => name === used.name && ready === 0);
    await expect.poll(isHeard).toBe(true);
    await sleep(300);
    expect(await isLost()).toEqual([true, false]);
    const { shards } = await front.status();
    expect(shards.map(({ here }) => here)).toEqual(shards.map(({ published }) => published));
  });

  test("because it has another version is replaced by its replica, and the front says why", async () => {
    const { cluster, nodes, whole } = await filled(2, 2);
    const warnings: string[] = [];
    const onWarning = ({ message }: { message: string }) => void warnings.push(message);
    const front = await openFront(cluster, { onWarning });
    for (const other of nodes) {
      other.isOtherVersion = true;
      expect(comparable(await front.search(request))).toEqual(whole);
      expect((await finalOf(front)).isSearchExhaustive).toBe(true);
      expect(comparable(await front.search(request))).toEqual(whole);
      other.isOtherVersion = false;
    }
    expect(new Set(warnings).size).toBe(warnings.length);
    for (const message of warnings) expect(message).toContain("runs another version of quern");
    nodes.forEach((node) => (node.isOtherVersion = true));
    const { stats, isSearchExhaustive } = await front.search(request);
    expect([stats.crashes > 0, isSearchExhaustive]).toEqual([true, false]);
    expect(warnings.length).toBeGreaterThanOrEqual(2);
  });

  test("because it is slow makes answers say that time ran out", async () => {
    const { nodes, front } = await filled(2, 1);
    nodes.forEach((node) => (node.delayMs = 3_600_000));
    const late = { flushReason: "FLUSH_REASON_TIMER_EXPIRED", crashes: 0 };
    const options = { timeoutMs: 100 };
    const answer = await front.search(request, options);
    const final = await finalOf(front, options);
    const plan = await front.explain(request, options);
    for (const stats of [answer.stats, final.accumulatedStats, plan.stats]) {
      expect(stats).toMatchObject(late);
      expect(stats.shardsSkipped).toBeGreaterThan(0);
    }
    expect([answer.isSearchExhaustive, final.isSearchExhaustive]).toEqual([false, false]);
  });
});

test.runIf(isInTurn(2, 1))(
  "a node that joins gets slices, a node that leaves hands over its own, and no answer changes",
  async () => {
    const { cluster, nodes, front, whole } = await filled(2, 1);
    const asking = { isOver: false, answers: 0 };
    const load = (async () => {
      for (; !asking.isOver; await sleep(PAUSE_MS)) {
        expect(comparable(await front.search(request))).toEqual(whole);
        asking.answers++;
      }
    })();
    const ready = async (name: string) =>
      (await front.status()).nodes.find((one) => one.name === name)!.ready;
    const joined: RunningNode[] = [];
    for (const name of ["joins-a", "joins-b", "joins-c"])
      joined.push(await startNode(cluster, name));
    const leaving = nodes[0]!;
    await leaving.engine.drain();
    expect(await ready(leaving.name)).toBe(0);
    const owned = await Promise.all([...joined, nodes[1]!].map(({ name }) => ready(name)));
    const slices = owned.reduce((sum, one) => sum + one, 0);
    expect(slices).toBeGreaterThan(2);
    expect(owned.filter((one) => one > 0).length).toBeGreaterThan(1);
    await front.refresh();
    await leaving.engine.close();
    leaving.cut();
    const before = asking.answers;
    await expect.poll(() => asking.answers).toBeGreaterThan(before + 2);
    asking.isOver = true;
    await load;
  },
);

test("a node that restarts fetches nothing again, and no other node fetches its slices in the meantime", async () => {
  let fetched = 0;
  const store = directorySegments(temporaryFolder());
  const segments: SegmentStore = {
    ...store,
    get: (...given) => {
      fetched++;
      return store.get(...given);
    },
  };
  const cluster = await newCluster({ segments, shardBytes: 20, onWarning: () => undefined });
  const directory = temporaryFolder();
  const nodes = [
    await startNode(cluster, "one", { directory }),
    ...(await startNodes(cluster, 2)), // three nodes, two replicas
  ];
  const front = await openFront(cluster);
  for (let n = 1; n <= 4; n++)
    await front.index(
      shop("shop", ...Array.from({ length: n }, (_, i) => `needle ${i} and more\n`)),
    );
  const status = async (name: string) =>
    (await front.status()).nodes.find((one) => one.name === name)!;
  const isWhole = { missingBytes: 0, isLive: true };
  for (const { name } of nodes) await expect.poll(() => status(name)).toMatchObject(isWhole);
  await Promise.all(nodes.map(({ engine }) => engine.refresh()));
  const { ready } = await status("one");
  expect(ready).toBeGreaterThan(0);
  const before = fetched;
  await nodes[0]!.engine.close();
  expect(await status("one")).toMatchObject({ isLive: false, isPlaced: true, ready: 0 });
  await Promise.all(nodes.slice(1).map(({ engine }) => engine.refresh()));
  await startNode(cluster, "one", { directory });
  expect(await status("one")).toMatchObject({ ...isWhole, ready });
  await Promise.all(nodes.slice(1).map(({ engine }) => engine.refresh()));
  expect(fetched).toBe(before);
});

test("a node reports that it is ready only when it listens", async () => {
  const cluster = await newCluster({ onWarning: () => undefined });
  const writer = await cluster.open();
  await writer.index(shop("shop", "needle\n"));
  const ready = async () => (await cluster.pool.query("select * from quern_ready")).rows.length;
  const own = { name: "one", url: "http://127.0.0.1:1", secret: SECRET, diskBytes: 2 ** 40 };
  const seen: unknown[] = [];
  const listen = async (internal: (request: Request) => Promise<Response>) => {
    const { status } = await internal(new Request(`${own.url}/v1/search`, { method: "POST" }));
    const nodes = (await writer.status()).nodes.map(({ name, isLive }) => [name, isLive]);
    seen.push(status, nodes, await ready());
  };
  await cluster.open({ node: { ...own, listen } });
  expect([...seen, await ready()]).toEqual([401, [["one", true]], 0, 1]);
  const taken = () => Promise.reject(new Error("the port is taken"));
  await expect(cluster.open({ node: { ...own, name: "two", listen: taken } })).rejects.toThrow(
    "the port is taken",
  );
  expect(await ready()).toBe(1);
});

test.runIf(isInTurn(2))("each answer during changes is a published state", async () => {
  const { front, nodes } = await filled(2, 2);
  const state = (n: number) => shop("changing", `word v${n}\n`, `word v${n}\n`, `word v${n}\n`);
  await front.index(state(0));
  await nodes[0]!.engine.refresh();
  const changing = { isOver: false };
  const seen = new Set<string>();
  const load = [front, nodes[0]!.engine].map(async (engine) => {
    while (!changing.isOver) {
      const lines = await found(engine, "word");
      expect(lines).toHaveLength(3);
      expect(new Set(lines).size).toBe(1);
      seen.add(lines[0]!);
      await sleep(5);
    }
  });
  for (let n = 1; n <= 3; n++) await nodes[n % 2]!.engine.index(state(n));
  await front.index(state(4));
  expect(await found(front, "word")).toContain("changing: word v4");
  changing.isOver = true;
  await Promise.all(load);
  expect(seen.size).toBeGreaterThan(2);
  expect(await front.remove("changing")).toBe(true);
  expect(await found(front, "word")).toEqual([]);
});

test.runIf(isInTurn(2, 1))(
  "without PostgreSQL, searches continue with the known state, and nothing is published",
  async () => {
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
    await expect.poll(() => warnings.length).toBe(1);
    expect(comparable(await front.search(request))).toEqual(whole);
    await expect(front.index(shop("new", "x"))).rejects.toThrow("PostgreSQL is down");
    await expect(front.status()).rejects.toThrow("PostgreSQL is down");
    isDown = false;
    await front.index(shop("new", "needle too\n"));
    expect(await found(front, "too")).toEqual(["new: needle too"]);
  },
);

test.runIf(isInTurn(2))(
  "another front continues after one is killed in the midst of searches",
  async () => {
    const { cluster, front, whole } = await filled(2, 2);
    const [program] = await bundledPrograms(["test/cluster/front-process.ts"]);
    const told: FrontTold = {
      postgresPort: postgresPort!,
      database: cluster.pool.options.database!,
      directory: temporaryFolder(),
      secret: SECRET,
      request,
    };
    const child = fork(program!, [JSON.stringify(told)], { execArgv: SHORT_LIVED });
    const answers: unknown[] = [];
    child.on("message", (count) => void answers.push(count));
    onTestFinished(() => void child.kill("SIGKILL"));
    await expect.poll(() => answers.length).toBeGreaterThan(5);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(new Set(answers)).toEqual(new Set([whole.counters["totalMatchCount"]]));
    expect(comparable(await front.search(request))).toEqual(whole);
    await front.index(shop("new", "needle anew\n"));
    expect(await found(front, "anew")).toEqual(["new: needle anew"]);
  },
);

describe("visibility", () => {
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
    const place = { repository: "other", path: "src/file0.txt" };
    expect(await front.read(place, { viewer })).toBeUndefined();
    expect(await front.list({ ...place, path: "src" }, { viewer })).toBeUndefined();
    expect((await front.repositories({ viewer })).map(({ name }) => name)).toEqual(["shop"]);
    const nobody = { viewer: { repositoryIds: new Set<number>() } };
    expect((await front.search(request, nobody)).stats.totalMatchCount).toBe(0);
  });

  test("a node's port reveals nothing to callers without the secret", async () => {
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
