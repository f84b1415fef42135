/**
 * PgBouncer in transaction mode in front of the tests' PostgreSQL, with three connections for everybody. If it is not
 * installed, its tests are skipped and a printed line says so. With QUERN_CI=1 that is an error.
 */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import { leaveOut } from "../left-out.ts";
import { isThere as hasPostgres, postgresPort } from "./postgres.ts";

const PROGRAM = "/usr/sbin/pgbouncer";
const isInstalled = existsSync(PROGRAM);
if (!isInstalled) leaveOut("PgBouncer", "install Debian's package pgbouncer");

export const isThere = isInstalled && hasPostgres;

/** Declares a test that is skipped if PgBouncer is not installed. */
export const bouncerTest: ReturnType<typeof test.runIf> = test.runIf(isThere);

export interface Bouncer {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

export async function startBouncer(folder: string): Promise<Bouncer> {
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=127.0.0.1 port=${postgresPort} user=quern`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 3",
  ];
  writeFileSync(file, lines.join("\n"));
  chmodSync(folder, 0o755);
  // PgBouncer refuses to run as root
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? { uid: Number(execFileSync("id", ["-u", "nobody"])) } : {};
  const child = spawn(PROGRAM, ["-q", file], { stdio: ["ignore", "ignore", "inherit"], ...as });
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    await sleep(20);
  }
  return {
    port,
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}
