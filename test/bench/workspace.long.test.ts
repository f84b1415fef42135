/** Each measurement of a followed folder measures what its name says, and leaves the folder as it was. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { changed, findable, idle, unchanged } from "../../bench/subject-workspace.ts";
import { changedTable, workspaceTable, workTreeTable } from "../../bench/report.ts";
import type { WorkspaceFigures } from "../../bench/workspace-figures.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

async function followed() {
  const root = temporaryFolder();
  for (let i = 0; i < 30; i++) {
    mkdirSync(join(root, `part${i % 3}`), { recursive: true });
    writeFileSync(join(root, `part${i % 3}/file${i}.c`), `int file_${i}_;\n`);
  }
  const engine = await openEngine({ workers: 1 });
  const tree = await engine.workspace(root);
  onTestFinished(() => tree.close());
  return { root, engine, tree };
}

const contents = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .sort();

test("each run of a measurement yields one cost, and leaves the folder unchanged", async () => {
  const { root, engine, tree } = await followed();
  const before = contents(root);
  expect(await findable(tree, root, 5)).toHaveLength(5);
  const request = { query: "file_7_", matches: 5 };
  const costs = await unchanged(engine, tree, { request, rounds: 4 });
  expect([costs.engine.length, costs.workspace.length]).toEqual([4, 4]);
  for (const files of [1, 20])
    expect((await changed(tree, root, { files, searches: 3 })).next).toHaveLength(3);
  expect(contents(root)).toEqual(before);
  await expect(changed(tree, root, { files: 31, searches: 1 })).rejects.toThrow(/only 30 files/);
});

test.runIf(process.platform === "linux")(
  "an idle folder is measured in processor time",
  async () => {
    const spin = setInterval(() => {
      const end = process.cpuUsage().user + 3_000;
      while (process.cpuUsage().user < end);
    }, 5);
    const busy = await idle(100, 0);
    clearInterval(spin);
    for (const ms of busy.processorMs) expect(ms).toBeGreaterThan(3);
    expect(busy.processorMs).toHaveLength(3);
    expect((await idle(100, 0)).written).toBeGreaterThanOrEqual(0);
  },
);

const FIGURES: WorkspaceFigures = {
  name: "shop",
  files: 30,
  bytes: 3e6,
  openSeconds: 2,
  heapBytes: 2 ** 20,
  idle: { engineMs: 1, followedMs: 1.5, written: 0 },
  laterIdle: [
    { engineMs: 20, followedMs: 30 },
    { engineMs: 0.25, followedMs: 0.75 },
  ],
  findable: { median: 4, p95: 5, p99: 6, runs: 9, processorMs: 3 },
  unchanged: { engine: { ms: 1, processorMs: 2 }, workspace: { ms: 3, processorMs: 4 } },
  changed: [{ files: 7, first: { ms: 5, processorMs: 6 }, next: { ms: 7, processorMs: 8 } }],
  peers: [{ name: "rg", cost: { ms: 9, processorMs: 10 } }],
  load: 2,
};

test("tables have a column for each measured folder", () => {
  const record = { workspaces: [FIGURES, { ...FIGURES, name: "other", peers: [] }] } as never;
  const { head, rows } = workspaceTable(record);
  expect(head).toEqual(["", "shop", "other"]);
  expect(rows).toContainEqual(["third minute, followed: processor", 0.75, 0.75]);
  expect(rows).toContainEqual(["the same of rg", "9 (10)", undefined]);
  expect(changedTable(record).rows[0]).toEqual(["shop", 7, "5 (6)", "7 (8)"]);
  for (const table of [workspaceTable, changedTable, workTreeTable])
    expect(table({} as never).rows).toEqual([]);
});
