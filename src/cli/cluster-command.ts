/** Implements quern cluster, which runs a node or maintains a cluster's index without searching it. */

import { once } from "node:events";
import type { Command } from "commander";
import { QuernError } from "../base/errors.ts";
import { type Call, wholeNumber } from "./call.ts";
import type { OpenedFile } from "./cluster-file.ts";
import { warnOn } from "./engine-session.ts";
import type { NodeStatus } from "../cluster/status.ts";
import { printJson, printLines } from "./io.ts";
import { count } from "./style.ts";

interface Flags {
  json?: true;
  workers?: number;
}

export function addCluster(program: Command, call: Call): void {
  const cluster = program
    .command("cluster")
    .summary("manage an index that several machines share")
    .description(
      "Manage an index that several machines share. FILE is JSON with directory, postgres and segments;\n" +
        "docs/growing.md describes it. quern serve --cluster FILE answers searches.",
    );
  const add = (
    name: string,
    summary: string,
    run: (opened: OpenedFile, flags: Flags, call: Call, name: string) => Promise<void>,
  ): Command =>
    cluster
      .command(name)
      .summary(summary)
      .description(`${summary[0]!.toUpperCase()}${summary.slice(1)}.`)
      .argument("<file>", "file that describes the cluster, such as cluster.json")
      .option("--json", "print JSON")
      .action(async (file: string, ...given: unknown[]) => {
        const { openClusterFile } = await import("./cluster-file.ts");
        await using opened = await openClusterFile(file, call.io.env);
        await run(opened, given.at(-2) as Flags, call, String(given[0]));
      });
  add("migrate", "create the tables, or bring them up to date", migrate);
  add("node", "serve slices of the index to fronts", node).option(
    "--workers <n>",
    "number of threads; default: one for each core, at most 4",
    wholeNumber,
  );
  add(
    "drain",
    "give the slices of a node to others before it leaves for good; ends when they have them",
    drain,
  ).argument("<name>", "name of the node");
  add("status", "show the published states, the nodes and the queue", status);
  add("gc", "delete unused objects; exits with 1 if another process is doing so", collectOnce);
}

async function migrate({ catalog }: OpenedFile, { json }: Flags, { io }: Call): Promise<void> {
  const { migrateCluster } = await import("../cluster/postgres/schema.ts");
  const report = await migrateCluster(catalog.pool, catalog.place);
  const { from, to } = report;
  if (json) printJson(io, report);
  else if (from === to) io.stdout.write(`the tables are of version ${to} already\n`);
  else io.stdout.write(`the tables now have version ${to}; they had version ${from}\n`);
}

/**
 * Runs a node until the process is stopped. The slices of the node stay assigned to it for ten more minutes, because
 * the node may come back.
 */
async function node(opened: OpenedFile, flags: Flags, { io }: Call): Promise<void> {
  const { options, listen } = opened.machine();
  if (!listen || !options.node)
    throw new QuernError(
      "INVALID_REQUEST",
      "the file has no node: give it the name, url, secret and diskBytes of this machine's node",
    );
  const { openMachine } = await import("./cluster-node.ts");
  const { workers, json } = flags;
  const running = { ...(workers !== undefined && { workers }), onWarning: warnOn(io) };
  await using machine = await openMachine({ ...options, ...running }, listen);
  const { name, url } = options.node;
  const { address } = machine;
  if (json) printJson(io, { name, url, address });
  else io.stdout.write(`node ${name} answers fronts at ${address}; Ctrl+C ends it\n`);
  if (!io.signal.aborted) await once(io.signal, "abort");
}

async function drain(
  { catalog, replicas }: OpenedFile,
  { json }: Flags,
  { io }: Call,
  name: string,
): Promise<void> {
  const { drainNode } = await import("../cluster/drain.ts");
  await drainNode(catalog, { name, replicas, signal: io.signal });
  if (json) printJson(io, { name });
  else io.stdout.write(`node ${name} has given its slices away; stop it now\n`);
}

async function status(
  { catalog, replicas }: OpenedFile,
  { json }: Flags,
  { io }: Call,
): Promise<void> {
  const { readStatus, statusRows } = await import("../cluster/status.ts");
  const { shards, nodes, queue, damaged } = await readStatus(statusRows(catalog, replicas));
  if (json) return printJson(io, { shards, nodes, queue, damaged });
  const { waiting, running, failed, oldestDueMs } = queue;
  printLines(io.stdout, [
    ...shards.map(({ shard, published }) => `shard ${shard}: generation ${published}`),
    ...nodes.map(nodeLine),
    ...damaged.map(
      ({ shard, object, repositories }) =>
        `shard ${shard}: the object ${object} is damaged or missing; index again: ${repositories.join(", ")}`,
    ),
    `${count(waiting, "job waits", "jobs wait")}, ${running} running, ${failed} failed` +
      (oldestDueMs > 0 ? `; the oldest is due for ${Math.round(oldestDueMs / 1000)} s` : ""),
  ]);
}

const MEGABYTE = 1e6;

function nodeLine({ name, isLive, isPlaced, ready, missingBytes }: NodeStatus): string {
  const state = isLive ? (isPlaced ? "live" : "leaving") : isPlaced ? "silent" : "gone";
  const lacks = missingBytes > 0 ? `, lacks ${Math.ceil(missingBytes / MEGABYTE)} MB` : "";
  return `node ${name}: ${state}, ${count(ready, "slice", "slices")} ready${lacks}`;
}

async function collectOnce(opened: OpenedFile, { json }: Flags, { io, exit }: Call): Promise<void> {
  const { collectCluster } = await import("../cluster/status.ts");
  const report = await collectCluster(opened.catalog, opened.segments, io.signal);
  exit(report === undefined ? 1 : 0);
  if (json) return printJson(io, report ?? null);
  if (report === undefined)
    return void io.stderr.write("quern: another process is already deleting unused objects\n");
  const { manifests, states, segments, objects } = report;
  const rows = manifests + states + segments;
  io.stdout.write(
    `${count(objects, "object", "objects")} and ${count(rows, "row", "rows")} deleted\n`,
  );
}
