/**
 * Kills nodes of a cluster under load, one each second with SIGKILL, and compares each answer with that of a single
 * engine:
 *
 *     npx tsx scripts/cluster-kills.ts [--minutes 10] [--nodes 4] [--replicas 2]
 *
 * The nodes are separate processes with a separate PostgreSQL. With two replicas no answer may be partial. With one
 * replica a partial answer must say that it is. Otherwise the exit code is 1. Build the kernel and the worker first.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { killUnderLoad, totals, type KillCounts } from "../test/cluster/kills.ts";
import { startPostgres } from "../test/cluster/postgres-process.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    nodes: { type: "string", default: "4" },
    replicas: { type: "string", default: "2" },
  },
});
const [minutes, nodes, replicas] = [values.minutes, values.nodes, values.replicas].map(Number) as [
  number,
  number,
  number,
];

const server = await startPostgres();
const place = { host: "127.0.0.1", port: server.port, user: "quern" };
const pool = new pg.Pool({ ...place, database: "postgres" });
pool.on("error", () => undefined);

const root = mkdtempSync(join(tmpdir(), "quern-kills-"));
const say = (counts: KillCounts): void => {
  const { kills, waits } = counts;
  const { identical, partial, refused, wrong } = totals(counts);
  console.log(
    `${kills} kills (${waits} waited): ${identical} answers identical, ${partial} partial, ${refused} refused, ${wrong} wrong`,
  );
};
try {
  const end = Date.now() + minutes * 60_000;
  let seconds = 0;
  const counts = await killUnderLoad({
    pool,
    postgresPort: server.port,
    folder: () => mkdtempSync(join(root, "part-")),
    nodes,
    replicas,
    isOver: () => Date.now() >= end,
    onSecond: (sofar) => void (++seconds % 30 === 0 && say(sofar)),
  });
  say(counts);
  console.table(counts.verdicts);
  const { partial, refused, wrong } = totals(counts);
  for (const one of new Set(counts.wrong)) console.log(`WRONG ${one}`);
  if (wrong > 0 || (replicas > 1 && partial + refused > 0)) process.exitCode = 1;
} finally {
  await pool.end();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  await server.end();
}
