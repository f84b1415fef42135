/** PostgreSQL and the object store fail under searches. Searches go on, writers say what is wrong, and then resume. */

import { describe, expect, onTestFinished, vi } from "vitest";
import pg from "pg";
import { createApiKey } from "../../src/auth/secrets.ts";
import {
  postgresCatalog,
  postgresTokenStore,
  postgresUserStore,
  type SegmentStore,
} from "../../src/cluster/index.ts";
import { createHandler } from "../../src/http/index.ts";
import type { QuernError } from "../../src/index.ts";
import { person } from "../http/service.ts";
import { comparable } from "./comparable.ts";
import { openFront, startNode, startNodes } from "./fronts.ts";
import { found, newCluster, shop } from "./machines.ts";
import { startFaultyProxy } from "./faulty-proxy.ts";
import {
  emptyDatabase,
  ownServer,
  poolOn,
  postgresPort,
  postgresTest as test,
} from "./postgres.ts";
import { fill, request, searching } from "./under-load.ts";
import { isInTurn, someOf } from "../runs.ts";

/** Makes two nodes with content, and a front over them whose handler accepts the key of a member. */
async function newService(pool: pg.Pool) {
  const warnings: string[] = [];
  const onWarning = ({ message }: { message: string }) => void warnings.push(message);
  const cluster = await newCluster({ shardBytes: 30, onWarning }, pool);
  await startNodes(cluster, 2);
  const front = await openFront(cluster);
  await fill(front);
  const tokens = postgresTokenStore(pool);
  const users = postgresUserStore(pool);
  await users.put(person("ada"));
  const { secret } = await createApiKey(tokens, { ownerId: "ada" });
  const handler = createHandler(front, { tokens, users });
  const asked = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const body = JSON.stringify(request);
    return (await handler(new Request("http://x/api/search", { method: "POST", headers, body })))
      .status;
  };
  expect(await asked()).toBe(200);
  const isWarned = (part: string) =>
    expect.poll(() => warnings.some((one) => one.includes(part))).toBe(true);
  return { front, asked, warnings, isWarned };
}

test.runIf(isInTurn(2))(
  "searches continue while PostgreSQL is stopped for longer than nodes count as live",
  async () => {
    const server = await ownServer();
    const pool = new pg.Pool({
      host: "127.0.0.1",
      port: server.port,
      user: "quern",
      database: "postgres",
    });
    pool.on("error", () => undefined); // without a listener Node ends the process
    onTestFinished(() => pool.end());
    const { front, asked, warnings, isWarned } = await newService(pool);
    const end = new AbortController();
    const working = front.work(async ({ repository }) => shop(repository, "job needed\n"), end);
    const load = await searching(front);

    await server.stop();
    await load.goesOn(5);
    for (const refused of [
      () => front.index(shop("new", "x\n")),
      () => front.enqueue("a", 1),
      () => front.status(),
    ])
      await expect(refused()).rejects.toThrow("ECONNREFUSED");
    expect(await asked()).toBeGreaterThanOrEqual(500);
    await isWarned("this front cannot");
    await isWarned("this node cannot");
    await isWarned("the queue of jobs");
    await load.goesOn(5);

    // as if PostgreSQL had been away for a quarter of an hour
    await server.runStopped(
      "postgres",
      "update quern_node set heartbeat = now() - interval '15 min'",
    );
    await server.start();
    await load.goesOn(20);
    await expect
      .poll(() =>
        front.status().then(
          ({ nodes }) => nodes,
          () => [],
        ),
      )
      .toMatchObject([
        { isLive: true, isPlaced: true },
        { isLive: true, isPlaced: true },
      ]);
    await load.goesOn(5);
    await load.stop();
    const most = 4; // two nodes, each with one warning for sending and one for receiving
    for (const one of warnings)
      expect(warnings.filter((other) => other === one).length).toBeLessThanOrEqual(most);
    await front.index(shop("new", "needle anew\n"));
    expect(await found(front, "anew")).toEqual(["new: needle anew"]);
    await front.enqueue("job", null);
    await expect.poll(() => found(front, "needed")).toEqual(["job: job needed"]);
    expect(await asked()).toBe(200);
    end.abort();
    await working;
  },
);

