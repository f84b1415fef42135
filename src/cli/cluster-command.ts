/** Implements quern cluster, which looks after the index of a cluster without searching it. */

import type { Command } from "commander";
import type { Call } from "./call.ts";
import type { OpenedFile } from "./cluster-file.ts";
import { printJson, printLines } from "./io.ts";
import { count } from "./style.ts";

interface Flags {
  json?: true;
}

export function addCluster(program: Command, call: Call): void {
  const cluster = program
    .command("cluster")
    .summary("look after an index that several machines share")
    .description(
      "Look after an index that several machines share. FILE is JSON: its directory, postgres and segments;\n" +
        "docs/growing.md has its form. quern serve --cluster FILE answers searches.",
    );
  const add = (
    name: string,
    summary: string,
    run: (opened: OpenedFile, flags: Flags, call: Call) => Promise<void>,
  ): void => {
    cluster
      .command(name)
      .summary(summary)
      .description(`${summary[0]!.toUpperCase()}${summary.slice(1)}.`)
      .argument("<file>", "file that tells of the cluster, such as cluster.json")
      .option("--json", "print JSON")
      .action(async (file: string, flags: Flags) => {
        const { openClusterFile } = await import("./cluster-file.ts");
        await using opened = await openClusterFile(file, call.io.env);
        await run(opened, flags, call);
      });
  };
  add("migrate", "create the tables, or bring them up to date", migrate);
  add("status", "show what is published, and what waits to be indexed", status);
  add(
    "gc",
    "delete what nothing uses any more; exits with 1 if another process is at it",
    collectOnce,
  );
}

async function migrate({ catalog }: OpenedFile, { json }: Flags, { io }: Call): Promise<void> {
  const { migrateCluster } = await import("../cluster/postgres/schema.ts");
  const report = await migrateCluster(catalog.pool, catalog.place);
  const { from, to } = report;
  if (json) printJson(io, report);
  else if (from === to) io.stdout.write(`the tables are of version ${to} already\n`);
  else io.stdout.write(`the tables are of version ${to} now; they were of ${from}\n`);
}

async function status({ catalog }: OpenedFile, { json }: Flags, { io }: Call): Promise<void> {
  const { publishedStatus } = await import("../cluster/status.ts");
  const { shards, queue } = await publishedStatus(catalog);
  if (json) return printJson(io, { shards, queue });
  const { waiting, running, failed, oldestDueMs } = queue;
  printLines(io.stdout, [
    ...shards.map(({ shard, published }) => `shard ${shard}: generation ${published}`),
    `${count(waiting, "job waits", "jobs wait")}, ${running} running, ${failed} failed` +
      (oldestDueMs > 0 ? `; the oldest is due for ${Math.round(oldestDueMs / 1000)} s` : ""),
  ]);
}

async function collectOnce(opened: OpenedFile, { json }: Flags, { io, exit }: Call): Promise<void> {
  const { collectCluster } = await import("../cluster/status.ts");
  const report = await collectCluster(opened.catalog, opened.segments, io.signal);
  exit(report === undefined ? 1 : 0);
  if (json) return printJson(io, report ?? null);
  if (report === undefined) return void io.stderr.write("quern: another process is at it\n");
  const { manifests, states, segments, objects } = report;
  const rows = manifests + states + segments;
  io.stdout.write(
    `${count(objects, "object", "objects")} and ${count(rows, "row", "rows")} deleted\n`,
  );
}
