/** quern search: files with highlighted lines, or their names, or the count, or the response in JSON. */

import type { Command } from "commander";
import type { Engine } from "../engine.ts";
import type { SearchRequest } from "../search/messages/request.ts";
import type { SearchResponse } from "../search/messages/response.ts";
import { type Call, wholeNumber } from "./call.ts";
import { withEngine } from "./engine-session.ts";
import { explainNothing } from "./explain-command.ts";
import { printJson, printLines, type Io } from "./io.ts";
import { QUERY_HELP, type QueryFlags, requestOf, withQueryOptions } from "./query-options.ts";
import { placeOf, showFile } from "./show-files.ts";
import { count, duration, styleFor } from "./style.ts";

interface SearchFlags extends QueryFlags {
  context: number;
  matches?: number;
  files?: true;
  count?: true;
  timeout?: number;
}

/** What a person reads through; --files names every file, so no number of matches may cut it. */
const DEFAULT_MATCHES = 200;
const ALL_MATCHES = Number.MAX_SAFE_INTEGER;

export function addSearch(program: Command, call: Call): void {
  withQueryOptions(program.command("search"))
    .summary("search the index")
    .description("Search the index. Ends with 1 where nothing is found.")
    .option("-C, --context <n>", "lines shown around each match", wholeNumber, 0)
    .option("-m, --matches <n>", `matches shown, default ${DEFAULT_MATCHES}; 0: none`, wholeNumber)
    .option("-l, --files", "only the names of the files, all of them")
    .option("-c, --count", "only the number of matches")
    .option("--timeout <ms>", "answer with what is found by then", wholeNumber)
    .addHelpText("after", QUERY_HELP)
    .action((words: string[], flags: SearchFlags) =>
      withEngine(call.io, { db: flags.db, readOnly: true }, async (engine) => {
        call.exit((await search(engine, requestOf(words, flags), flags, call.io)) ? 0 : 1);
      }),
    );
}

/** Resolves to whether anything was found. */
async function search(
  engine: Engine,
  base: SearchRequest,
  flags: SearchFlags,
  io: Io,
): Promise<boolean> {
  const matches = flags.count
    ? 0
    : (flags.matches ?? (flags.files ? ALL_MATCHES : DEFAULT_MATCHES));
  const request = { ...base, matches, contextLines: flags.files ? 0 : flags.context };
  const { signal } = io;
  const response = await engine.search(request, {
    signal,
    ...(flags.timeout !== undefined && { timeoutMs: flags.timeout }),
  });
  const isFound = response.stats.fileCount > 0;
  if (flags.json) printJson(io, response);
  else {
    printResponse(response, request, flags, io);
    printNotes(response, flags, io);
    if (!isFound && io.stderr.isTTY)
      printLines(io.stderr, explainNothing(await engine.explain(request, { signal })));
  }
  return isFound;
}

function printResponse(
  { files, stats }: SearchResponse,
  { query }: SearchRequest,
  flags: SearchFlags,
  { stdout, env }: Io,
): void {
  const style = styleFor(stdout, env);
  if (flags.count) printLines(stdout, [String(stats.totalMatchCount)]);
  else if (flags.files)
    printLines(
      stdout,
      files.map((file) => style.foreign(placeOf(file))),
    );
  else {
    const view = { style, revisions: /\brev:/.test(query) };
    files.forEach((file, n) =>
      printLines(stdout, [...(n > 0 ? [""] : []), ...showFile(file, view)]),
    );
  }
}

/** What is missing from the answer is told always, what is nice to know on a terminal. */
function printNotes({ stats }: SearchResponse, flags: SearchFlags, { stderr }: Io): void {
  const { actualMatchCount: shown, totalMatchCount: total, fileCount } = stats;
  const notes: string[] = [];
  const isCut = shown < total && !flags.count;
  if (isCut && flags.matches === undefined)
    notes.push(
      `the first ${count(shown, "match", "matches")} of ${count(total, "match", "matches")}; --matches N shows more`,
    );
  if (stats.flushReason === "FLUSH_REASON_TIMER_EXPIRED")
    notes.push("time ran out: there may be more; --timeout MS gives it more");
  if (stats.crashes > 0)
    notes.push(`${count(stats.crashes, "segment")} could not be searched; quern check tells why`);
  if (stderr.isTTY && !isCut && fileCount > 0)
    notes.push(
      `${count(total, "match", "matches")} in ${count(fileCount, "file")}, ${duration(stats.duration / 1e6)}`,
    );
  printLines(
    stderr,
    notes.map((note) => `quern: ${note}`),
  );
}
