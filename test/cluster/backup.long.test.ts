/** A cluster is backed up and restored, and it keeps running while a newer version migrates its tables. */

import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type pg from "pg";
import { describe, expect } from "vitest";
import {
  directorySegments,
  migrateCluster,
  openCluster,
  postgresCatalog,
  type ClusterEngine,
} from "../../src/cluster/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { leaveOut } from "../left-out.ts";
import { comparable } from "./comparable.ts";
import { openFront, startNodes } from "./fronts.ts";
import { code, found, newCluster, shop } from "./machines.ts";
import { emptyDatabase, poolOn, postgresPort, postgresTest as test } from "./postgres.ts";

const LAYOUT = { shardBytes: 60, replicas: 2 };
const request = { query: "needle", matches: 100, facets: 5 };

/** Fills an empty database with the content of a backup. */
type Backup = (pool: pg.Pool) => Promise<void>;

/** The folder of pg_dump and pg_restore, which must be as new as the server. The npm package of the server has none. */
const programs = process.env["QUERN_POSTGRES"];
if (programs === undefined)
  leaveOut("pg_dump", "QUERN_POSTGRES is not set; backups by SQL are tested instead");

/** Backs up all tables as they are at one moment. */
const dump = (pool: pg.Pool): Promise<Backup> =>
  programs === undefined ? dumpRows(pool) : dumpWith(programs, pool);

async function dumpWith(folder: string, pool: pg.Pool): Promise<Backup> {
  const file = join(temporaryFolder(), "dump");
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(folder, program), [
      "--host=127.0.0.1",
      `--port=${postgresPort!}`,
      "--username=quern",
      ...args,
    ]);
  await run("pg_dump", "--format=custom", `--file=${file}`, pool.options.database!);
  return async (empty) => {
    await run("pg_restore", "--exit-on-error", `--dbname=${empty.options.database!}`, file);
  };
}

async function dumpRows(pool: pg.Pool): Promise<Backup> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read read only");
    const { rows: tables } = await client.query<{ name: string }>(
      "select tablename as name from pg_tables where tablename like 'quern%'",
    );
    const backup = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await client.query<{ all: string | null }>(
        `select jsonb_agg(to_jsonb(one))::text as all from ${name} as one`,
      );
      backup.set(name, rows[0]!.all ?? "[]");
    }
    await client.query("commit");
    return (empty) => restoreRows(backup, empty);
  } finally {
    client.release();
  }
}

/** Makes a database with the content of a backup. */
async function restore(backup: Backup): Promise<pg.Pool> {
  const pool = poolOn(await emptyDatabase());
  await backup(pool);
  return pool;
}

async function restoreRows(backup: ReadonlyMap<string, string>, pool: pg.Pool): Promise<void> {
  await migrateCluster(pool); // makes the tables
  const client = await pool.connect();
  try {
    await client.query("set session_replication_role = replica"); // rows come in any order
    await client.query("delete from quern_meta");
    for (const [name, rows] of backup)
      await client.query(
        `insert into ${name} overriding system value
         select * from jsonb_populate_recordset(null::${name}, $1::jsonb)`,
        [rows],
      );
    const { rows } = await client.query<{ next: number }>(
      "select coalesce(max(repository), 0) + 1 as next from quern_repository",
    );
    await client.query(
      `alter table quern_repository alter column repository restart with ${rows[0]!.next}`,
    );
    await client.query("set session_replication_role = origin");
  } finally {
    client.release();
  }
}

/** Makes a cluster of machines that have nothing on their disks yet. */
async function restored(backup: Backup, objects: string) {
  const segments = directorySegments(objects);
  const cluster = await newCluster({ ...LAYOUT, segments }, await restore(backup));
  await cluster.pool.query("delete from quern_node"); // addresses of the old machines
  await startNodes(cluster, 2);
  return { cluster, front: await openFront(cluster) };
}

async function filled() {
  const objects = temporaryFolder();
  const cluster = await newCluster({ ...LAYOUT, segments: directorySegments(objects) });
  const writer = await cluster.open();
  const one = (n: number) => `export function needle${n}() {}\n`;
  await writer.index(code("shop", one(1)));
  await writer.index(code("shop", one(1), one(2)));
  await writer.index(shop("other", "needle of another\n"));
  return { objects, cluster, writer };
}

