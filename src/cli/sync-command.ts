/** Implements quern sync, which updates the index from code hosts, once or repeatedly. */

import { setTimeout as sleep } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import { QuernError } from "../base/errors.ts";
import type { Engine } from "../engine.ts";
import { milliseconds, type SyncConfig } from "../sync/config/config.ts";
import type { SyncedConnection, SyncedRepository, SyncReport } from "../sync/report.ts";
import type { SyncOptions } from "../sync/sync.ts";
import {
  type Call,
  type CommonFlags,
  lockOptions,
  type WaitFlags,
  wholeNumber,
  withCommonOptions,
  withWait,
} from "./call.ts";
import { inNewDirectory } from "./data-directory.ts";
import { withEngine } from "./engine-session.ts";
import { type Io, printJson, printLines } from "./io.ts";
import { syncProgressLine } from "./sync-progress.ts";
import { count, visible } from "./style.ts";

interface SyncFlags extends CommonFlags, WaitFlags {
  every?: string;
  connection?: string;
  workers?: number;
}

export function addSync(program: Command, call: Call): void {
  withWait(withCommonOptions(program.command("sync")))
    .summary("keep the index up to date with code hosts")
    .description(
      "List the repositories of code hosts, fetch them, index changes and remove what is gone.\n" +
        "Exits with 1 if a repository or a list failed.",
    )
    .argument("<config>", "configuration file, such as quern.json")
    .option("--every <time>", "keep running, with this pause after each run: 90s, 10m, 2h", time)
    .option("--connection <name>", "sync only this connection")
    .option(
      "--workers <n>",
      "number of threads; default: one for each core, at most 4",
      wholeNumber,
    )
    .action((file: string, flags: SyncFlags) => sync(file, flags, call));
}

function time(value: string): string {
  if ((milliseconds(value) ?? 0) > 0) return value;
  throw new InvalidArgumentError("It must be a number with s, m, h or d, such as 10m.");
}

async function sync(file: string, flags: SyncFlags, call: Call): Promise<void> {
  const { io } = call;
  const { readSyncConfig } = await import("../sync/config/read-config.ts");
  const config = await readSyncConfig(file);
  const { db, workers, connection, every = config.sync?.every } = flags;
  const options = { db, ...lockOptions(flags), ...(workers !== undefined && { workers }) };
  const only = connection === undefined ? {} : { only: { connection } };
  let isEmpty = true;
  const run = () =>
    withEngine(io, options, async (engine) => {
      try {
        const syncOnce = () => runOnce({ engine, config, options: only }, io);
        if (every === undefined) {
          const report = await syncOnce();
          show(report, flags, io);
          call.exit(isWhole(report) ? 0 : 1);
        } else
          await repeat(syncOnce, milliseconds(every)!, (report) => show(report, flags, io), io);
      } finally {
        isEmpty = (await engine.repositories()).length === 0;
      }
    });
  await inNewDirectory(db, run, () => isEmpty);
}

interface Asked {
  readonly engine: Engine;
  readonly config: SyncConfig;
  readonly options: SyncOptions;
}

async function runOnce({ engine, config, options }: Asked, io: Io): Promise<SyncReport> {
  const { syncConnections } = await import("../sync/sync.ts");
  const progress = syncProgressLine(io);
  const { signal, env } = io;
  try {
    const { onProgress } = progress;
    return await syncConnections(engine, config, { ...options, signal, env, onProgress });
  } finally {
    progress.clear();
  }
}

/**
 * Repeats a run until the user stops the command, which is not an error. If a run fails, prints the error and
 * continues with the next run.
 */
async function repeat(
  run: () => Promise<SyncReport>,
  everyMs: number,
  show: (report: SyncReport) => void,
  { signal, stderr }: Io,
): Promise<void> {
  while (!signal.aborted) {
    try {
      show(await run());
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof QuernError)) throw error;
      stderr.write(`quern: ${error.code}: ${error.message}\n`);
    }
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}

const isWhole = ({ connections }: SyncReport): boolean =>
  connections.every(
    ({ problems, repositories }) =>
      problems.length === 0 && repositories.every(({ outcome }) => outcome !== "failed"),
  );

export function show(report: SyncReport, { json }: { json?: true }, io: Io): void {
  if (json) printJson(io, report);
  else printLines(io.stdout, report.connections.flatMap(describe));
  printLines(io.stderr, report.connections.flatMap(troubles));
}

const OUTCOMES = ["indexed", "unchanged", "empty", "gone", "removed", "failed"] as const;

function describe({ name, repositories }: SyncedConnection): string[] {
  const many = (outcome: SyncedRepository["outcome"]): number =>
    repositories.filter((one) => one.outcome === outcome).length;
  const outcomes = OUTCOMES.filter((outcome) => many(outcome) > 0);
  return [
    [
      `${visible(name)}: ${count(repositories.length, "repository", "repositories")}`,
      ...outcomes.map((outcome) => `${many(outcome)} ${outcome}`),
    ].join(", "),
  ];
}

function troubles({ name, problems, repositories }: SyncedConnection): string[] {
  const failed = repositories.filter(({ outcome }) => outcome === "failed");
  return [
    ...problems.map(({ where, message }) => `${where}: ${message}`),
    ...failed.map(({ name: repository, message = "" }) => `${repository}: ${message}`),
  ].map((line) => `quern: ${visible(name)}: ${visible(line)}`);
}
