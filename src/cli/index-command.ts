/**
 * Implements quern index, which indexes repositories and folders in one run. With --watch, it indexes them again
 * whenever they change.
 */

import type { Command } from "commander";
import type { Engine } from "../engine.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import { tellExcluded } from "../ingest/sources/excluded.ts";
import type { Source } from "../ingest/sources/source.ts";
import { CODE_HOST_TYPES } from "../store/format/records.ts";
import {
  type Call,
  collect,
  type CommonFlags,
  lockOptions,
  oneOf,
  type WaitFlags,
  wholeNumber,
  wholeNumberFrom,
  withCommonOptions,
  withWait,
} from "./call.ts";
import { inNewDirectory } from "./data-directory.ts";
import { withEngine } from "./engine-session.ts";
import { printJson, printLines } from "./io.ts";
import { checkPaths, isRepository, sourcesOf, type SourceFlags } from "./index-sources.ts";
import { progressLine } from "./progress.ts";
import { bytes, count, duration, visible } from "./style.ts";
import { uncommittedNotes } from "./uncommitted-notes.ts";

interface IndexFlags extends CommonFlags, SourceFlags, WaitFlags {
  symbols: boolean;
  watch?: true;
  workers?: number;
  memory?: number;
  maxFileSize?: number;
}

export function addIndex(program: Command, call: Call): void {
  withWait(withCommonOptions(program.command("index")))
    .summary("index git repositories and folders")
    .description(
      "Index git repositories (committed files, or with --worktree those on disk) and other folders.",
    )
    .argument("<path...>", "top folder of a git repository, bare repository, or any other folder")
    .option(
      "--name <name>",
      "the repository's name; default: its remote, such as github.com/acme/shop, or its folder; " +
        "for several paths a template with {folder}, {parent} or {remote}",
    )
    .option(
      "--rev <revision>",
      "branch, tag, commit, or a pattern such as 'release-*'; repeatable, the first is the default " +
        "revision; default: as in the last run, or the branch of HEAD",
      collect,
    )
    .option("--all-branches", "every branch; that of HEAD is the default revision")
    .option("--all-tags", "every tag, and the branch of HEAD")
    .option("--worktree", "files of git work trees as they are on disk, committed or not")
    .option(
      "--ignore <pattern>",
      "exclude files of a folder, as .gitignore does; repeatable",
      collect,
    )
    .option("--no-ignore", "include what .gitignore and .ignore files exclude")
    .option("--hidden", "include files whose names begin with a dot; the default")
    .option("--public", "allow searches without an API key (serve --anonymous public)")
    .option("--code-host <type>", CODE_HOST_TYPES.join(", "), oneOf(CODE_HOST_TYPES))
    .option("--web-url <url>", "the repository's page on its code host")
    .option("--no-symbols", "do not extract symbols: faster, but sym: finds nothing")
    .option(
      "--history",
      "index the history, too, so that type:diff and type:commit search it; default: as in the last run",
    )
    .option("--history-since <date>", "index the history from this date on")
    .option("--no-history", "drop the indexed history")
    .option("--watch", "index again after every change, until interrupted")
    .option(
      "--workers <n>",
      "number of threads; default: one for each core, at most 4",
      wholeNumber,
    )
    .option("--memory <MiB>", "memory for indexing, 32 or more; default: 256", wholeNumberFrom(32))
    .option(
      "--max-file-size <bytes>",
      "list larger files without searching them; default: 2 MiB",
      wholeNumber,
    )
    .action(async (paths: string[], flags: IndexFlags) => {
      await index(paths, flags, call, async (reports, engine) => {
        const { stderr, signal } = call.io;
        show(reports, flags, call);
        if (flags.ignore !== false) printLines(stderr, await excludedLines(paths));
        const names = new Set(reports.map(({ repository }) => repository));
        const indexed = (await engine.repositories()).filter(({ name }) => names.has(name));
        printLines(stderr, await uncommittedNotes(indexed, signal));
      });
    });
}

function show(reports: readonly IndexReport[], flags: CommonFlags, { io }: Call): void {
  if (flags.json) printJson(io, reports);
  else printLines(io.stdout, reports.map(describe));
}

