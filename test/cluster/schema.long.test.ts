/**
 * The tables of a cluster are made once, are brought up to date, and are never written by a version that does not know
 * them.
 */

import type pg from "pg";
import { expect } from "vitest";
import { migrateCluster, postgresTokenStore } from "../../src/cluster/index.ts";
import { emptyDatabase, poolOn, postgresTest as test } from "./postgres.ts";

const schemaOf = async (pool: pg.Pool) =>
  (await pool.query("select schema, format from quern_meta")).rows as unknown[];

test("migrating makes the tables, and migrating again does nothing", async () => {
  const pool = poolOn(await emptyDatabase());
  const { to } = await migrateCluster(pool);
  expect(await migrateCluster(pool)).toEqual({ from: to, to });
  expect(await schemaOf(pool)).toEqual([{ schema: to, format: 2 }]);
});

test("if many processes migrate at once, one does the work and the others wait", async () => {
  const pool = poolOn(await emptyDatabase());
  const reports = await Promise.all(Array.from({ length: 8 }, () => migrateCluster(pool)));
  const { to } = reports[0]!;
  expect(reports.map(({ from }) => from).sort((a, b) => a - b)).toEqual([
    0,
    ...Array.from({ length: 7 }, () => to),
  ]);
});

test("a migration that fails leaves nothing behind", async () => {
  const pool = poolOn(await emptyDatabase());
  await pool.query("create table quern_audit (id int)");
  await expect(migrateCluster(pool)).rejects.toMatchObject({ code: "42P07" });
  const { rows } = await pool.query(
    "select tablename from pg_tables where tablename like 'quern%'",
  );
  expect(rows).toEqual([{ tablename: "quern_audit" }]);
});

test("a store on a database without tables says what to do, and works afterwards", async () => {
  const pool = poolOn(await emptyDatabase());
  const tokens = postgresTokenStore(pool, { schema: "later" });
  await expect(tokens.get("a")).rejects.toMatchObject({
    code: "INDEX_NOT_FOUND",
    message: "the database does not contain quern's tables: run migrateCluster()",
  });
  await migrateCluster(pool, { schema: "later" });
  expect(await tokens.get("a")).toBeUndefined();
});

const OTHERS = [
  [
    "an older version",
    "schema = 0",
    /version 0, but this quern needs version \d+: run migrateCluster/,
  ],
  [
    "a newer version",
    "schema = 99",
    /version 99, but this quern needs version \d+: use a newer quern/,
  ],
  [
    "a newer format",
    "format = 99",
    /format 99, but this quern reads only up to 2: use a newer quern/,
  ],
] as const;

test.each(OTHERS)("tables of %s are rejected with INDEX_VERSION", async (_, set, words) => {
  const pool = poolOn(await emptyDatabase());
  await migrateCluster(pool);
  await pool.query(`update quern_meta set ${set}`);
  const refused = postgresTokenStore(pool).get("a");
  await expect(refused).rejects.toMatchObject({ code: "INDEX_VERSION" });
  await expect(refused).rejects.toThrow(words);
});

test("a version that knows only older tables migrates nothing", async () => {
  const pool = poolOn(await emptyDatabase());
  await migrateCluster(pool);
  await pool.query("update quern_meta set schema = 99");
  await expect(migrateCluster(pool)).rejects.toMatchObject({ code: "INDEX_VERSION" });
  expect(await schemaOf(pool)).toEqual([{ schema: 99, format: 2 }]);
});

test("an empty version table counts as a database without tables", async () => {
  const pool = poolOn(await emptyDatabase());
  await migrateCluster(pool);
  await pool.query("delete from quern_meta");
  await expect(postgresTokenStore(pool).get("a")).rejects.toMatchObject({
    code: "INDEX_NOT_FOUND",
  });
});

test("repositories that were removed before version 6 stay removed", async () => {
  const pool = poolOn(await emptyDatabase());
  await migrateCluster(pool);
  for (const column of ["removed", "extra_body"])
    await pool.query(`alter table quern_state drop column ${column}`);
  await pool.query("drop table quern_damaged");
  await pool.query("update quern_meta set schema = 5, format = 1");
  await pool.query("insert into quern_shard (shard, generation) values (1, 3), (2, 1)");
  await pool.query("insert into quern_repository (name, shard) values ('kept', 1)");
  await pool.query(
    `insert into quern_state (repository, changed, shard, record, sets, extra)
     select id, changed, shard, '{}', '', '' from
     unnest(array[1, 2, 2], array[1, 1, 2], array[1, 1, 1]) as one (id, changed, shard)`,
  );
  await migrateCluster(pool);
  const { rows } = await pool.query("select repository, changed from quern_state where removed");
  expect(rows).toEqual([{ repository: 2, changed: "3" }]);
});
