/** Machines hear of changes at once if PostgreSQL lets them, and say so if it does not. */

import pg from "pg";
import { describe, expect, onTestFinished } from "vitest";
import { Jobs } from "../../src/cluster/catalog/jobs.ts";
import { Nodes } from "../../src/cluster/catalog/nodes.ts";
import { migrateCluster, openCluster, postgresCatalog } from "../../src/cluster/index.ts";
import type { PostgresPool } from "../../src/cluster/postgres/pool.ts";
import { listenTo, type Change } from "../../src/cluster/postgres/changes.ts";
import { found, newCluster, shop } from "./machines.ts";
import { bouncerTest, startBouncer } from "./pgbouncer.ts";
import { emptyDatabase, poolOn, postgresTest as test } from "./postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Returns what a listener of a schema hears; "all" if it may have missed something. */
function hear(pool: pg.Pool, schema?: string) {
  const heard: (Change | "all")[] = [];
  const deaf: string[] = [];
  const stop = listenTo(pool, {
    schema,
    onChange: (change) => void heard.push(change ?? "all"),
    onDeaf: (why) => void deaf.push(why),
  });
  onTestFinished(stop);
  return { heard, deaf, stop };
}

const migrated = async (options: pg.PoolConfig = {}, schema?: string): Promise<pg.Pool> => {
  const pool = poolOn(await emptyDatabase(), options);
  await migrateCluster(pool, schema === undefined ? {} : { schema });
  return pool;
};

describe("a listener", () => {
  test("hears its own schema's changes, even after its connection is lost", async () => {
    const pool = await migrated({}, "one");
    await migrateCluster(pool, { schema: "two" });
    const { heard } = hear(pool, "one");
    const sibling = hear(pool, "two"); // over the same connection
    await expect.poll(() => [heard, sibling.heard]).toEqual([["all"], ["all"]]);
    await new Jobs(pool, { schema: "two" }).add("shop", "null", undefined);
    await new Jobs(pool, { schema: "one" }).add("later", "null", new Date(Date.now() + 60_000));
    const nodes = new Nodes(pool, { schema: "one" });
    const node = { name: "a", url: "http://a/", diskBytes: 1 };
    await nodes.beat(node, true);
    await nodes.beat(node, false); // a heartbeat is not a change
    await nodes.drain("a");
    await new Jobs(pool, { schema: "one" }).add("shop", "null", undefined);
    await expect.poll(() => heard.at(-1)).toBe("jobs");
    expect(heard.filter((one) => one === "jobs")).toHaveLength(1);
    expect(new Set(heard)).toEqual(new Set(["all", "nodes", "jobs"]));
    await expect.poll(() => sibling.heard).toEqual(["all", "jobs"]);
    const { rows } = await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where query = 'listen quern' and datname = current_database()`, // other tests share the server
    );
    expect(rows).toHaveLength(1);
    await expect.poll(() => heard.at(-1)).toBe("all");
  });

  test("gives its connection back", async () => {
    const pool = await migrated({ max: 2 });
    const { heard, stop } = hear(pool);
    await expect.poll(() => heard).toEqual(["all"]);
    await stop();
    const clients = [await pool.connect(), await pool.connect()];
    for (const client of clients) client.release();
    expect(clients).toHaveLength(2);
  });

  test("does not take a pool's only connection", async () => {
    const { deaf } = hear(await migrated({ max: 1 }));
    await expect.poll(() => deaf).toEqual(["the pool has only one connection"]);
  });

  test("closes while PostgreSQL is not available", async () => {
    const { heard, deaf, stop } = hear(poolOn("postgres", { port: 1 }));
    await stop();
    expect([heard, deaf]).toEqual([[], []]);
  });
});

bouncerTest(
  "behind PgBouncer in transaction mode, a machine warns that it polls for changes",
  async () => {
    const folder = temporaryFolder();
    const bouncer = await startBouncer(folder.path);
    onTestFinished(async () => {
      await bouncer.stop();
      folder[Symbol.dispose]();
    });
    const pool = await migrated({ port: bouncer.port });
    const cluster = await newCluster({}, pool);
    const warnings: string[] = [];
    const silent: string[] = [];
    const machine = await cluster.open({ onWarning: ({ message }) => void warnings.push(message) });
    await cluster.open({
      catalog: postgresCatalog(pool, { listen: false }),
      onWarning: ({ message }) => void silent.push(message),
    });
    const other = await cluster.open();
    await expect.poll(() => warnings).toHaveLength(1);
    expect(warnings[0]).toContain("cannot LISTEN, so it looks for changes each second");
    await other.index(shop("shop", "needle\n"));
    await expect.poll(() => found(machine, "needle")).toHaveLength(1);
    expect(silent).toEqual([]);
  },
);

test("a machine that hears of changes looks only when there are some, not each second", async () => {
  const pool = await migrated();
  const cluster = await newCluster({}, pool);
  const looking = async (listen: boolean) => {
    const looks = { count: 0 };
    const counting: PostgresPool = {
      query(text, values) {
        looks.count++;
        return pool.query(text, values);
      },
      connect: () => pool.connect(),
    };
    await cluster.open({ catalog: postgresCatalog(counting, { listen }) });
    return looks;
  };
  const [listener, poller] = [await looking(true), await looking(false)];
  const { heard } = hear(pool);
  await expect.poll(() => heard).toEqual(["all"]);
  const before = poller.count; // the machine is idle, so all its queries are looks
  for (let news = 0; news < 40; news++) {
    const seen = listener.count;
    await pool.query("select pg_notify('quern', 'index ')");
    await expect.poll(() => listener.count, { interval: 5 }).toBeGreaterThan(seen);
  }
  expect(poller.count - before).toBeLessThan(30); // without notifications, both would look equally often
});

test("machines over one pool share one connection, and the last one returns it", async () => {
  const cluster = await newCluster();
  const machines = await Promise.all([1, 2, 3].map(() => cluster.open()));
  const listening = async () => {
    const { rows } = await cluster.pool.query(
      `select count(*)::int as n from pg_stat_activity
       where query = 'listen quern' and datname = current_database()`,
    );
    return (rows[0] as { n: number }).n;
  };
  await expect.poll(listening).toBe(1);
  for (const machine of machines) await machine.close();
  await expect.poll(listening).toBe(0);
});

test("a machine can be closed after its pool has ended", async () => {
  const pool = new pg.Pool((await migrated()).options); // ends here, and not with the file
  const { segments } = await newCluster();
  using folder = temporaryFolder();
  const catalog = postgresCatalog(pool);
  const engine = await openCluster({ catalog, segments, directory: folder.path, workers: 0 });
  const ended = pool.end();
  await engine.close();
  await ended;
});
