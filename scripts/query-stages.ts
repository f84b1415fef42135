/**
 * Says where the processor time of each question of the benchmark goes:
 * `npx tsx scripts/query-stages.ts INDEX > docs/query-stages.md`. INDEX is a data directory.
 *
 * All tasks run on one thread (`workers: 0`), which V8's profiler samples. A sample belongs to the stage of the nearest
 * caller whose folder has one, so reading and the kernel count in the stage that uses them. Both are also shown by
 * themselves.
 */

import type { Profiler } from "node:inspector/promises";
import { open } from "../src/index.ts";
import { readQuestions } from "../bench/queries.ts";
import { terminalTable, type Cell } from "../bench/table.ts";
import { profileSearch, stageOf, STAGES, type Stage } from "./search-profile.ts";

/** Sums of the times between samples, by the clock. */
interface Shares {
  readonly stages: Readonly<Record<Stage, number>>;
  readonly collector: number;
  /** Parts of the sums above. */
  readonly reading: number;
  readonly kernel: number;
}

/** Adds up the samples of a profile. */
function shares({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Shares {
  const places = new Map<number, { readonly stage: Stage; readonly url: string }>();
  // parents come before their children
  for (const { id, callFrame, children = [] } of nodes) {
    const above = places.get(id) ?? { stage: "caller", url: "" };
    const url = callFrame.url || above.url; // native functions have none
    const place = { stage: stageOf(url) ?? above.stage, url };
    places.set(id, place);
    for (const child of children) places.set(child, place);
  }
  const stages = { caller: 0, planning: 0, fetching: 0, scanning: 0, ranking: 0, showing: 0 };
  const found = { stages, collector: 0, reading: 0, kernel: 0 };
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
  for (const [at, id] of samples.entries()) {
    const { stage, url } = places.get(id)!;
    const time = timeDeltas[at] ?? 0;
    if (names.get(id) === "(garbage collector)") found.collector += time;
    else if (names.get(id) !== "(idle)" && names.get(id) !== "(program)") {
      stages[stage] += time;
      if (url.includes("/lmdb/") || url === "node:fs") found.reading += time;
      if (url.startsWith("wasm:")) found.kernel += time;
    }
  }
  return found;
}

const INTRODUCTION = `# Where the time of each query goes

This page shows the processor time of the [benchmark](benchmarks.md)'s queries, in milliseconds on one warm thread, for
the source of Linux 6.1 with symbols. Every match is counted, and the first 50 matches are returned. The profiler makes
a search take about a sixth longer. \`npx tsx scripts/query-stages.ts INDEX\` makes this page.

- **call**: parsing the query, determining its scope, and building the response
- **plan**: finding candidate files by posting lists, paths, names and languages
- **fetch**: reading candidate text into the kernel's memory
- **scan**: finding matches of literals and expressions, and the bookkeeping for each file
- **rank**: scoring files
- **show**: confirming the ranges of the returned files, and cutting their chunks
- **gc**: V8's garbage collector, on this thread
- **read**: the part of all stages that reads values from LMDB and text from files
- **floor**: the part of all stages that runs in WebAssembly (the kernel and RE2), and would remain if everything else
  took no time
`;

/** The part of the page about the pictures of scripts/flame.ts. */
const PICTURES = `
## Flame graphs

These pictures show one search on one thread. The width of a function is its share of the time, and the functions that
it calls are below it. The first picture of each query is from a build that kept all text in LMDB, the second from one
that keeps [text in files](index-format.md#text-in-files) and reads neighbouring pages together.
\`npx tsx scripts/flame.ts INDEX NAME\` draws them.

${["task_struct", "return-EINVAL", "the", "MODULE_LICENSE-dual", "paths"]
  .map((name) => {
    const picture = (when: string) => `[${when}](pictures/flame/${name}-${when}.svg)`;
    return `- ${name}: ${picture("before")}, ${picture("after")}`;
  })
  .join("\n")}`;
const HEAD = [
  "query",
  "all",
  "call",
  "plan",
  "fetch",
  "scan",
  "rank",
  "show",
  "gc",
  "read",
  "floor",
];

/** Rounds milliseconds to two significant digits, or to whole numbers. */
const inShort = (ms: number): string =>
  String(ms < 100 ? Number(ms.toPrecision(2)) : Math.round(ms));

const [, , directory, filter = ""] = process.argv;
if (directory === undefined) throw new Error("usage: npx tsx scripts/query-stages.ts INDEX [NAME]");
console.log(INTRODUCTION);
const rows: Cell[][] = [];
const engine = await open(directory, { workers: 0, readOnly: true, warmUp: false });
for (const question of readQuestions(new URL("../bench/queries.json", import.meta.url))) {
  if (!question.name.includes(filter)) continue;
  const { samples, ms } = await profileSearch(engine, question);
  const found = shares(samples);
  const parts = [...STAGES.map((stage) => found.stages[stage]), found.collector];
  const all = parts.reduce((sum, part) => sum + part, 0);
  const each = [...parts, found.reading, found.kernel].map((part) => (part / all) * ms);
  rows.push([question.name, ...[ms, ...each].map(inShort)]);
}
console.log(`\`\`\`text\n${terminalTable(HEAD, rows)}\n\`\`\``);
console.log(PICTURES);
await engine.close();
