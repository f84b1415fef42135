/**
 * Implements quern search. It prints files with highlighted lines, only the names of files, only the number of
 * matches, or the response as JSON.
 */

import type { Command } from "commander";
import type { Engine } from "../engine.ts";
import type { SearchRequest } from "../search/messages/request.ts";
import type { SearchResponse } from "../search/messages/response.ts";
import { type Call, oneOf, wholeNumber } from "./call.ts";
import { forOneSearch, withEngine } from "./engine-session.ts";
import { explainNothing } from "./explain-command.ts";
import { printJson, printLines, type Io } from "./io.ts";
import { pathsHere } from "./places.ts";
import { QUERY_HELP, type QueryFlags, requestOf, withQueryOptions } from "./query-options.ts";
import { showFile, showForEditor } from "./show-files.ts";
import { COLOURS, count, duration, grouped, type Style, styleFor } from "./style.ts";

interface SearchFlags extends QueryFlags {
  afterContext?: number;
  beforeContext?: number;
  context: number;
  matches?: number;
  perFile?: number;
  files?: true;
  filesWithMatches?: true;
  vimgrep?: true;
  count?: true;
  color: (typeof COLOURS)[number];
  timeout?: number;
}

/** The form in which results are printed. */
type Form = "lines" | "count" | "names" | "vimgrep";

/**
 * The maximum number of matches to print by default. With --files and --vimgrep, the number is not limited by
 * default.
 */
const DEFAULT_MATCHES = 200;
/**
 * The maximum number of matches to print for each file by default. With this limit, 200 matches come from at least 40
 * files, and not from a single one.
 */
const DEFAULT_PER_FILE = 5;
const ALL = Number.MAX_SAFE_INTEGER;

export function addSearch(program: Command, call: Call): void {
  withQueryOptions(program.command("search"))
    .summary("search the index")
    .description("Search the index. Exits with 1 if nothing is found.")
    .option("-A, --after-context <n>", "lines of context after each match", wholeNumber)
    .option("-B, --before-context <n>", "lines of context before each match", wholeNumber)
    .option("-C, --context <n>", "lines of context around each match", wholeNumber, 0)
    .option(
      "-m, --matches <n>",
      `maximum number of matches to print; default: ${DEFAULT_MATCHES}`,
      wholeNumber,
    )
    .option(
      "--per-file <n>",
      `matches shown of each file, its best; default ${DEFAULT_PER_FILE}; 0: all`,
      wholeNumber,
    )
    .option("-l, --files", "print only the names of all matching files")
    .option("--files-with-matches", "same as --files")
    .option("-c, --count", "print only the total number of matches")
    .option("--vimgrep", "print path:line:column:text for every match, for editors")
    .option("--color <when>", COLOURS.join(", "), oneOf(COLOURS), "auto")
    .option("--timeout <ms>", "return the results found within this time", wholeNumber)
    .addHelpText("after", QUERY_HELP)
    .action((words: string[], flags: SearchFlags) => {
      const request = requestFor(words, flags);
      return withEngine(call.io, forOneSearch(flags.db), async (engine) => {
        call.exit((await search(engine, request, flags, call.io)) ? 0 : 1);
      });
    });
}

function formOf({ count: isCount, files, filesWithMatches, vimgrep }: SearchFlags): Form {
  if (isCount) return "count";
  if (files || filesWithMatches) return "names";
  return vimgrep ? "vimgrep" : "lines";
}

function requestFor(words: readonly string[], flags: SearchFlags): SearchRequest {
  const form = formOf(flags);
  const { matches, perFile = DEFAULT_PER_FILE } = flags;
  const all = form === "names" || form === "vimgrep" ? ALL : DEFAULT_MATCHES;
  const { before, after } = contextOf(flags);
  return {
    ...requestOf(words, flags),
    matches: form === "count" ? 0 : (matches ?? all),
    ...(form === "names" && { matchesPerFile: 1 }),
    ...(form === "lines" && perFile > 0 && !isJsonWhole(flags) && { matchesPerFile: perFile }),
    contextLines: form === "lines" ? Math.max(before, after) : 0,
  };
}

/**
 * Whether the response is printed as JSON with all matches of each file, as over HTTP. True if --json is given without
 * --per-file.
 */
const isJsonWhole = ({ json, perFile }: SearchFlags): boolean =>
  json === true && perFile === undefined;

const contextOf = ({ beforeContext, afterContext, context }: SearchFlags) => ({
  before: beforeContext ?? context,
  after: afterContext ?? context,
});

