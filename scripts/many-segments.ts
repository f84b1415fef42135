/**
 * Measures how long searches take in an index with many segments, as an index of 100 GB has (400 segments of 256 MiB).
 * The files of a folder are divided into segments that are never merged.
 *
 *     npx tsx scripts/many-segments.ts --corpus PATH [--segments 400] [--workers 2]
 *
 * The segments are smaller than those of a large index, and so are their posting lists.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { terminalTable, type Cell } from "../bench/table.ts";
import { RUN_BOUNDS } from "../src/ingest/run/bounds.ts";
import { documents } from "../src/ingest/sources/documents.ts";
import { openWith } from "../src/opened-engine.ts";

const { values } = parseArgs({
  options: {
    corpus: { type: "string" },
    segments: { type: "string", default: "400" },
    workers: { type: "string", default: "2" },
  },
});
const { corpus } = values;
if (corpus === undefined) throw new Error("--corpus PATH: the folder whose files are indexed");
const [segments, workers] = [Number(values.segments), Number(values.workers)];

const MOST_FILE = 2 ** 21;
/** The number of times that a query is repeated, until it is as fast as it becomes. */
const ROUNDS = 60;
/** The number of words that are searched for only once. */
const WORDS = 60;
const IDENTIFIER = /\b[a-z]{3,9}(?:_[a-z]{3,9}){2,3}\b/u;

const paths = readdirSync(corpus, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((path) => statSync(path).size <= MOST_FILE);
const folder = mkdtempSync(join(tmpdir(), "quern-segments-"));
const engine = await openWith(
  folder,
  { workers, warmUp: false },
  { runs: { ...RUN_BOUNDS, tierSegments: Infinity } },
);
const words: string[] = [];
for (let segment = 0; segment < segments; segment++) {
  const place = (at: number) => Math.floor((at * paths.length) / segments);
  const files = paths
    .slice(place(segment), place(segment + 1))
    .map((path) => ({ path: relative(corpus, path), content: readFileSync(path) }));
  await engine.index(documents({ name: `part-${segment}`, files }), { symbols: "skip" });
  const word = files.map(({ content }) => IDENTIFIER.exec(content.toString("latin1"))?.[0]);
  words.push(...word.filter((one) => one !== undefined).slice(0, 1));
}

async function ask(query: string): Promise<{ ms: number; matches: number }> {
  const start = performance.now();
  const { stats } = await engine.search({ query, matches: 50 });
  return { ms: performance.now() - start, matches: stats.totalMatchCount };
}

const median = (times: number[]): number | undefined =>
  times.sort((a, b) => a - b)[times.length >> 1];
const memory = (): number =>
  Number(/RssAnon:\s+(\d+)/u.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;

const rows: Cell[][] = [];
for (const query of [
  words[0]!,
  "zqxj_absent_word",
  words[segments >> 1]!,
  "lang:rust",
  "file:main",
]) {
  const { ms, matches } = await ask(query);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push((await ask(query)).ms);
  rows.push([query, matches, ms, median(times), memory()]);
}
const once: number[] = [];
for (const word of words.slice(1, 1 + WORDS)) once.push((await ask(word)).ms);
rows.push([`${once.length} words, once each`, undefined, median(once), undefined, memory()]);
const head = ["query", "matches", "first, ms", "median, ms", "own memory, MiB"];
process.stdout.write(`${terminalTable(head, rows)}\n`);
await engine.close();
rmSync(folder, { recursive: true, force: true });
