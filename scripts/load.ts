/**
 * Many clients at once: `npx tsx scripts/load.ts [--clients 200] [--seconds 30] [--corpus PATH]`.
 *
 * Indexes the folders of the corpus, serves them from one process and asks from another. Fails where
 * an answer is wrong (an overloaded server may say so, if --max-concurrent lets it), where memory
 * grows from the third quarter of the run to the last, and where the server's event loop is late by 20 ms or
 * more at p99.
 */

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { terminalTable } from "../bench/table.ts";
import { directory, open } from "../src/index.ts";
import { CORPUS } from "./build-corpus.ts";
import { ask, type Assignment, type Outcome } from "./load/clients.ts";
import { questionsAbout } from "./load/questions.ts";
import { serve, type Limits, type Second, type Served } from "./load/server.ts";

interface Flags {
  readonly clients: number;
  readonly seconds: number;
  readonly corpus: string;
  readonly limits: Limits;
  readonly json: boolean;
}

/** What a run came to. Times in milliseconds, memory in bytes. */
export interface LoadReport {
  readonly clients: number;
  readonly answers: number;
  readonly perSecond: number;
  readonly latency: Record<string, { answers: number; p50: number; p99: number }>;
  readonly overloaded: number;
  readonly errors: Record<string, number>;
  /** Of the server's event loop after the first seconds: how late it was, and how long it worked at a time. */
  readonly loop: Record<"late" | "busy", { p99: number; worstP99: number; most: number }>;
  /** RssAnon each second, and the medians of the third and the last quarter of the run. */
  readonly memory: { third: number; last: number; samples: number[] };
  /** Parts of the time that the server's calling thread ran, and that it waited for a core. */
  readonly thread: { ran: number; waited: number };
  readonly problems: string[];
}

const SETTLING_S = 5; // code is compiled, buffers grow
const MOST_DELAY_MS = 20;
const MOST_GROWTH = 16 * 2 ** 20; // from the third quarter of the run to the last

