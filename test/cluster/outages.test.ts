/** PostgreSQL and the object store fail under searches. Searches go on, writers say what is wrong, and then resume. */

import { expect, onTestFinished } from "vitest";
import pg from "pg";
import { createApiKey } from "../../src/auth/secrets.ts";
import {
  postgresTokenStore,
  postgresUserStore,
  type ClusterEngine,
} from "../../src/cluster/index.ts";
import { createHandler } from "../../src/http/index.ts";
import { person } from "../http/service.ts";
import { comparable } from "./comparable.ts";
import { openFront, startNodes } from "./fronts.ts";
import { found, newCluster, shop } from "./machines.ts";
import { ownServer, postgresTest as test } from "./postgres.ts";

const request = { query: "needle", matches: 100 };

/** Searches all the time; each answer must be the first one. */
async function searching(front: ClusterEngine) {
  const whole = comparable(await front.search(request));
  expect(whole.isSearchExhaustive).toBe(true);
  const load = { isOver: false, answers: 0 };
  const lane = (async () => {
    while (!load.isOver) {
      expect(comparable(await front.search(request))).toEqual(whole);
      load.answers++;
    }
  })();
  lane.catch(() => undefined); // stop() tells
  return {
    /** Resolves after so many more answers. */
    async goesOn(count: number): Promise<void> {
      const before = load.answers;
      await Promise.race([lane, expect.poll(() => load.answers).toBeGreaterThan(before + count)]);
    },
    async stop(): Promise<void> {
      load.isOver = true;
      await lane;
    },
  };
}

const fill = async (engine: ClusterEngine): Promise<void> => {
  for (let n = 1; n <= 3; n++)
    await engine.index(
      shop("shop", ...Array.from({ length: n }, (_, i) => `needle ${i} of many\n`)),
    );
  await engine.index(shop("other", "needle of another\n"));
};

test("PostgreSQL is stopped for longer than nodes count as live, and comes back", async () => {
  const server = await ownServer();
  const pool = new pg.Pool({
    host: "127.0.0.1",
    port: server.port,
    user: "quern",
    database: "postgres",
  });
  pool.on("error", () => undefined); // without a listener Node ends the process
  onTestFinished(() => pool.end());
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
  await expect.poll(() => warnings.some((one) => one.includes("this front cannot"))).toBe(true);
  await expect.poll(() => warnings.some((one) => one.includes("this node cannot"))).toBe(true);
  await expect.poll(() => warnings.some((one) => one.includes("the queue of jobs"))).toBe(true);
  const told = warnings.length;
  await load.goesOn(5);

  // as if it had been away for a quarter of an hour
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
  expect(warnings.slice(told)).toEqual([]);
  await front.index(shop("new", "needle anew\n"));
  expect(await found(front, "anew")).toEqual(["new: needle anew"]);
  await front.enqueue("job", null);
  await expect.poll(() => found(front, "needed")).toEqual(["job: job needed"]);
  expect(await asked()).toBe(200);
  end.abort();
  await working;
});
