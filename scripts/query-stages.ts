/**
 * Says where the processor time of each question of the benchmark goes:
 * `npx tsx scripts/query-stages.ts INDEX > docs/query-stages.md`. INDEX is a data directory.
 *
 * All tasks run on one thread (`workers: 0`), which V8's profiler samples. A sample belongs to the stage of the nearest
 * caller whose folder has one, so the time of LMDB and of the kernel counts in the stage that uses them. Both are also
 * shown by themselves.
 */

import { Session, type Profiler } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { open, type Engine, type SearchRequest } from "../src/index.ts";
import { readQuestions } from "../bench/queries.ts";
import { markdownTable, type Cell } from "../bench/table.ts";

/** Each question is asked for so long before it is profiled, and then again. */
const WARM_MS = 1500;
const PROFILE_MS = 1000;
const LEAST_RUNS = 3;
const INTERVAL_US = 100;

const STAGES = ["caller", "planning", "fetching", "scanning", "ranking", "showing"] as const;
type Stage = (typeof STAGES)[number];

/** Sums of the times between samples, by the clock. */
interface Shares {
  readonly stages: Readonly<Record<Stage, number>>;
  readonly collector: number;
  /** Parts of the sums above. */
  readonly lmdb: number;
  readonly kernel: number;
}

/** The stages of folders and files of `src`. The first that fits counts; what fits none belongs to its caller's. */
const PLACES: readonly (readonly [RegExp, Stage])[] = [
  [
    /^search\/thread\/reading\/window|^store\/segments\/text-cache|^store\/segments\/segment-reader/,
    "fetching",
  ],
  [/^search\/thread\/planning|^store\/segments\/(posting|kept-lists)/, "planning"],
  [/^search\/thread\/scanning|^search\/thread\/reading|^regex/, "scanning"],
  [/^search\/thread\/ranking/, "ranking"],
  [/^search\/thread\/show|^re2/, "showing"],
  [/^search\/thread/, "scanning"],
  [
    /^(search\/caller|search\/messages|search\/meaning|query|overlay|store\/catalog|[a-z-]+\.ts)/,
    "caller",
  ],
];

const ROOT = new URL("../src/", import.meta.url);

function stageOf(url: string): Stage | undefined {
  if (!url.startsWith(ROOT.href) && !url.startsWith(fileURLToPath(ROOT))) return undefined;
  const place = url.replace(ROOT.href, "").replace(fileURLToPath(ROOT), "");
  return PLACES.find(([pattern]) => pattern.test(place))?.[1];
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
  const found = { stages, collector: 0, lmdb: 0, kernel: 0 };
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
  for (const [at, id] of samples.entries()) {
    const { stage, url } = places.get(id)!;
    const time = timeDeltas[at] ?? 0;
    if (names.get(id) === "(garbage collector)") found.collector += time;
    else if (names.get(id) !== "(idle)" && names.get(id) !== "(program)") {
      stages[stage] += time;
      if (url.includes("/lmdb/")) found.lmdb += time;
      if (url.startsWith("wasm:")) found.kernel += time;
    }
  }
  return found;
}

/** Returns where the time of one search goes, its processor time in milliseconds, and its matches. */
async function profile(
  engine: Engine,
  request: SearchRequest,
): Promise<{ readonly found: Shares; readonly ms: number; readonly matches: number }> {
  let matches = 0;
  const ask = async (forMs: number): Promise<number> => {
    const began = performance.now();
    let runs = 0;
    for (; runs < LEAST_RUNS || performance.now() - began < forMs; runs++)
      matches = (await engine.search(request)).stats.totalMatchCount;
    return runs;
  };
  await ask(WARM_MS);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: INTERVAL_US });
  await session.post("Profiler.start");
  const began = process.cpuUsage();
  const runs = await ask(PROFILE_MS);
  const { user, system } = process.cpuUsage(began);
  const { profile: samples } = await session.post("Profiler.stop");
  session.disconnect();
  return { found: shares(samples), ms: (user + system) / 1000 / runs, matches };
}

const INTRODUCTION = `# Where the time of each query goes

This page has the processor time of the [benchmark](benchmarks.md)'s queries in milliseconds, on one warm thread, for the
source of Linux 6.1 with symbols. Every match is counted, and the first 50 are returned. It is the output of
\`npx tsx scripts/query-stages.ts INDEX\`; the stages are those of [speed.md](speed.md). The profiler makes a search take
about a sixth longer.

- **calling**: understanding the query, deciding its scope, making the response
- **planning**: posting lists, paths, names and languages to candidate files
- **fetching**: reading candidate text from the data file into the kernel's memory
- **scanning**: finding literals and expressions, and the bookkeeping for each file
- **ranking**, **showing**: scoring files; confirming, and cutting the chunks of the first files
- **collector**: V8's garbage collector, on this thread
- **LMDB**: the part of all stages that reads from LMDB
- **floor**: the part of all stages that runs in WebAssembly (the kernel and RE2). If everything else cost nothing, this
  would remain.
`;
const HEAD = [
  "query",
  "matches",
  "all",
  "calling",
  ...STAGES.slice(1),
  "collector",
  "LMDB",
  "floor",
];

const [, , directory, filter = ""] = process.argv;
if (directory === undefined) throw new Error("usage: npx tsx scripts/query-stages.ts INDEX [NAME]");
console.log(INTRODUCTION);
const rows: Cell[][] = [];
const engine = await open(directory, { workers: 0, readOnly: true, warmUp: false });
for (const question of readQuestions(new URL("../bench/queries.json", import.meta.url))) {
  if (!question.name.includes(filter)) continue;
  const { found, ms, matches } = await profile(engine, {
    query: question.query,
    matches: 50,
    isRegexEnabled: question.isRegex,
    isCaseSensitivityEnabled: question.isCaseSensitive,
  });
  const parts = [...STAGES.map((stage) => found.stages[stage]), found.collector];
  const all = parts.reduce((sum, part) => sum + part, 0);
  const each = [...parts, found.lmdb, found.kernel].map((part) => (part / all) * ms);
  rows.push([question.name, matches, ms, ...each]);
}
console.log(markdownTable(HEAD, rows));
await engine.close();
