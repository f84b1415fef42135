/**
 * Everything fails at once under load: nodes are killed, and while one is down, its disk is wiped, an object is damaged,
 * PostgreSQL restarts, and a writer that was stopped past its lease goes on. The clock of one node is wrong. With two
 * replicas, no answer is different, partial or refused.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished } from "vitest";
import type { ClusterEngine } from "../../src/cluster/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { bundledPrograms } from "../programs.ts";
import { SHORT_LIVED } from "../short-lived.ts";
import { killUnderLoad, totals, type Down } from "./kills.ts";
import { ownServer, postgresTest as test } from "./postgres.ts";
import { isInTurn } from "../runs.ts";

/** A clock that differs by a minute or more makes a node unreachable, because it refuses the signatures of calls. */
const CLOCK_MS = 40_000;
/** Enough answers that each question is asked at least once. */
const ANSWERS = 20;

const isStopped = ({ pid }: ChildProcess): boolean =>
  / [Tt] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

/** Changes a byte at the end of each object of a kind. */
function damage(objects: string, kind: string): number {
  const names = readdirSync(join(objects, "v1", kind), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => /[0-9a-f]{64}$/.test(name));
  for (const name of files) {
    const file = join(objects, "v1", kind, name);
    const bytes = readFileSync(file);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(file, bytes);
  }
  return files.length;
}

test.runIf(isInTurn(3, 2))(
  "kills, wiped disks, damage, restarts of PostgreSQL, a stopped writer and a wrong clock",
  async ({ skip }) => {
    if (process.platform !== "linux") skip("only Linux shows that a process is stopped");
    const server = await ownServer();
    const place = { host: "127.0.0.1", port: server.port, user: "quern", database: "postgres" };
    const pool = new pg.Pool(place);
    pool.on("error", () => undefined); // connections break when PostgreSQL stops
    onTestFinished(() => pool.end());
    const [program] = await bundledPrograms(["test/cluster/mortal-writer.ts"]);
    let writer: ChildProcess | undefined;
    onTestFinished(() => void writer?.kill("SIGKILL"));
    const generations = async (): Promise<unknown> =>
      (await pool.query("select shard, generation from quern_shard order by shard")).rows;
    let before: unknown;

    /** Starts a writer that is stopped before it publishes another content of a repository. */
    async function stopWriter(front: ClusterEngine, objects: string): Promise<void> {
      before = await generations();
      await front.enqueue("shop0", "needle that nobody publishes\n");
      const told = {
        ...place,
        objects,
        directory: temporaryFolder(),
        step: "put 1",
        signal: "SIGSTOP",
      };
      const args = [...SHORT_LIVED, program!, JSON.stringify(told)];
      writer = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "ignore"] });
      await expect.poll(() => isStopped(writer!)).toBe(true);
    }

    /** Gives the lease to another writer, and lets the stopped one go on. */
    async function resumeWriter(): Promise<void> {
      await pool.query(
        "update quern_shard set writer = 'another', writer_until = now() + interval '1 h'",
      );
      await pool.query("delete from quern_job");
      writer!.kill("SIGCONT");
    }

    const calamities: readonly ((down: Down) => Promise<void>)[] = [
      async ({ directory }) => {
        rmSync(directory, { recursive: true });
      },
      async ({ objects, front }) => {
        await stopWriter(front, objects);
        expect(damage(objects, "seg")).toBeGreaterThan(2);
      },
      async ({ directory }) => {
        await server.stop();
        rmSync(directory, { recursive: true });
        await server.start();
      },
      resumeWriter,
    ];
    const counts = await killUnderLoad({
      pool,
      postgresPort: server.port,
      folder: () => temporaryFolder(),
      nodes: 3,
      replicas: 2,
      pauseMs: 20,
      clockMs: CLOCK_MS,
      whileDown: async (down) => calamities[down.turn]?.(down),
      isOver: (now) => now.kills >= calamities.length && totals(now).identical >= ANSWERS,
    });
    expect(counts.wrong).toEqual([]);
    const failed = Object.entries(counts.verdicts).filter(
      ([, { partial, refused }]) => partial + refused > 0,
    );
    expect(failed).toEqual([]);
    expect(await generations()).toEqual(before); // the stopped writer has published nothing
    expect((await pool.query("select from quern_damaged")).rows).toEqual([]);
  },
);