function flagsOf(argv: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      clients: { type: "string", default: "200" },
      seconds: { type: "string", default: "30" },
      corpus: { type: "string", default: CORPUS },
      workers: { type: "string", default: "2" },
      "max-concurrent": { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const clients = Number(values.clients);
  const maxConcurrent = Number(values["max-concurrent"] ?? clients);
  const limits = { workers: Number(values.workers), maxConcurrent };
  const { corpus, json } = values;
  return { clients, seconds: Number(values.seconds), corpus, limits, json };
}

// ── the run ──

async function run(flags: Flags): Promise<LoadReport> {
  const index = mkdtempSync(join(tmpdir(), "quern-load-"));
  const children: ChildProcess[] = [];
  try {
    const questions = questionsAbout(await fill(index, flags.corpus));
    const server = start(children, ["server", index, JSON.stringify(flags.limits)]);
    const [served] = (await once(server, "message")) as [Served];
    const seconds: Second[] = [];
    const clients = start(children, ["clients"]);
    clients.once("message", () => {
      server.on("message", (second: Second) => seconds.push(second));
      clients.once("message", (outcome: Outcome) => clients.emit("outcome", outcome));
    });
    const assignment: Assignment = { ...served, questions, ...flags };
    clients.send(assignment);
    const [outcome] = (await once(clients, "outcome")) as [Outcome];
    server.send("end");
    await once(server, "exit");
    return reportOf(flags, outcome, seconds);
  } finally {
    for (const child of children) child.kill();
    rmSync(index, { recursive: true, force: true });
  }
}

function start(children: ChildProcess[], args: string[]): ChildProcess {
  const child = fork(fileURLToPath(import.meta.url), args, { stdio: "inherit" });
  children.push(child);
  child.once("error", (error) => child.emit("exit", error));
  return child;
}

/** Indexes each folder as a repository; returns a file to read. */
async function fill(index: string, corpus: string): Promise<{ repository: string; path: string }> {
  await using engine = await open(index);
  const folders = readdirSync(corpus, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith("."),
  );
  const sources = folders.map(({ name }) => directory(join(corpus, name), { name }));
  await engine.index(sources.length > 0 ? sources : directory(corpus));
  const { files } = await engine.search({ query: '"" -file:/', matches: 1 });
  const [file] = files;
  if (file === undefined) throw new Error(`there is nothing to read in ${corpus}`);
  return { repository: file.repository, path: file.fileName.text };
}

// ── what came of it ──

/** Nearest rank. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN;
}

function reportOf(flags: Flags, outcome: Outcome, all: readonly Second[]): LoadReport {
  const settled = all.slice(Math.min(SETTLING_S, Math.floor(all.length / 2)));
  const { latencies, overloaded, errors } = outcome;
  const every = Object.values(latencies).flat();
  const spread = (times: readonly number[]) => ({
    answers: times.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  });
  const lateness = (name: "late" | "busy") => {
    const p99s = settled.map((second) => second[name][1]);
    const most = Math.max(...settled.map((second) => second[name][2]));
    return { p99: quantile(p99s, 0.5), worstP99: Math.max(...p99s), most };
  };
  const mean = (name: "ran" | "waited") =>
    settled.reduce((sum, second) => sum + second[name], 0) / settled.length / 1000;
  const samples = all.map(({ memory }) => memory);
  const quarter = (n: number) =>
    quantile(samples.slice((samples.length * n) / 4, (samples.length * (n + 1)) / 4), 0.5);
  const figures = {
    clients: flags.clients,
    answers: every.length,
    perSecond: every.length / flags.seconds,
    latency: {
      ...Object.fromEntries(
        Object.entries(latencies).map(([kind, times]) => [kind, spread(times)]),
      ),
      all: spread(every),
    },
    overloaded,
    errors,
    loop: { late: lateness("late"), busy: lateness("busy") },
    thread: { ran: mean("ran"), waited: mean("waited") },
    memory: { third: quarter(2), last: quarter(3), samples },
  };
  return { ...figures, problems: problemsOf(figures) };
}

function problemsOf({ errors, loop, memory }: Omit<LoadReport, "problems">): string[] {
  const { p99 } = loop.late;
  return [
    ...Object.entries(errors).map(([what, times]) => `${times} × ${what}`),
    ...(p99 >= MOST_DELAY_MS ? [`the event loop is late by ${p99} ms at p99`] : []),
    ...(memory.last - memory.third > MOST_GROWTH
      ? [`memory grows: ${memory.samples.join(" ")}`]
      : []),
  ];
}

function show(report: LoadReport): string {
  const { latency, loop, thread, memory } = report;
  const rows = Object.entries(latency).map(([kind, { answers, p50, p99 }]) => [
    kind,
    answers,
    p50,
    p99,
  ]);
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  return [
    `${report.clients} clients, ${Math.round(report.perSecond)} answers a second, ${report.overloaded} refused as too many`,
    "",
    terminalTable(["kind", "answers", "p50, ms", "p99, ms"], rows),
    "",
    terminalTable(
      ["event loop", "p99, ms", "p99 of the worst second", "most"],
      Object.entries(loop).map(([name, { p99, worstP99, most }]) => [name, p99, worstP99, most]),
    ),
    `its thread ran ${percent(thread.ran)} of the time and waited for a core ${percent(thread.waited)}`,
    `RssAnon, MiB, each second: ${memory.samples.map(mebibytes).join(" ")}`,
    ...report.problems.map((problem) => `PROBLEM: ${problem}`),
  ].join("\n");
}

// ── the processes ──

async function beClients(): Promise<void> {
  const [assignment] = (await once(process, "message")) as unknown as [Assignment];
  process.send!(await ask(assignment, () => process.send!("asking")));
  process.disconnect();
}

const [role, ...rest] = process.argv.slice(2);
if (role === "server") await serve(rest[0]!, JSON.parse(rest[1]!) as Limits);
else if (role === "clients") await beClients();
else {
  const flags = flagsOf(process.argv.slice(2));
  const report = await run(flags);
  console.log(flags.json ? JSON.stringify(report) : show(report));
  process.exitCode = report.problems.length > 0 ? 1 : 0;
}