test.runIf(isInTurn(2, 1))(
  "searches continue while PostgreSQL accepts connections and statements but does not answer",
  async () => {
    const proxy = await startFaultyProxy(postgresPort!);
    const database = await emptyDatabase();
    const ms = 10_000; // even on a busy machine, PostgreSQL answers in less
    const pool = poolOn(database, {
      port: proxy.port,
      connectionTimeoutMillis: ms,
      query_timeout: ms,
    });
    const { front, asked, isWarned } = await newService(pool);
    const published = async () => {
      const { rows } = await poolOn(database, { max: 1 }).query(
        "select shard, generation from quern_shard order by shard",
      );
      return rows as unknown[];
    };
    const before = await published();
    const load = await searching(front);

    proxy.begin("hangs");
    await load.goesOn(5);
    const calls = [
      front.index(shop("new", "x\n")),
      front.enqueue("a", 1),
      front.status(),
      front.collect(),
    ];
    for (const call of calls) call.catch(() => undefined); // one after another, below
    expect(await asked()).toBeGreaterThanOrEqual(500);
    for (const call of calls) await expect(call).rejects.toThrow(/timeout/);
    await isWarned("this front cannot");
    await isWarned("this node cannot");
    await load.goesOn(5);
    expect(await published()).toEqual(before);

    proxy.end();
    const isIndexed = () =>
      front.index(shop("new", "needle anew\n")).then(
        () => true,
        () => false,
      );
    await load.goesOn(20);
    await load.stop(); // each answer was the first one
    await expect.poll(isIndexed).toBe(true);
    expect(await found(front, "anew")).toEqual(["new: needle anew"]);
    expect(await asked()).toBe(200);
  },
);

test("calls end in time, and say why, if PostgreSQL hangs until nodes no longer have the front's state", async () => {
  const proxy = await startFaultyProxy(postgresPort!);
  const database = await emptyDatabase();
  const cluster = await newCluster({ shardBytes: 30 }, poolOn(database));
  await startNodes(cluster, 2);
  const writer = await openFront(cluster);
  await fill(writer);
  const catalog = postgresCatalog(poolOn(database, { port: proxy.port })); // without time limits
  const front = await openFront(cluster, { catalog });
  const before = comparable(await front.search(request));
  proxy.begin("hangs");
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  await writer.index(shop("shop", "needle anew\n"));
  await writer.index(shop("other", "needle of another day\n"));
  expect(comparable(await front.search(request))).toEqual(before); // nodes keep the state for a minute
  vi.setSystemTime(Date.now() + 90_000);
  const generations = async () => {
    const { rows } = await cluster.pool.query("select shard, generation from quern_ready");
    const states = rows.map((row: { shard: number; generation: string }) => JSON.stringify(row));
    return [new Set(states).size, (await writer.status()).shards.length];
  };
  await expect.poll(async () => new Set(await generations()).size).toBe(1);
  const said = await front.search(request, { timeoutMs: 1_000 }).then(
    ({ stats, isSearchExhaustive }) => [stats.flushReason, isSearchExhaustive],
    ({ code }: QuernError) => code,
  );
  expect([["FLUSH_REASON_TIMER_EXPIRED", false], "OVERLOADED"]).toContainEqual(said);
  proxy.end();
  await expect.poll(() => found(front, "anew")).toEqual(["shop: needle anew"]);
  vi.useRealTimers();
});

// ── the object store ──

/** A fault of a store while it delivers an object. It ends when `isOver` resolves. */
type Fault = (store: SegmentStore, isOver: Promise<void>) => SegmentStore;

async function* changed(
  body: AsyncIterable<Uint8Array>,
  change: (piece: Uint8Array) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) yield change(piece);
}

const bodies =
  (change: (piece: Uint8Array) => Uint8Array): Fault =>
  (store, isOver) => {
    let isWhole = false;
    void isOver.then(() => (isWhole = true));
    return {
      ...store,
      async get(key, range) {
        const body = await store.get(key, range);
        return isWhole ? body : changed(body, change);
      },
    };
  };

