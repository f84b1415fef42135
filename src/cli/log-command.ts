/** Implements quern log. It prints the commits whose changes match a query, in the form of git log. */

import type { Command } from "commander";
import type { Engine } from "../engine.ts";
import { invalid } from "../base/errors.ts";
import type { FileDiff } from "../history/history.ts";
import { mayBeHistory } from "../query/parse.ts";
import type { FileResult, SearchResponse } from "../search/messages/response.ts";
import { type Call, type CommonFlags, oneOf, wholeNumber, withCommonOptions } from "./call.ts";
import { forOneSearch, withEngine } from "./engine-session.ts";
import { printJson, printLines } from "./io.ts";
import { showFile } from "./show-files.ts";
import { COLOURS, count, duration, type Style, styleFor } from "./style.ts";

interface LogFlags extends CommonFlags {
  added?: true;
  removed?: true;
  patch?: true;
  regex?: true;
  case?: true;
  matches: number;
  color: (typeof COLOURS)[number];
  timeout?: number;
}

const HELP = `
All terms must be in the same change, which is one file in one commit. Filters such as file: author:
before: after: message: and rev: limit the changes. A query with type:commit searches only messages.

  quern log roundTotal
  quern log --removed roundTotal file:^src/
  quern log --regex 'added:enable\\w+ author:ada after:2026-05-01'
  quern log type:commit rounding error`;

export function addLog(program: Command, call: Call): void {
  withCommonOptions(program.command("log"))
    .summary("find the commits that added or removed a text")
    .description(
      "Search the indexed history (quern index --history). Exits with 1 if nothing is found.",
    )
    .argument("<query...>", "the query; several arguments are joined by blanks")
    .option("-a, --added", "search only added lines")
    .option("-d, --removed", "search only removed lines")
    .option("-p, --patch", "print the whole difference of each file that is found")
    .option("-r, --regex", "terms are regular expressions (RE2)")
    .option("-s, --case", "match case")
    .option("-m, --matches <n>", "maximum number of matches to print", wholeNumber, 200)
    .option("--color <when>", COLOURS.join(", "), oneOf(COLOURS), "auto")
    .option("--timeout <ms>", "return the results found within this time", wholeNumber)
    .addHelpText("after", HELP)
    .action((words: string[], flags: LogFlags) =>
      withEngine(call.io, forOneSearch(flags.db), async (engine) => {
        const { signal, stdout, stderr, env } = call.io;
        const { regex = false, case: isCaseSensitivityEnabled = false, matches, timeout } = flags;
        const response = await engine.search(
          {
            query: queryOf(words.join(" "), flags),
            isRegexEnabled: regex,
            isCaseSensitivityEnabled,
            matches,
          },
          { signal, ...(timeout !== undefined && { timeoutMs: timeout }) },
        );
        if (flags.json) printJson(call.io, response);
        else {
          const style = styleFor(stdout, env, flags.color);
          const shown = flags.patch ? await patchesOf(engine, response.files, signal) : undefined;
          printLines(stdout, linesOf(response.files, shown, style));
          printLines(stderr, [`quern: ${summary(response)}`]);
        }
        call.exit(response.stats.fileCount > 0 ? 0 : 1);
      }),
    );
}

function queryOf(typed: string, { added, removed }: LogFlags): string {
  if (added && removed) throw invalid("give --added or --removed, not both");
  const side = added ? "added" : removed ? "removed" : undefined;
  return [
    ...(side === undefined ? [] : [`select:commit.diff.${side}`]),
    ...(mayBeHistory(typed) ? [typed] : ["type:diff", / or /i.test(typed) ? `(${typed})` : typed]),
  ].join(" ");
}

/** Resolves to the difference of each change, as git shows it. Changes of a first commit have none. */
async function patchesOf(
  engine: Engine,
  files: readonly FileResult[],
  signal: AbortSignal,
): Promise<Map<FileResult, string[]>> {
  const patches = new Map<FileResult, string[]>();
  let last = "";
  let differences: FileDiff[] = [];
  for (const file of files) {
    const { hash, parents } = file.commit!;
    const path = file.fileName.text;
    const base = parents[0];
    if (base === undefined || path === hash) continue;
    // all files of the commit are compared, because a renamed file is found only together with its old path
    if (last !== `${file.repositoryId} ${hash}`) {
      const history = await engine.history(file.repository);
      differences = (await history?.diff({ base, head: hash, signal })) ?? [];
    }
    last = `${file.repositoryId} ${hash}`;
    const own = differences.find(({ oldPath, newPath }) => (newPath ?? oldPath) === path);
    if (own) patches.set(file, own.hunks.flatMap(hunkLines));
  }
  return patches;
}

const hunkLines = ({ oldRange, newRange, heading, body }: FileDiff["hunks"][number]): string[] => [
  `@@ -${oldRange.start},${oldRange.lines} +${newRange.start},${newRange.lines} @@${heading ? ` ${heading}` : ""}`,
  ...body.split("\n"),
];

function linesOf(
  files: readonly FileResult[],
  patches: ReadonlyMap<FileResult, readonly string[]> | undefined,
  style: Style,
): string[] {
  const lines: string[] = [];
  let last: string | undefined;
  for (const file of files) {
    const { hash } = file.commit!;
    const key = `${file.repositoryId} ${hash}`;
    if (key !== last) lines.push(...(last === undefined ? [] : [""]), ...headOf(file, style));
    last = key;
    if (file.fileName.text === hash) continue; // a commit, whose message is in its head
    const { commit: _, ...change } = file;
    const patch = patches?.get(file);
    const [heading, ...found] = showFile(change, { style, revisions: false });
    lines.push("", heading!, ...(patch?.map((line) => style.foreign(line)) ?? found));
  }
  return lines;
}

function headOf({ repository, commit }: FileResult, style: Style): string[] {
  const { hash, parents, authorName, authorEmail, date, message } = commit!;
  return [
    style.heading(`commit ${hash}`),
    `Repository: ${style.foreign(repository)}`,
    ...(parents.length > 1 ? [`Merge: ${parents.map((id) => id.slice(0, 12)).join(" ")}`] : []),
    `Author: ${style.foreign(`${authorName} <${authorEmail}>`)}`,
    `Date:   ${date}`,
    "",
    ...message
      .trimEnd()
      .split("\n")
      .map((line) => `    ${style.foreign(line)}`.trimEnd()),
  ];
}

function summary({ files, stats, isSearchExhaustive }: SearchResponse): string {
  const { actualMatchCount: shown, totalMatchCount: total, fileCount, duration: time } = stats;
  const some = shown < total ? `the newest ${shown} of ` : "";
  const commits = new Set(files.map(({ commit }) => commit!.hash)).size;
  const missing = isSearchExhaustive ? "" : "; incomplete: run quern index again, or quern check";
  return `${some}${count(total, "match", "matches")} in ${count(fileCount, "change")}, ${count(commits, "commit")} shown, ${duration(time / 1e6)}${missing}`;
}
