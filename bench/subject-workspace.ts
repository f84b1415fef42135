/** Implements what the process that runs quern does with a followed folder. */

import { appendFileSync, readFileSync, readdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Engine } from "../src/engine.ts";
import type { SearchRequest } from "../src/search/messages/request.ts";
import type { SearchResponse } from "../src/search/messages/response.ts";
import type { Workspace } from "../src/workspace/workspace.ts";
import type { Cost } from "./workspace-figures.ts";

/** Returns the processor time of the process so far, for all threads together, in milliseconds. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export async function costOf(run: () => Promise<unknown>): Promise<Cost> {
  const [start, before] = [performance.now(), processorMs()];
  await run();
  return { ms: performance.now() - start, processorMs: processorMs() - before };
}

/** Returns the bytes of the heap after a garbage collection. */
export function collectedHeap(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** The time in which earlier work ends, such as garbage collections and work of threads. */
const REST_MS = 5_000;

/**
 * Measures processor time and bytes written to the disk in three spans in which nothing happens. Within 100 s after the
 * last work, V8 collects the garbage of each thread once more, so the third minute is the first one without this.
 */
export async function idle(
  ms: number,
  restMs = REST_MS,
): Promise<{ processorMs: number[]; written: number }> {
  const written = () =>
    Number(/write_bytes: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
  await sleep(restMs);
  const writtenBefore = written();
  const spans: number[] = [];
  for (let span = 0; span < 3; span++) spans.push((await costOf(() => sleep(ms))).processorMs);
  return { processorMs: spans, written: written() - writtenBefore };
}

/** Repeatedly writes a file and searches for it. Every second file already exists. */
export async function findable(tree: Workspace, root: string, runs: number): Promise<Cost[]> {
  const costs: Cost[] = [];
  const paths = new Set<string>();
  for (let run = 0; run < runs; run++) {
    const path = join(root, `quern-benchmark-${run >> 1}.c`);
    paths.add(path);
    const word = `quern_findable_${run}_`;
    const find = async () => {
      writeFileSync(path, `int ${word};\n`);
      mustCount(await tree.search({ query: word, matches: 10 }), 1);
    };
    costs.push(await costOf(find));
    await sleep(20); // with pauses, as a person or a program saves files
  }
  for (const path of paths) unlinkSync(path);
  await tree.settled();
  return costs;
}

/** Alternates between engine and workspace, so that both run under the same conditions. */
export async function unchanged(
  engine: Engine,
  tree: Workspace,
  { request, rounds }: { request: SearchRequest; rounds: number },
): Promise<{ engine: Cost[]; workspace: Cost[] }> {
  const costs: { engine: Cost[]; workspace: Cost[] } = { engine: [], workspace: [] };
  for (let round = 0; round < rounds; round++) {
    costs.engine.push(await costOf(() => engine.search(request)));
    costs.workspace.push(await costOf(() => tree.search(request)));
  }
  return costs;
}

/** Appends a line to this many files, and searches for the lines. Then searches some more times. */
export async function changed(
  tree: Workspace,
  root: string,
  { files, searches }: { files: number; searches: number },
): Promise<{ first: Cost; next: Cost[] }> {
  const word = `quern_changed_${files}_`;
  const request = { query: word, matches: 10 };
  const paths = someFiles(root, files);
  const sizes = paths.map((path) => readFileSync(path));
  for (const path of paths) appendFileSync(path, `/* ${word} */\n`);
  const search = async () => mustCount(await tree.search(request), files);
  const first = await costOf(search);
  const next: Cost[] = [];
  for (let i = 0; i < searches; i++) next.push(await costOf(search));
  paths.forEach((path, i) => writeFileSync(path, sizes[i]!));
  await tree.settled();
  return { first, next };
}

function mustCount({ stats }: SearchResponse, expected: number): void {
  if (stats.totalMatchCount !== expected)
    throw new Error(`${stats.totalMatchCount} matches, expected ${expected}`);
}

/** Returns the first text files of the tree, folder by folder. */
function someFiles(root: string, count: number): string[] {
  const paths: string[] = [];
  const folders = [root];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift())
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== ".git") folders.push(path);
      if (!entry.isFile() || !/\.(c|h|txt)$/.test(entry.name)) continue;
      if (paths.push(path) === count) return paths;
    }
  throw new Error(`there are only ${paths.length} files of text`);
}
