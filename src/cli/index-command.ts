/** quern index: puts repositories and folders into the index, all in one run. */

import { existsSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { Command } from "commander";
import { QuernError } from "../base/errors.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import { directory } from "../ingest/sources/directory.ts";
import { git } from "../ingest/sources/git.ts";
import type { Source } from "../ingest/sources/source.ts";
import { CODE_HOST_TYPES, type CodeHostType } from "../store/format/records.ts";
import {
  type Call,
  collect,
  type CommonFlags,
  oneOf,
  wholeNumber,
  withCommonOptions,
} from "./call.ts";
import { withEngine } from "./engine-session.ts";
import { printJson, printLines } from "./io.ts";
import { progressLine } from "./progress.ts";
import { bytes, count, duration, visible } from "./style.ts";

interface IndexFlags extends CommonFlags {
  name?: string;
  rev?: string[];
  ignore?: string[];
  symbols: boolean;
  public?: true;
  webUrl?: string;
  codeHost?: CodeHostType;
  workers?: number;
  memory?: number;
  maxFileSize?: number;
}

export function addIndex(program: Command, call: Call): void {
  withCommonOptions(program.command("index"))
    .summary("index git repositories and folders")
    .description("Index git repositories (what is committed) and any other folders.")
    .argument("<path...>", "top folders of repositories, bare repositories, folders")
    .option("--name <name>", "of the repository; default: the folder's name")
    .option(
      "--rev <revision>",
      "branch, tag or commit; may be repeated, the first is the default",
      collect,
    )
    .option(
      "--ignore <pattern>",
      "leave files of a folder out, as in .gitignore; may be repeated",
      collect,
    )
    .option("--public", "may be searched without an API key (serve --anonymous public)")
    .option("--code-host <type>", CODE_HOST_TYPES.join(", "), oneOf(CODE_HOST_TYPES))
    .option("--web-url <url>", "the repository's page on its code host")
    .option("--no-symbols", "do not extract symbols: faster, but sym: finds nothing")
    .option("--workers <n>", "threads; default: one a core, at most 4", wholeNumber)
    .option("--memory <MiB>", "what indexing may hold; default: 256", wholeNumber)
    .option(
      "--max-file-size <bytes>",
      "list larger files without searching them; default: 2 MiB",
      wholeNumber,
    )
    .action(async (paths: string[], flags: IndexFlags) => {
      const reports = await index(paths, flags, call);
      if (flags.json) printJson(call.io, reports);
      else printLines(call.io.stdout, reports.map(describe));
    });
}

async function index(paths: string[], flags: IndexFlags, { io }: Call): Promise<IndexReport[]> {
  const sources = sourcesOf(paths, flags);
  const progress = progressLine(io);
  const { db, workers, memory, maxFileSize } = flags;
  const options = {
    db,
    ...(workers !== undefined && { workers }),
    ...(memory !== undefined && { memoryBudget: memory * 2 ** 20 }),
    ...(maxFileSize !== undefined && { maxFileSize }),
  };
  try {
    return await withEngine(io, options, (engine) =>
      engine.index(sources, {
        signal: io.signal,
        onProgress: progress.onProgress,
        symbols: flags.symbols ? "after" : "skip",
      }),
    );
  } finally {
    progress.clear();
  }
}

function sourcesOf(paths: readonly string[], flags: IndexFlags): Source[] {
  if (flags.name !== undefined && paths.length > 1)
    throw new QuernError("INVALID_REQUEST", "--name is for one path: index the others separately");
  return paths.map((path) => sourceOf(path, flags));
}

function sourceOf(path: string, flags: IndexFlags): Source {
  const options = {
    ...(flags.name !== undefined && { name: flags.name }),
    ...(flags.public && { public: true }),
    ...(flags.codeHost !== undefined && { codeHostType: flags.codeHost }),
    ...(flags.webUrl !== undefined && { webUrl: flags.webUrl }),
  };
  if (isRepository(path)) {
    if (flags.ignore)
      throw new QuernError(
        "INVALID_REQUEST",
        `--ignore is for folders; ${path} is a git repository`,
      );
    return git(path, { ...options, ...(flags.rev && { revisions: flags.rev }) });
  }
  if (flags.rev)
    throw new QuernError("INVALID_REQUEST", `--rev is for git repositories; ${path} is none`);
  return directory(path, {
    ...options,
    ignore: [...(flags.ignore ?? []), ...ownFolder(path, flags)],
  });
}

/** A work tree's top folder, or a bare repository. */
function isRepository(path: string): boolean {
  const has = (name: string): boolean => existsSync(join(path, name));
  return has(".git") || (has("HEAD") && has("objects") && has("refs"));
}

/** The data directory itself, where it lies in the indexed folder. */
function ownFolder(path: string, { db }: IndexFlags): string[] {
  const inside = relative(resolve(path), resolve(db));
  if (inside === "" || inside.startsWith("..") || resolve(inside) === inside) return [];
  return [`/${inside.split(sep).join("/")}/`];
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
    `${bytes(report.bytesRead)} read`,
    duration(report.durationMs),
  ].join(", ");
}
