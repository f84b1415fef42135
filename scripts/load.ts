/**
 * Tests quern with many simultaneous clients:
 * `npx tsx scripts/load.ts [--clients 200] [--seconds 30] [--warm-up 10] [--corpus PATH]`.
 *
 * Indexes the folders of the corpus, serves them from one process, and sends requests from another. At the end it
 * prints a line for each promise, kept or broken, and exits with 1 if one is broken. Every answer is right, or says
 * that the server is overloaded if --max-concurrent permits that. Memory does not grow after the warm-up. The p99 delay
 * of the server's event loop, over all seconds, is less than 20 ms.
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
import {
  serve,
  type Limits,
  type Measured,
  type Second,
  type Served,
  type Spread,
} from "./load/server.ts";

interface Flags {
  readonly clients: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly corpus: string;
  readonly limits: Limits;
  readonly json: boolean;
}

/** The result of a run, with times in milliseconds and memory in bytes. */
export interface LoadReport {
  readonly clients: number;
  readonly answers: number;
  readonly perSecond: number;
  readonly latency: Record<string, { answers: number; p50: number; p99: number }>;
  readonly overloaded: number;
  readonly errors: Record<string, number>;
  /** How late the server's calling thread was after the warm-up, and how long it worked at a time. */
  readonly loop: Measured;
  /**
   * RssAnon of each second, including the warm-up, and by how much a line that is fitted to the samples after the
   * warm-up rises.
   */
  readonly memory: { samples: number[]; growth: number; mean: number };
  readonly verdicts: readonly Verdict[];
}

export interface Verdict {
  readonly promise: string;
  readonly isKept: boolean;
  readonly measured: string;
}

const MOST_DELAY_MS = 20;
/**
 * The most that this line may rise, as a share of the mean. Garbage collections alone shift the samples by about as
 * much.
 */
const MOST_GROWTH = 0.1;

