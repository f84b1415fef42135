/**
 * Databases of the PostgreSQL server that all tests of a run share. If there is no server, these tests are skipped and
 * a printed line says so. With QUERN_CI=1 that is an error.
 */

import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";
import { afterAll, inject, onTestFinished, test } from "vitest";
import { leaveOut } from "../left-out.ts";
import { startPostgres, type PostgresServer } from "./postgres-process.ts";

async function findPort(): Promise<number | undefined> {
  const socket = connect(inject("postgresBroker"), "127.0.0.1");
  const told = JSON.parse(await text(socket)) as { port: number } | { missing: string };
  if ("port" in told) return told.port;
  leaveOut("PostgreSQL", told.missing);
  return undefined;
}

const port = await findPort();
export { port as postgresPort };

export const isThere = port !== undefined;

/** Declares a test that is skipped if there is no server. */
export const postgresTest = test.runIf(port !== undefined) as typeof test;

/** A pool ends with the tests of its file. Until then, it is to hold no connections that nobody uses. */
const IDLE_MS = 1_000;

const opened: pg.Pool[] = [];
afterAll(async () => {
  await Promise.all(opened.map((pool) => pool.end()));
});

/** Returns a pool on a database of that name. The pool ends with the tests of the file. */
export function poolOn(database: string, options: pg.PoolConfig = {}): pg.Pool {
  const given = { idleTimeoutMillis: IDLE_MS, ...options };
  const pool = new pg.Pool({ host: "127.0.0.1", port, user: "quern", database, ...given });
  pool.on("error", () => undefined); // idle connections break when a test stops the server
  opened.push(pool);
  return pool;
}

/** Makes an empty database. Resolves to its name. */
export async function emptyDatabase(): Promise<string> {
  const name = `t${randomBytes(8).toString("hex")}`;
  const pool = poolOn("postgres", { max: 1 });
  // the default strategy, through the write-ahead log, takes twice the processor time
  await pool.query(`create database ${name} strategy file_copy`);
  return name;
}

/** Starts a server for one test, which takes some seconds. It ends after the test. */
export async function ownServer(): Promise<PostgresServer> {
  const server = await startPostgres();
  onTestFinished(() => server.end());
  return server;
}