const FAULTS: Record<string, Fault> = {
  "sends wrong bytes": bodies((piece) => piece.map((byte, i) => (i === 40 ? byte ^ 1 : byte))),
  "truncates what it sends": bodies((piece) => piece.subarray(0, piece.length >> 1)),
  "is gone": (store, isOver) => {
    let isBack = false;
    void isOver.then(() => (isBack = true));
    const mustBeBack = (): void => {
      if (!isBack) throw new Error("the store is gone");
    };
    return {
      ...store,
      async get(...given) {
        mustBeBack();
        return store.get(...given);
      },
      async put(...given) {
        mustBeBack();
        await store.put(...given);
      },
    };
  },
  "is slow": (store, isOver) => ({
    ...store,
    async get(key, range) {
      await isOver;
      return store.get(key, range);
    },
    async put(...given) {
      await isOver;
      await store.put(...given);
    },
  }),
};

function newFault() {
  let end = (): void => undefined;
  const isOver = new Promise<void>((resolve) => (end = resolve));
  return { isOver, end: () => end() };
}

describe.each(someOf(Object.entries(FAULTS), 2))("an object store that %s", (name, spoil) => {
  const isTold = name !== "is slow"; // nothing is reported while calls wait

  test("does not stop searches, which see new content when the store recovers", async () => {
    const { isOver, end } = newFault();
    const warnings: string[] = [];
    const onWarning = ({ message }: { message: string }) => void warnings.push(message);
    const cluster = await newCluster({ shardBytes: 30, onWarning });
    const writer = await cluster.open();
    await fill(writer);
    let now = cluster.segments;
    const segments: SegmentStore = { ...now, get: (...given) => now.get(...given) };
    await startNodes(cluster, 2, { segments });
    const front = await openFront(cluster);
    const load = await searching(front);
    now = spoil(now, isOver);
    const told = warnings.length;
    await writer.index(shop("shop", "needle anew\n"));
    if (isTold) await expect.poll(() => warnings.length).toBeGreaterThan(told);
    await load.goesOn(5);
    await load.stop();
    end();
    await expect.poll(() => found(front, "anew")).toEqual(["shop: needle anew"]);
    expect(await found(front, "needle")).toEqual(await found(writer, "needle"));
  });

  test("is made up for by a replica with an intact store", async () => {
    const { isOver, end } = newFault();
    const cluster = await newCluster({ shardBytes: 30, onWarning: () => undefined });
    const writer = await cluster.open();
    const segments = spoil(cluster.segments, isOver);
    await startNode(cluster, "sound");
    await startNode(cluster, "spoilt", { segments });
    const front = await openFront(cluster);
    await fill(writer);
    await expect.poll(() => found(front, "needle")).toEqual(await found(writer, "needle"));
    expect((await front.search(request)).isSearchExhaustive).toBe(true);
    end();
    await front.refresh();
    expect(await found(front, "needle")).toEqual(await found(writer, "needle"));
  });
});

async function withSpoiltWriter(fault: keyof typeof FAULTS) {
  const { isOver, end } = newFault();
  const cluster = await newCluster();
  const other = await cluster.open();
  await fill(other);
  const before = await found(other, "needle");
  const spoilt = FAULTS[fault]!(cluster.segments, isOver);
  const segments: SegmentStore = { ...cluster.segments, put: (...given) => spoilt.put(...given) };
  const writer = await cluster.open({ segments });
  const index = () => writer.index(shop("shop", "needle anew\n"));
  const isUnchanged = async (): Promise<void> => {
    await other.refresh();
    expect(await found(other, "needle")).toEqual(before);
  };
  const isNew = async (): Promise<void> => {
    await other.refresh();
    expect(await found(other, "anew")).toEqual(["shop: needle anew"]);
    expect(await other.check()).toMatchObject({ ok: true });
  };
  return { index, end, isUnchanged, isNew };
}

test("a writer whose store is gone says so, publishes nothing, and resumes later", async () => {
  const { index, end, isUnchanged, isNew } = await withSpoiltWriter("is gone");
  await expect(index()).rejects.toThrow("the store is gone");
  await isUnchanged();
  end();
  await index();
  await isNew();
});

test("a writer whose store is slow publishes when everything is stored", async () => {
  const { index, end, isUnchanged, isNew } = await withSpoiltWriter("is slow");
  const indexed = index();
  await isUnchanged();
  end();
  await indexed;
  await isNew();
});