async function excludedLines(paths: readonly string[]): Promise<string[]> {
  const folders = paths.filter((one) => !isRepository(one));
  const told = await Promise.all(folders.map(tellExcluded));
  return told.flatMap((words) =>
    words === undefined ? [] : [`quern: ${visible(words)}; --no-ignore takes them all`],
  );
}

/**
 * Indexes the paths, and calls `onRun` with the reports. With --watch, then watches the paths until the user stops the
 * command.
 */
async function index(
  paths: string[],
  flags: IndexFlags,
  call: Call,
  onRun: (reports: readonly IndexReport[], engine: Engine) => Promise<void>,
): Promise<void> {
  const { io } = call;
  checkPaths(paths, flags);
  const progress = progressLine(io, { next: flags.symbols ? "symbols" : "" });
  const { db, workers, memory, maxFileSize } = flags;
  const options = {
    db,
    ...lockOptions(flags),
    ...(workers !== undefined && { workers }),
    ...(memory !== undefined && { memoryBudget: memory * 2 ** 20 }),
    ...(maxFileSize !== undefined && { maxFileSize }),
  };
  let isEmpty = true;
  const run = () =>
    withEngine(io, options, async (engine) => {
      const { signal } = io;
      const repositories = await engine.repositories();
      const sources = await sourcesOf(paths, { flags, repositories, signal });
      try {
        const symbols = flags.symbols ? "after" : "skip";
        const { onProgress } = progress;
        const reports = await engine.index(sources, { signal, onProgress, symbols });
        progress.clear();
        await onRun(reports, engine);
        if (flags.watch) await watchUntilStopped(engine, { sources, symbols, flags }, call);
      } finally {
        isEmpty = (await engine.repositories()).length === 0;
      }
    });
  try {
    await inNewDirectory(db, run, () => isEmpty);
  } finally {
    progress.clear();
  }
}

interface Watching {
  readonly sources: readonly Source[];
  readonly symbols: "after" | "skip";
  readonly flags: CommonFlags;
}

/** Watches the sources until the user stops the command. Prints each run that has found a change. */
async function watchUntilStopped(
  engine: Engine,
  { sources, symbols, flags }: Watching,
  call: Call,
): Promise<void> {
  const { io } = call;
  const { watch } = await import("../watch.ts");
  const begun = watch(engine, sources, {
    signal: io.signal,
    symbols,
    onIndexed: (report) => {
      if (report.added + report.removed > 0) show([report], flags, call);
    },
    onWarning: ({ code, message }) => io.stderr.write(`quern: warning: ${code}: ${message}\n`),
  });
  const watching = await begun.catch((error: unknown) => {
    if (!io.signal.aborted) throw error;
  });
  if (!watching) return; // stopped before watching began, but everything is indexed
  io.stderr.write(`quern: watching ${count(sources.length, "source")}\n`);
  await stopped(io.signal);
  await watching[Symbol.asyncDispose]();
}

/** Resolves when the signal is aborted. Keeps the process alive until then. */
async function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const alive = setInterval(() => {}, 2 ** 30);
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  clearInterval(alive);
}

function describe(report: IndexReport): string {
  const files = report.revisions[0]?.files ?? 0;
  const others = report.revisions.length - 1;
  return [
    `${visible(report.repository)}: ${count(files, "file")}`,
    ...(others > 0 ? [count(others, "further revision")] : []),
    `${report.added} added, ${report.removed} removed`,
    ...(report.skipped.length > 0 ? [`${report.skipped.length} not searchable`] : []),
    ...(report.symbols > 0 ? [count(report.symbols, "symbol")] : []),
    ...(report.withoutSymbols.length > 0
      ? [`${report.withoutSymbols.length} without symbols`]
      : []),
    ...(report.history ? [`${count(report.history.commits, "commit")} read`] : []),
    ...(report.history && report.history.withoutLines.length > 0
      ? [`${report.history.withoutLines.length} of them without lines, because blobs are missing`]
      : []),
    `${bytes(report.bytesRead)} read`,
    duration(report.durationMs),
  ].join(", ");
}
