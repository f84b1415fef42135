/**
 * Defines the tables of a cluster and their migrations. A migration only adds tables, columns, indexes and rows. So
 * during an upgrade, processes of the previous version can go on until they are replaced. But no more of them start: a
 * process that finds tables of a newer version throws INDEX_VERSION.
 *
 *     version 1   quern_meta, quern_token, quern_user, quern_audit
 *     version 2   quern_object, quern_chunk
 *     version 3   quern_shard, quern_repository, quern_segment, quern_manifest, quern_state
 *     version 4   quern_node, quern_ready
 *     version 5   quern_job, quern_lease, quern_doomed
 *     version 6   `removed` and `extra_body` in quern_state; manifests no longer list repositories
 *     version 7   quern_damaged
 *
 * Ids are stored as UTF-16 code units, big-endian. So PostgreSQL sorts them as JavaScript does, in any locale, and
 * any string is a valid id. Dates are milliseconds since 1970. Records have the type json, because jsonb rejects
 * U+0000.
 */

import { QuernError } from "../../base/errors.ts";
import { CHANNEL, payloadOf, type Change } from "./changes.ts";
import { inTransaction, type PostgresPool, type PostgresQueries } from "./pool.ts";

/**
 * The place of a cluster's tables in the database.
 *
 * @example
 * const place: PostgresPlace = { schema: "search" };
 */
export interface PostgresPlace {
  /** The PostgreSQL schema of the tables. Default: the first schema of the connection's search path. */
  schema?: string;
}

/** The version of the format in which rows store their content. */
const FORMAT = 2;

const MIGRATIONS: readonly ((table: (name: string) => string) => readonly string[])[] = [
  (table) => [
    `create table ${table("quern_token")} (
      id bytea primary key,
      hash bytea not null unique,
      owner bytea not null,
      created_at bigint not null,
      revoked_at bigint,
      last_used_at bigint,
      record json not null
    )`,
    `create index on ${table("quern_token")} (owner, created_at, id)`,
    `create table ${table("quern_user")} (
      id bytea primary key,
      created_at bigint not null,
      record json not null
    )`,
    `create index on ${table("quern_user")} (created_at, id)`,
    `create table ${table("quern_audit")} (
      id bytea primary key,
      at bigint not null,
      record json not null
    )`,
    `create index on ${table("quern_audit")} (at, id)`,
  ],
  (table) => [
    // collation "C" orders keys by their bytes in every database
    `create table ${table("quern_object")} (
      key text collate "C" primary key,
      bytes bigint not null,
      stored_at timestamptz not null default now()
    )`,
    `create table ${table("quern_chunk")} (
      key text collate "C" not null references ${table("quern_object")} on delete cascade,
      chunk int not null,
      body bytea not null,
      primary key (key, chunk)
    )`,
    // uncompressed, so that reading a part of a body does not read the whole body
    `alter table ${table("quern_chunk")} alter body set storage external`,
  ],
  (table) => [
    `create table ${table("quern_shard")} (
      shard int primary key,
      generation bigint not null default 0,
      text_bytes bigint not null default 0,
      writer text,
      writer_until timestamptz
    )`,
    `create table ${table("quern_repository")} (
      repository int generated always as identity primary key,
      name text collate "C" not null unique,
      shard int not null references ${table("quern_shard")}
    )`,
    `create table ${table("quern_segment")} (
      shard int not null,
      segment bigint not null,
      object text not null,
      bytes bigint not null,
      files bigint not null,
      text_bytes bigint not null,
      primary key (shard, segment)
    )`,
    `create table ${table("quern_manifest")} (
      shard int not null,
      generation bigint not null,
      body bytea not null,
      created_at timestamptz not null default now(),
      primary key (shard, generation)
    )`,
    `create table ${table("quern_state")} (
      repository int not null,
      changed bigint not null,
      shard int not null,
      record json not null,
      sets bytea not null,
      extra text not null,
      primary key (repository, changed)
    )`,
  ],
  (table) => [
    `create table ${table("quern_node")} (
      node text collate "C" primary key,
      url text not null,
      heartbeat timestamptz not null,
      draining boolean not null default false,
      disk_bytes bigint not null
    )`,
    `create table ${table("quern_ready")} (
      node text collate "C" not null references ${table("quern_node")} on delete cascade,
      shard int not null,
      generation bigint not null,
      slices int[] not null,
      primary key (node, shard, generation)
    )`,
  ],
  (table) => [
    `create table ${table("quern_job")} (
      repository text collate "C" primary key,
      payload json not null,
      requested_at timestamptz not null,
      run_after timestamptz not null,
      attempts int not null default 0,
      error text,
      worker text,
      worker_until timestamptz
    )`,
    `create index on ${table("quern_job")} (run_after)`,
    `create table ${table("quern_lease")} (
      name text primary key,
      holder text not null,
      held_until timestamptz not null
    )`,
    `create table ${table("quern_doomed")} (
      key text collate "C" primary key,
      deleted_at timestamptz
    )`,
  ],
  (table) => [
    `alter table ${table("quern_state")} add column removed boolean not null default false`,
    `alter table ${table("quern_state")} add column extra_body bytea`,
    `alter table ${table("quern_state")} alter column extra_body set storage external`,
    `create index on ${table("quern_state")} (shard, changed) include (repository, removed)`,
    // before this version, only manifests recorded which repositories were removed
    `insert into ${table("quern_state")} (repository, changed, shard, removed, record, sets, extra)
     select repository, generation, shard, true, 'null'::json, ''::bytea, '' from (
       select distinct repository, generation, shard
       from ${table("quern_state")} as state join ${table("quern_shard")} as shard using (shard)
       where not exists (
         select from ${table("quern_repository")} as one where one.repository = state.repository)
     ) as gone`,
  ],
  (table) => [
    `create table ${table("quern_damaged")} (
      object text collate "C" primary key,
      shard int not null,
      segment bigint
    )`,
  ],
];

