/**
 * Measures how long operations block the thread that calls the engine. Runs each operation on a corpus, in this
 * process, which does nothing else. Finds the longest turn of the event loop and its cause, as stall.ts describes.
 */

import { join } from "node:path";
import type { Engine } from "../src/engine.ts";
import type { SearchRequest } from "../src/search/messages/request.ts";
import { loadHandlers, loadQuern, type Handler } from "./quern.ts";
import { watchStalls, type Stall } from "./stall.ts";
import { spreadOf } from "./statistics.ts";
import { terminalTable } from "./table.ts";

/** How long a caller may be blocked. */
const MOST_MS = 5;
const RUNS = 3;

interface Subject {
  readonly engine: Engine;
  readonly handler: Handler;
  /** The repository that contains the corpus. */
  readonly name: string;
  readonly index: (source: "corpus" | "change", symbols: "after" | "skip") => Promise<unknown>;
}

interface Operation {
  readonly name: string;
  /** Whether to run it once. Default: RUNS times. */
  readonly isOnce?: true;
  readonly run: (subject: Subject) => Promise<unknown>;
}

const search = (name: string, request: SearchRequest): Operation => ({
  name,
  run: ({ engine }) => engine.search(request),
});

const stream = (name: string, request: SearchRequest): Operation => ({
  name,
  async run({ engine }) {
    for await (const _ of engine.stream(request));
  },
});

const http = (name: string, path: string, body: object): Operation => ({
  name,
  async run({ handler }) {
    const headers = { "Content-Type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await handler(new Request(`http://localhost${path}`, init));
    if (response.status !== 200) throw new Error(await response.text());
    for await (const _ of response.body!);
  },
});

const MANY = 100_000;
const ALL = 1_000_000_000;

const INDEXING: readonly Operation[] = [
  {
    name: "index, without symbols",
    isOnce: true,
    run: ({ index }) => index("corpus", "skip"),
  },
  { name: "first search", isOnce: true, run: ({ engine }) => engine.search(FIRST) },
  { name: "index again, nothing new", run: ({ index }) => index("corpus", "skip") },
];

const FIRST: SearchRequest = { query: "task_struct", matches: 50 };

const READING: readonly Operation[] = [
  search("search, 50 matches", FIRST),
  search("the, 100 000 matches", { query: "the", matches: MANY }),
  search("->, 100 000 matches", { query: "->", matches: MANY }),
  search("return, 100 000, 100 lines around", {
    query: "return",
    matches: MANY,
    contextLines: 100,
  }),
  search("return, 2 000, whole files", { query: "return", matches: 2000, whole: true }),
  search("file:., 100 000 matches", { query: "file:.", matches: MANY }),
  stream("stream of include, 100 000 matches", { query: "include", matches: MANY }),
  stream("stream of the, a million", { query: "the", matches: 10 * MANY }),
  stream("stream of every file", { query: "file:.", matches: ALL }),
  { name: "explain", run: ({ engine }) => engine.explain({ query: "taskk lang:c", matches: 50 }) },
  http("HTTP search, 100 000 matches", "/api/search", { query: "the", matches: MANY }),
  http("HTTP stream, 100 000 matches", "/api/stream_search", { query: "the", matches: MANY }),
  { name: "repositories", run: ({ engine }) => engine.repositories() },
  {
    name: "list every folder of the root",
    async run({ engine, name: repository }) {
      for (const { type, path } of (await engine.list({ repository, path: "" })) ?? [])
        if (type === "folder") await engine.list({ repository, path });
    },
  },
  {
    name: "read 200 files",
    async run({ engine, name: repository }) {
      const { files } = await engine.search({ query: "file:.", matches: 200 });
      for (const { fileName } of files) await engine.read({ repository, path: fileName.text });
    },
  },
];

const CHANGING: readonly Operation[] = [
  { name: "update, one file", run: ({ index }) => index("change", "after") },
  {
    name: "index, the symbols",
    isOnce: true,
    run: ({ index }) => index("corpus", "after"),
  },
  search("sym:a, 100 000 matches", { query: "sym:a", matches: MANY }),
  { name: "compact", isOnce: true, run: ({ engine }) => engine.compact() },
  { name: "remove", isOnce: true, run: ({ engine, name }) => engine.remove(name) },
  { name: "close", isOnce: true, run: ({ engine }) => engine.close() },
];

export interface CallerOptions {
  readonly corpus: string;
  /** The folder of the index. */
  readonly folder: string;
  readonly workers: number;
  /** Whether to include the slow operations. An index of Linux with symbols takes minutes. */
  readonly withSymbols: boolean;
}

/** Prints a row for each operation. Resolves to whether none missed the limit. */
export async function measureCaller(options: CallerOptions): Promise<boolean> {
  const { withSymbols } = options;
  const quern = await loadQuern();
  const opening = watchStalls();
  const engine = await quern.open(join(options.folder, "caller"), { workers: options.workers });
  const rows = [rowOf("open a new directory", await opening())];
  const subject = await subjectOf(engine, options.corpus);
  for (const operation of [...INDEXING, ...READING, ...CHANGING]) {
    if (/symbols$|sym:/.test(operation.name) && !withSymbols && !operation.name.includes("without"))
      continue;
    rows.push(rowOf(operation.name, await measure(operation, subject)));
    console.error(rows.at(-1)!.join("  "));
  }
  console.log(terminalTable(HEAD, rows));
  return rows.every((row) => row.at(-1) !== "MISS");
}

async function subjectOf(engine: Engine, corpus: string): Promise<Subject> {
  const quern = await loadQuern();
  const { createHandler } = await loadHandlers();
  const name = "corpus";
  let change = 0;
  return {
    engine,
    name,
    handler: createHandler(engine, { anonymous: "all", maxMatches: MANY }),
    index(what, symbols) {
      const content = `int quern_${++change};\n`;
      const source =
        what === "corpus"
          ? quern.directory(corpus, { name, gitignore: false })
          : quern.documents({ name: "changed", changes: [{ path: "a.c", content }] });
      return engine.index(source, { symbols });
    },
  };
}

async function measure({ run, isOnce }: Operation, subject: Subject): Promise<Stall> {
  const stalls: Stall[] = [];
  for (let left = isOnce ? 1 : RUNS; left > 0; left--) {
    const longest = watchStalls();
    await run(subject);
    stalls.push(await longest());
  }
  return medianOf(stalls);
}

/** Returns the median of each field separately. */
export function medianOf(stalls: readonly Stall[]): Stall {
  const median = (of: keyof Stall) => spreadOf(stalls.map((stall) => stall[of])).median;
  return {
    ms: median("ms"),
    msWithWaiting: median("msWithWaiting"),
    msOfOurs: median("msOfOurs"),
    workedMs: median("workedMs"),
    ownMs: median("ownMs"),
  };
}

const HEAD = [
  "longest turn, ms",
  "by the clock",
  "no waiting for a core",
  "nor for the collector",
  "it worked",
  "without the collector",
  "",
];

const rowOf = (name: string, stall: Stall): string[] => [
  name,
  ...[stall.msWithWaiting, stall.ms, stall.msOfOurs, stall.workedMs, stall.ownMs].map((ms) =>
    ms.toFixed(1),
  ),
  verdictOn(stall),
];

/**
 * Names the cause of a stall. If the thread neither ran nor waited for a core, it has waited for the disk, for memory
 * or for a lock.
 */
export function verdictOn({ ms, msOfOurs, ownMs }: Stall): string {
  if (ms <= MOST_MS) return "pass";
  if (ownMs > MOST_MS) return "MISS";
  return msOfOurs <= MOST_MS ? "collector" : "waiting";
}