const copyOf = (folder: string): string => {
  const copy = join(temporaryFolder(), "copy");
  cpSync(folder, copy, { recursive: true });
  return copy;
};

const HOUR = 3_600_000;

describe("a backup", () => {
  test("of PostgreSQL and then of the objects restores a cluster that answers the same and can index", async () => {
    const { objects, cluster, writer } = await filled();
    const before = comparable(await writer.search(request));
    const backup = await dump(cluster.pool);
    await writer.index(code("shop", "export function needle3() {}\n")); // between the two copies
    await writer.index(shop("late", "needle too late\n"));
    const copy = copyOf(objects);

    const { cluster: back, front } = await restored(backup, copy);
    const whole = await back.open();
    for (const engine of [front, whole])
      expect(comparable(await engine.search(request))).toEqual(before);
    expect(await whole.check()).toMatchObject({ ok: true });
    const [report] = await front.index(shop("late", "needle again\n"));
    const ids = (await front.repositories()).map(({ id }) => id);
    expect(ids).toContain(report!.repositoryId);
    expect(new Set(ids).size).toBe(3);

    // objects that only the newer catalog named are deleted as orphans, and nothing else is
    const now = new Date(Date.now() + 25 * HOUR);
    expect((await front.collect({ now }))!.objects).toBeGreaterThan(0);
    const fresh = await back.open();
    expect(await found(fresh, "needle")).toEqual(await found(front, "needle"));
    expect(await fresh.check()).toMatchObject({ ok: true });
  });

  test("whose objects are older than PostgreSQL names missing objects, and answers nothing wrong", async () => {
    const { objects, cluster, writer } = await filled();
    const copy = copyOf(objects);
    await writer.index(shop("other", "needle of another\n", "needle that came later\n"));
    const expected = comparable(await writer.search(request));
    const backup = await dump(cluster.pool);
    const pool = await restore(backup);
    await pool.query("delete from quern_node");
    const segments = directorySegments(copy);
    const back = await newCluster({ ...LAYOUT, segments }, pool);
    const missing = { code: "INDEX_CORRUPT", message: expect.stringContaining("v1/") as string };
    await expect(back.open()).rejects.toMatchObject(missing);
    const front = await openFront(back); // it holds no index, and there are no nodes
    const answer = await front.search(request);
    expect(answer.isSearchExhaustive).toBe(false);
    expect(answer.stats.crashes).toBeGreaterThan(0);
    // a later copy of the bucket repairs it
    cpSync(objects, copy, { recursive: true });
    await startNodes(back, 2);
    await front.refresh();
    for (const engine of [front, await back.open()] satisfies ClusterEngine[])
      expect(comparable(await engine.search(request))).toEqual(expected);
  });
});

test("machines keep running while a newer version migrates the tables, and an older version refuses to start", async () => {
  const { cluster, writer } = await filled();
  await startNodes(cluster, 2);
  const front = await openFront(cluster);
  const before = await found(front, "needle");
  // a migration only adds
  await cluster.pool.query("alter table quern_state add column invented_later text");
  await cluster.pool.query("alter table quern_node add column also_later int not null default 0");
  await cluster.pool.query("update quern_meta set schema = schema + 1");
  expect(await found(front, "needle")).toEqual(before);
  await writer.index(shop("other", "needle of another\n", "needle after the migration\n"));
  await expect.poll(() => found(front, "migration")).toEqual(["other: needle after the migration"]);
  const started = openCluster({
    catalog: postgresCatalog(cluster.pool),
    segments: cluster.segments,
    directory: temporaryFolder(),
  });
  await expect(started).rejects.toMatchObject({
    code: "INDEX_VERSION",
    message: expect.stringContaining("use a newer quern") as string,
  });
  await expect(migrateCluster(cluster.pool)).rejects.toMatchObject({ code: "INDEX_VERSION" });
  await cluster.pool.query("update quern_meta set schema = schema - 1, format = format + 1");
  await expect(cluster.open()).rejects.toMatchObject({ code: "INDEX_VERSION" });
});