/** Runs the search and prints its results. Resolves to true if anything was found. */
async function search(
  engine: Engine,
  request: SearchRequest,
  flags: SearchFlags,
  io: Io,
): Promise<boolean> {
  const { signal } = io;
  const response = await engine.search(request, {
    signal,
    ...(flags.timeout !== undefined && { timeoutMs: flags.timeout }),
  });
  const isFound = response.stats.fileCount > 0;
  if (flags.json) printJson(io, response);
  else {
    const style = styleFor(io.stdout, io.env, flags.color);
    printLines(io.stdout, await linesOf(engine, response, { request, flags, style }));
    printNotes(response, await symbolsMissing(engine, response), flags, io);
    if (!isFound && io.stderr.isTTY)
      printLines(io.stderr, [
        ...wordsLikeOptions(request.query),
        ...explainNothing(await engine.explain(request, { signal })),
      ]);
    if (!isFound && (formOf(flags) === "lines" || io.stderr.isTTY))
      printLines(io.stderr, await notesOnCommits(engine, signal));
  }
  return isFound;
}

/** Resolves to notes on files that nothing can be found in, because they are not committed. */
async function notesOnCommits(engine: Engine, signal: AbortSignal): Promise<string[]> {
  const { uncommittedNotes } = await import("./uncommitted-notes.ts"); // starts git, which few searches need
  return uncommittedNotes(await engine.repositories(), signal);
}

/** Returns a note for each word that looks like an option but was searched for. */
const wordsLikeOptions = (query: string): string[] =>
  [...query.matchAll(/(?:^|\s)(--[a-z][\w-]*)/g)].map(
    ([, word]) =>
      `quern: ${word!} was searched for, because no option has this name; quern search --help lists them`,
  );

async function linesOf(
  engine: Engine,
  { files, stats }: SearchResponse,
  { request, flags, style }: { request: SearchRequest; flags: SearchFlags; style: Style },
): Promise<string[]> {
  switch (formOf(flags)) {
    case "count":
      return [String(stats.totalMatchCount)];
    case "names": {
      const pathOf = await pathsHere(engine);
      return files.map((file) => style.foreign(pathOf(file)));
    }
    case "vimgrep": {
      const pathOf = await pathsHere(engine);
      return files.flatMap((file) => showForEditor(file, pathOf(file), style));
    }
    case "lines": {
      const view = { style, revisions: /\brev:/.test(request.query), ...contextOf(flags) };
      return files.flatMap((file, n) => [...(n > 0 ? [""] : []), ...showFile(file, view)]);
    }
  }
}

/**
 * If the results are incomplete, resolves to the number of files whose symbols are not indexed yet. Otherwise,
 * resolves to 0.
 */
async function symbolsMissing(
  engine: Engine,
  { isSearchExhaustive, stats }: SearchResponse,
): Promise<number> {
  if (isSearchExhaustive || stats.filesSkipped === 0) return 0;
  const repositories = await engine.repositories();
  return repositories.reduce((sum, { symbols }) => sum + symbols.total - symbols.done, 0);
}

/**
 * Prints notes about what is missing from the results. Also prints a summary if matching lines were printed, or if
 * stderr is a terminal.
 */
function printNotes(
  response: SearchResponse,
  withoutSymbols: number,
  flags: SearchFlags,
  { stderr }: Io,
): void {
  const { stats } = response;
  const form = formOf(flags);
  const notes: string[] = [];
  if (form === "lines" || stderr.isTTY) notes.push(summary(response, flags));
  if (stats.flushReason === "FLUSH_REASON_TIMER_EXPIRED")
    notes.push("timed out: there may be more; raise --timeout MS");
  if (withoutSymbols > 0)
    notes.push(
      `symbols of ${count(withoutSymbols, "file")} follow while they are indexed, or with the next quern index`,
    );
  if (stats.crashes > 0)
    notes.push(`${count(stats.crashes, "segment")} could not be searched; quern check shows why`);
  printLines(
    stderr,
    notes.map((note) => `quern: ${note}`),
  );
}

/**
 * Returns a summary such as `17 matches in 5 files, 3 ms`. If some matches are not shown, the summary says how many
 * are shown, and how to see the others.
 */
function summary({ files, stats }: SearchResponse, flags: SearchFlags): string {
  const { actualMatchCount: shown, totalMatchCount: total, fileCount } = stats;
  const time = duration(stats.duration / 1e6);
  const matches = count(total, "match", "matches");
  const isCut = formOf(flags) === "lines" && (shown < total || files.length < fileCount);
  if (!isCut) return `${matches} in ${count(fileCount, "file")}, ${time}`;
  const isCutInFiles = flags.perFile !== 0 && files.length > 0;
  const ways = [
    ...(files.length < fileCount
      ? [`-m ${2 * (flags.matches || DEFAULT_MATCHES)} shows more`]
      : []),
    ...(isCutInFiles ? ["--per-file 0 shows every match of a file"] : []),
    ...(files.length < fileCount ? ["-l names every file"] : []),
  ];
  const some = (part: number, all: number) => (part === all ? "" : `${grouped(part)} of `);
  return (
    `${some(shown, total)}${matches} in ${some(files.length, fileCount)}${count(fileCount, "file")}, ` +
    `${time}; ${ways.join(", ")}`
  );
}
