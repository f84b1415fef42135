/**
 * Everything that a cluster does in PostgreSQL works through PgBouncer in transaction mode, over a few shared
 * connections.
 */

import type pg from "pg";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { Catalog } from "../../src/cluster/catalog/catalog.ts";
import {
  migrateCluster,
  postgresAuditStore,
  postgresSegments,
  postgresTokenStore,
  postgresUserStore,
} from "../../src/cluster/index.ts";
import { auditStoreSuite, tokenStoreSuite, userStoreSuite } from "../../src/testing.ts";
import { openFront, startNodes } from "./fronts.ts";
import { found, newCluster, shop } from "./machines.ts";
import { bouncerTest as test, isThere, startBouncer, type Bouncer } from "./pgbouncer.ts";
import { emptyDatabase, poolOn } from "./postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
let bouncer: Bouncer;
let pool: pg.Pool;

const through = async (): Promise<pg.Pool> => {
  const made = poolOn(await emptyDatabase(), { port: bouncer.port });
  await migrateCluster(made);
  return made;
};

beforeAll(async () => {
  if (!isThere) return;
  bouncer = await startBouncer(folder.path);
  pool = await through();
});
afterAll(async () => {
  await bouncer?.stop();
  folder[Symbol.dispose]();
});

describe("tokens", () => tokenStoreSuite({ test }, async () => postgresTokenStore(pool)));
describe("users", () => userStoreSuite({ test }, async () => postgresUserStore(pool)));
describe("audits", () => auditStoreSuite({ test }, async () => postgresAuditStore(pool)));

test("machines can index, run jobs, hold leases and collect", async () => {
  const own = await through();
  const cluster = await newCluster({}, own);
  const segments = postgresSegments(own);
  const machines = await Promise.all([1, 2, 3].map(() => cluster.open({ segments })));
  await Promise.all(machines.map((machine, n) => machine.index(shop(`r${n}`, `needle ${n}\n`))));
  for (let n = 3; n < 8; n++) await machines[0]!.enqueue(`r${n}`, null);
  const stop = new AbortController();
  const working = machines.map((machine) =>
    machine.work(async ({ repository }) => shop(repository, `needle ${repository.slice(1)}\n`), {
      signal: stop.signal,
    }),
  );
  const waiting = () => machines[0]!.status().then(({ queue }) => queue.waiting + queue.running);
  await expect.poll(waiting).toBe(0);
  stop.abort();
  await Promise.all(working);
  const lines = Array.from({ length: 8 }, (_, n) => `r${n}: needle ${n}`);
  for (const machine of machines) {
    await machine.refresh();
    expect(await found(machine, "needle")).toEqual(lines);
  }
  const catalogs = Array.from({ length: 6 }, () => new Catalog(own, {}));
  const leases = await Promise.all(catalogs.map((one, n) => one.lease(1, `writer ${n}`, 60_000)));
  expect(leases.filter((one) => one !== undefined)).toHaveLength(1);
  const reports = await Promise.all(machines.map((machine) => machine.collect()));
  expect(reports.filter((one) => one !== undefined).length).toBeGreaterThan(0);
});

test("nodes and a front follow each other through PgBouncer", async () => {
  const own = await through();
  const cluster = await newCluster({ onWarning: () => undefined }, own);
  const segments = postgresSegments(own);
  await startNodes(cluster, 2, { segments });
  const [front, other] = [
    await openFront(cluster, { segments }),
    await openFront(cluster, { segments }),
  ];
  for (let n = 0; n < 3; n++) {
    await front.index(shop("shop", `needle ${n}\n`));
    expect(await found(front, "needle")).toEqual([`shop: needle ${n}`]);
    await expect.poll(() => found(other, "needle")).toEqual([`shop: needle ${n}`]);
  }
  const { nodes } = await front.status();
  expect(nodes.map(({ isLive, isPlaced }) => [isLive, isPlaced])).toEqual([
    [true, true],
    [true, true],
  ]);
});