/** The version of the tables that this code reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The key of the lock that makes concurrent migrations wait for each other. Any number would do. */
const MIGRATION_LOCK = 7_835_113;

/**
 * Creates the tables of a cluster, or upgrades the tables of an older version. Does nothing if the tables are up to
 * date. Resolves to the version of the tables before the call (0 if there were none) and their version after it.
 * Rejects with INDEX_VERSION if a newer version of quern created the tables.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const { from, to } = await migrateCluster(pool, { schema: "search" });
 */
export async function migrateCluster(
  pool: PostgresPool,
  place: PostgresPlace = {},
): Promise<{
  /** The version of the tables before the call; 0 if there were none. */
  from: number;
  /** The version of the tables now. */
  to: number;
}> {
  const table = tableNames(place);
  return inTransaction(pool, async (client) => {
    await client.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    if (place.schema !== undefined)
      await client.query(`create schema if not exists ${quoted(place.schema)}`);
    await client.query(
      `create table if not exists ${table("quern_meta")} (schema int not null, format int not null)`,
    );
    const from = (await storedVersion(client, table))?.schema ?? 0;
    if (from > SCHEMA_VERSION) throw newer(from);
    for (const migration of MIGRATIONS.slice(from))
      for (const statement of migration(table)) await client.query(statement);
    await client.query(`delete from ${table("quern_meta")}`);
    await client.query(`insert into ${table("quern_meta")} (schema, format) values ($1, $2)`, [
      SCHEMA_VERSION,
      FORMAT,
    ]);
    return { from, to: SCHEMA_VERSION };
  });
}

/** The tables of a cluster, with functions that run statements on them. */
export interface Tables {
  /** Returns the quoted and qualified name of a table. */
  name(table: string): string;
  /** Runs a statement. Before the first statement, checks that the tables exist and have this version. */
  query(text: string, values?: unknown[]): Promise<PostgresResultRows>;
  /**
   * Notifies listeners of a change. Within a transaction, the listeners are notified when the transaction commits.
   */
  notify(change: Change, client?: PostgresQueries): Promise<void>;
  transaction<T>(work: (client: PostgresQueries) => Promise<T>): Promise<T>;
}

export interface PostgresResultRows {
  readonly rows: readonly Record<string, unknown>[];
  readonly changed: number;
}

/** Opens the tables. REQUIRES: names that are passed to name() occur in MIGRATIONS. */
export function openTables(pool: PostgresPool, place: PostgresPlace): Tables {
  const name = tableNames(place);
  let checked: Promise<void> | undefined;
  const check = (): Promise<void> => {
    checked ??= checkVersion(pool, name).catch((error: unknown) => {
      checked = undefined; // the next call checks again
      throw error;
    });
    return checked;
  };
  return {
    name,
    async query(text, values) {
      await check();
      const { rows, rowCount } = await pool.query(text, values);
      return { rows, changed: rowCount ?? 0 };
    },
    async notify(change, client = pool) {
      const payload = payloadOf(change, place.schema);
      await client.query("select pg_notify($1, $2)", [CHANNEL, payload]);
    },
    async transaction(work) {
      await check();
      return inTransaction(pool, work);
    },
  };
}

async function checkVersion(pool: PostgresPool, table: (name: string) => string): Promise<void> {
  const stored = await storedVersion(pool, table).catch((error: unknown) => {
    if (isMissing(error)) throw missing(error);
    throw error;
  });
  if (stored === undefined) throw missing();
  if (stored.schema > SCHEMA_VERSION) throw newer(stored.schema);
  if (stored.format > FORMAT)
    throw new QuernError(
      "INDEX_VERSION",
      `the rows of the tables have format ${stored.format}, but this quern reads only up to ${FORMAT}: use a newer quern`,
    );
  if (stored.schema < SCHEMA_VERSION)
    throw new QuernError(
      "INDEX_VERSION",
      `the tables have version ${stored.schema}, but this quern needs version ${SCHEMA_VERSION}: run migrateCluster()`,
    );
}

async function storedVersion(
  client: PostgresQueries,
  table: (name: string) => string,
): Promise<{ schema: number; format: number } | undefined> {
  const { rows } = await client.query(`select schema, format from ${table("quern_meta")}`);
  return rows[0] && { schema: Number(rows[0].schema), format: Number(rows[0].format) };
}

/** Whether PostgreSQL reports undefined_table or invalid_schema_name. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["42P01", "3F000"].includes(String(error.code));

const missing = (cause?: unknown): QuernError =>
  new QuernError(
    "INDEX_NOT_FOUND",
    "the database does not contain quern's tables: run migrateCluster()",
    {
      cause,
    },
  );

const newer = (version: number): QuernError =>
  new QuernError(
    "INDEX_VERSION",
    `the tables have version ${version}, but this quern needs version ${SCHEMA_VERSION}: use a newer quern`,
  );

function tableNames({ schema }: PostgresPlace): (name: string) => string {
  const prefix = schema === undefined ? "" : `${quoted(schema)}.`;
  return (name) => prefix + name;
}

function quoted(schema: string): string {
  if (typeof schema !== "string" || schema === "" || schema.includes("\0"))
    throw new QuernError(
      "INVALID_REQUEST",
      `schema: must be the name of a PostgreSQL schema, got ${JSON.stringify(schema)}`,
    );
  return `"${schema.replaceAll('"', '""')}"`;
}
