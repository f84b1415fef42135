/** The estimate of a large cluster follows from measured figures, by hand on a small example. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scaleOf, scaleTable, type Basis } from "../../bench/cluster-scale.ts";
import { newestRecords } from "../../bench/record.ts";
import { markdownTable } from "../../bench/table.ts";

const spread = (median: number) => ({ median, p95: median, runs: 1 });
const question = (group: string, median: number) => ({ group, quern: { one: spread(median) } });
const front = (nodes: number, processorMs: number) => ({ nodes, processorMs });

const BASIS = {
  corpus: { bytes: 1e9 },
  indexing: [
    { who: "zoekt", bytes: 9e9 },
    { who: "quern", bytes: 1.2e9 },
    { who: "quern", bytes: 1.5e9 },
  ],
  questions: [
    question("rare", 2),
    question("rare", 4),
    question("rare", 30),
    question("path", 0.1),
  ],
  cluster: {
    single: { rare: spread(0.5) },
    fronts: [front(1, 1), front(2, 1.5), front(4, 2.5)],
    fetch: { bytes: 100e6, seconds: 2 },
  },
} as unknown as Basis;

test("computes bytes, minutes and milliseconds", () => {
  const size = { textBytes: 300e9, nodes: 5, threads: 10, replicas: 2 };
  const scale = scaleOf(size, BASIS);
  expect(scale.nodeBytes).toBeCloseTo(240e9); // 1.5 bytes for each byte of text, of which a quarter was replaced
  expect(scale.objectBytes).toBeCloseTo(174e9);
  expect(scale.refillSeconds).toBeCloseTo(1_200); // 60 GB for each of 4 nodes, at 50 MB/s
  const front5 = 3; // half a millisecond for each node, and as much for everything else
  expect(scale.searches.get("rare")).toBeCloseTo(front5 + (300 * 3.5) / 35); // the work of 35 threads
  expect(scale.searches.get("path")).toBeCloseTo(front5);
});

test("the page contains the estimate from the newest records", () => {
  const { head, rows } = scaleTable(newestRecords());
  const cells = (text: string): string[] =>
    text.split("\n").map((line) => line.replaceAll(/[ -]+/g, " ").replaceAll(": |", " |"));
  const page = cells(readFileSync("docs/benchmarks.md", "utf8"));
  const own = cells(markdownTable(head, rows)).filter((line) => /\d/.test(line));
  expect(own.length).toBeGreaterThan(3);
  expect(page).toEqual(expect.arrayContaining(own));
});