function flagsOf(argv: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      clients: { type: "string", default: "200" },
      seconds: { type: "string", default: "30" },
      "warm-up": { type: "string", default: "10" },
      corpus: { type: "string", default: CORPUS },
      workers: { type: "string", default: "2" },
      "max-concurrent": { type: "string" },
      "max-waiting": { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const clients = Number(values.clients);
  const maxConcurrent = Number(values["max-concurrent"] ?? clients);
  const maxWaiting = Number(values["max-waiting"] ?? clients);
  const limits = { workers: Number(values.workers), maxConcurrent, maxWaiting };
  const { corpus, json } = values;
  const [seconds, warmUpSeconds] = [Number(values.seconds), Number(values["warm-up"])];
  return { clients, seconds, warmUpSeconds, corpus, limits, json };
}

// ── the run ──

async function run(flags: Flags): Promise<LoadReport> {
  const index = mkdtempSync(join(tmpdir(), "quern-load-"));
  const children: ChildProcess[] = [];
  try {
    const questions = questionsAbout(await fill(index, flags.corpus));
    const server = start(children, ["server", index, JSON.stringify(flags.limits)]);
    const [served] = (await once(server, "message")) as [Served];
    const samples: number[] = [];
    const clients = start(children, ["clients"]);
    clients.once("message", () => {
      server.on("message", (second: Second) => samples.push(second.memory));
      setTimeout(() => server.send("measure"), flags.warmUpSeconds * 1000);
      clients.once("message", (outcome: Outcome) => clients.emit("outcome", outcome));
    });
    const assignment: Assignment = { ...served, questions, ...flags };
    clients.send(assignment);
    const [outcome] = (await once(clients, "outcome")) as [Outcome];
    server.removeAllListeners("message").send("end");
    const [loop] = (await once(server, "message")) as [Measured];
    return reportOf(flags, outcome, { loop, samples });
  } finally {
    for (const child of children) child.kill();
    rmSync(index, { recursive: true, force: true });
  }
}

function start(children: ChildProcess[], args: string[]): ChildProcess {
  const child = fork(fileURLToPath(import.meta.url), args, { stdio: "inherit" });
  children.push(child);
  child.on("error", () => {}); // anyone who waits for a message is notified
  child.once("exit", (code) =>
    child.emit("error", new Error(`${args[0]} ended with ${code} before the run did`)),
  );
  return child;
}

/** Indexes each folder as a repository. Resolves to a file that clients can read. */
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

// ── the results ──

/** Returns a quantile by nearest rank. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN;
}

interface Watched {
  readonly loop: Measured;
  readonly samples: number[];
}

function reportOf(flags: Flags, outcome: Outcome, { loop, samples }: Watched): LoadReport {
  const { latencies, overloaded, errors } = outcome;
  const every = Object.values(latencies).flat();
  const spread = (times: readonly number[]) => ({
    answers: times.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  });
  const byKind = Object.entries(latencies).map(([kind, times]) => [kind, spread(times)]);
  const figures = {
    clients: flags.clients,
    answers: every.length,
    perSecond: every.length / flags.seconds,
    latency: {
      ...(Object.fromEntries(byKind) as LoadReport["latency"]),
      all: spread(every),
    },
    overloaded,
    errors,
    loop,
    memory: { samples, ...growthOf(samples.slice(flags.warmUpSeconds)) },
  };
  return { ...figures, verdicts: verdictsOf(flags, figures) };
}

/** Fits a line by least squares, because single samples depend on when the garbage collector ran. */
function growthOf(samples: readonly number[]): { growth: number; mean: number } {
  const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  const middle = (samples.length - 1) / 2;
  const rise = samples.reduce((sum, value, n) => sum + (n - middle) * (value - mean), 0);
  const run = samples.reduce((sum, _, n) => sum + (n - middle) ** 2, 0);
  return { growth: run === 0 ? 0 : (rise / run) * (samples.length - 1), mean };
}

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
const percent = (part: number): string => `${Math.round(part * 100)} %`;
const milliseconds = (values: Spread): string =>
  values.map((value) => value.toFixed(1)).join(" / ");

function verdictsOf(flags: Flags, report: Omit<LoadReport, "verdicts">): Verdict[] {
  const { errors, overloaded, loop, memory, answers, latency } = report;
  const wrong = Object.entries(errors).map(([what, times]) => `${times} × ${what}`);
  const { growth, mean } = memory;
  const mayRefuse = flags.limits.maxConcurrent + flags.limits.maxWaiting < flags.clients;
  return [
    {
      promise: "every answer says what it says when nobody else asks",
      isKept: wrong.length === 0 && answers > 0,
      measured: wrong.join("; ") || `${answers} answers, p99 ${latency["all"]?.p99.toFixed(0)} ms`,
    },
    {
      promise: "OVERLOADED only where configured",
      isKept: overloaded === 0 || mayRefuse,
      measured: `${overloaded} refused, ${flags.limits.maxConcurrent} at once run, ${flags.limits.maxWaiting} wait`,
    },
    {
      promise: `no growth of memory after ${flags.warmUpSeconds} s: a fitted line rises by less than ${percent(MOST_GROWTH)}`,
      isKept: !(growth >= MOST_GROWTH * mean), // NaN if the system does not report memory
      measured: `${mebibytes(growth)} MiB of ${mebibytes(mean)} in ${flags.seconds} s`,
    },
    {
      promise: `the event loop is late by less than ${MOST_DELAY_MS} ms at p99`,
      isKept: loop.late[1] < MOST_DELAY_MS,
      measured: `p50 / p99 / most: ${milliseconds(loop.late)} ms`,
    },
  ];
}

function show({
  clients,
  perSecond,
  latency,
  overloaded,
  loop,
  memory,
  verdicts,
}: LoadReport): string {
  const rows = Object.entries(latency).map(([kind, { answers, p50, p99 }]) => [
    kind,
    answers,
    p50,
    p99,
  ]);
  return [
    `${clients} clients, ${Math.round(perSecond)} answers a second, ${overloaded} refused as too many`,
    "",
    terminalTable(["kind", "answers", "p50, ms", "p99, ms"], rows),
    "",
    `event loop late, p50 / p99 / most: ${milliseconds(loop.late)} ms; at work at a time: ${milliseconds(loop.busy)} ms`,
    `its thread ran ${percent(loop.ran)} of the time and waited for a core ${percent(loop.waited)}`,
    `RssAnon, MiB, each second: ${memory.samples.map(mebibytes).join(" ")}`,
    "",
    ...verdicts.map(
      ({ isKept, promise, measured }) => `${isKept ? "KEPT  " : "BROKEN"} ${promise}: ${measured}`,
    ),
  ].join("\n");
}

// ── the processes ──

async function beClients(): Promise<void> {
  const [assignment] = (await once(process, "message")) as unknown as [Assignment];
  const outcome = await ask(assignment, () => process.send!("asking"));
  await new Promise((done) => process.send!(outcome, done)); // sending the times of ten minutes takes a while
  process.disconnect();
}

const [role, ...rest] = process.argv.slice(2);
if (role === "server") await serve(rest[0]!, JSON.parse(rest[1]!) as Limits);
else if (role === "clients") await beClients();
else {
  const flags = flagsOf(process.argv.slice(2));
  const report = await run(flags);
  console.log(flags.json ? JSON.stringify(report) : show(report));
  process.exitCode = report.verdicts.every(({ isKept }) => isKept) ? 0 : 1;
}
