/** Implements quern find. It prints the places that a question in words describes. */

import type { Command } from "commander";
import type { FindMissing, FindResponse, FoundPlace } from "../find/request.ts";
import { filterOf, type FilterFlags, withFilterOptions } from "./query-options.ts";
import { type Call, type CommonFlags, wholeNumber, withCommonOptions } from "./call.ts";
import { forOneSearch, withEngine } from "./engine-session.ts";
import { printJson, printLines } from "./io.ts";
import { count, duration, type Style, styleFor, visible } from "./style.ts";

interface FindFlags extends CommonFlags, FilterFlags {
  filter?: string;
  places: number;
  lines: number;
  why?: true;
  timeout?: number;
}

const HELP = `
Describe the code in ordinary words, or give a name:

  quern find where is the retry delay computed
  quern find -t go --why parse duration
  quern find --filter 'repo:shop -file:test' RetryPolicy`;

export function addFind(program: Command, call: Call): void {
  withFilterOptions(withCommonOptions(program.command("find")))
    .summary("find code by a description")
    .description("Find the places that a description fits best. Exits with 1 if nothing is found.")
    .argument("<words...>", "the description")
    .option("--filter <query>", "filters such as repo:, lang:, file: or rev:")
    .option("-m, --places <n>", "maximum number of places", wholeNumber, 10)
    .option("-L, --lines <n>", "maximum number of lines of each place", wholeNumber, 6)
    .option("--why", "print the reasons for the rank of each place")
    .option("--timeout <ms>", "return the results found within this time", wholeNumber)
    .addHelpText("after", HELP)
    .action((words: string[], flags: FindFlags) =>
      withEngine(call.io, forOneSearch(flags.db), async (engine) => {
        const { places, lines, timeout } = flags;
        const query = filterOf(flags, flags.filter);
        const answer = await engine.find(
          { text: words.join(" "), places, lines, ...(query !== "" && { query }) },
          { signal: call.io.signal, ...(timeout !== undefined && { timeoutMs: timeout }) },
        );
        if (flags.json) printJson(call.io, answer);
        else {
          const style = styleFor(call.io.stdout, call.io.env, "auto");
          printLines(
            call.io.stdout,
            answer.places.flatMap((place) => linesOf(place, flags, style)),
          );
          printLines(call.io.stderr, notesOf(answer));
        }
        call.exit(answer.places.length > 0 ? 0 : 1);
      }),
    );
}

function linesOf(place: FoundPlace, { why }: FindFlags, style: Style): string[] {
  const { repository, path, definition, lines, chunk, reasons } = place;
  const name = definition && ` ${definition.kind} ${style.foreign(definition.name)}`;
  const head = `${style.foreign(repository)}/${style.foreign(path)}:${lines.from}-${lines.to}`;
  const { lineNumber } = chunk.contentStart;
  const text = chunk.content.replace(/\n$/, "").split("\n");
  return [
    `${style.heading(head)}${name ?? ""}`,
    ...text.map((line, i) => `${style.line(String(lineNumber + i))}: ${style.foreign(line)}`),
    ...(why
      ? reasons.map(
          ({ what, detail, weight }) => `  ${weight.toFixed(2)} ${what}: ${style.foreign(detail)}`,
        )
      : []),
    "",
  ];
}

const MISSING_TEXT: Readonly<Record<FindMissing, string>> = {
  "timed-out": "the time-out passed before all files were scored",
  damaged: "some stored data is damaged; run quern check",
  "no-word-lists": "the words of some files are not indexed; run quern index again",
};

function notesOf({ places, unknownWords, missing, stats }: FindResponse): string[] {
  return [
    ...(unknownWords.length > 0
      ? [`quern: not in any file: ${unknownWords.map(visible).join(", ")}`]
      : []),
    ...missing.map((why) => `quern: incomplete: ${MISSING_TEXT[why]}`),
    `${count(places.length, "place")} from ${count(stats.filesScored, "file")} in ${duration(stats.durationMs)}`,
  ];
}
