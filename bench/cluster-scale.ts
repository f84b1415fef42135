/**
 * Estimates what a large cluster needs, from what was measured on one machine. The page has the estimate, so it changes
 * with each record. It assumes that what is searched is in memory, and that work spreads evenly over nodes.
 */

import type { ClusterFigures } from "./cluster-figures.ts";
import type { Record } from "./record.ts";
import type { Table } from "./report.ts";
import { figure } from "./table.ts";

export interface Size {
  readonly textBytes: number;
  readonly nodes: number;
  /** Hardware threads of a node. */
  readonly threads: number;
  readonly replicas: number;
}

/** The figures that the estimate is made from. */
export type Basis = Pick<Record, "corpus" | "indexing" | "questions"> & {
  readonly cluster: ClusterFigures;
};

export interface Scale {
  /** Bytes of all objects. */
  readonly objectBytes: number;
  /** Bytes on the disk of a node. */
  readonly nodeBytes: number;
  /** How long the other nodes take to fetch the slices of a lost node. */
  readonly refillSeconds: number;
  /** Milliseconds of a search, by group of questions. */
  readonly searches: ReadonlyMap<string, number>;
}

const LARGE: Size = { textBytes: 10e12, nodes: 24, threads: 16, replicas: 2 };
/** Merging keeps at least this share of the stored text in use. */
const LIVE = 0.75;
/** The share of their size to which packing reduces the segments and symbols of Linux's network drivers. */
const PACKED = 0.29;
/** Two threads of a core do 1.4 times the work of one. */
const WORK_OF_A_THREAD = 0.7;

export function scaleOf(
  { textBytes, nodes, threads, replicas }: Size,
  { corpus, indexing, questions, cluster }: Basis,
): Scale {
  const stored = Math.max(...indexing.map((one) => (one.who === "quern" ? one.bytes : 0)));
  const storedBytes = (textBytes * stored) / corpus.bytes / LIVE;
  const nodeBytes = (storedBytes * replicas) / nodes;
  const { fetch, fronts, single } = cluster;
  const ofFront = line(fronts.map((one) => [one.nodes, one.processorMs]))(nodes);
  const searches = new Map<string, number>();
  for (const group of new Set(questions.map((one) => one.group))) {
    const own = questions.filter((one) => one.group === group).map(({ quern }) => quern.one.median);
    const ofBytes = Math.max(0, median(own) - single.rare.median) / corpus.bytes;
    searches.set(group, ofFront + (ofBytes * textBytes) / (nodes * threads * WORK_OF_A_THREAD));
  }
  const refillSeconds = nodeBytes / (nodes - 1) / (fetch.bytes / fetch.seconds);
  const objectBytes = PACKED * storedBytes;
  return { objectBytes, nodeBytes, refillSeconds, searches };
}

/** The table of the page, without rows if some figures were never measured. */
export function scaleTable(records: readonly Record[]): Table {
  const questioned = records.find(({ questions }) => questions.length > 0);
  const cluster = records.find((one) => one.cluster)?.cluster;
  const { textBytes, nodes, threads, replicas } = LARGE;
  const title = `${figure(textBytes / 1e12)} TB of text on ${nodes} nodes with ${threads} threads, ${replicas} replicas`;
  if (!questioned || !cluster) return { title, head: [], rows: [] };
  const scale = scaleOf(LARGE, { ...questioned, cluster });
  return {
    title,
    head: ["on paper, from the figures above", ""],
    rows: [
      ["all objects, TB", scale.objectBytes / 1e12],
      ["disk of a node, TB", scale.nodeBytes / 1e12],
      ["slices of a lost node are on others again, min", scale.refillSeconds / 60],
      ...Array.from(scale.searches, ([group, ms]): [string, number] => [`${group}, ms`, ms]),
    ],
  };
}

/** Returns the line with the least squares of the distances to the points. */
function line(points: readonly (readonly [x: number, y: number])[]): (x: number) => number {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x0, y0] = [mean(([x]) => x), mean(([, y]) => y)];
  const slope = mean(([x, y]) => (x - x0) * (y - y0)) / mean(([x]) => (x - x0) ** 2);
  return (x) => y0 + slope * (x - x0);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}
