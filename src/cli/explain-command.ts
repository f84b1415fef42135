/**
 * Implements quern explain, which shows how a query was understood and planned. If the query finds nothing, also shows
 * changed queries that find something.
 */

import type { Command } from "commander";
import type { Explanation } from "../search/messages/response.ts";
import type { Call } from "./call.ts";
import { forOneSearch, withEngine } from "./engine-session.ts";
import { printJson, printLines } from "./io.ts";
import { type QueryFlags, requestOf, withQueryOptions } from "./query-options.ts";
import { count, duration, visible } from "./style.ts";

export function addExplain(program: Command, call: Call): void {
  const { io } = call;
  withQueryOptions(program.command("explain"))
    .summary("explain how a query is understood and planned")
    .action((words: string[], flags: QueryFlags) => {
      const request = requestOf(words, flags);
      return withEngine(io, forOneSearch(flags.db), async (engine) => {
        const explanation = await engine.explain(request, { signal: io.signal });
        if (flags.json) printJson(io, explanation);
        else printLines(io.stdout, showExplanation(explanation));
      });
    });
}

function showExplanation(explanation: Explanation): string[] {
  const { query, segments, stats } = explanation;
  return [
    `query: ${visible(query)}`,
    ...segments.flatMap(showSegment),
    `${count(stats.totalMatchCount, "match", "matches")} in ${count(stats.fileCount, "file")}, ` +
      `${count(stats.filesLoaded, "file")} read, ${duration(stats.duration / 1e6)}`,
    ...explainNothing(explanation),
  ];
}

type Segment = Explanation["segments"][number];

function showSegment(segment: Segment): string[] {
  const { id, outcome, literals, candidatePages, candidateFiles, excludedBy = [] } = segment;
  return [
    `segment ${id}: ${outcome}, ${count(candidateFiles, "candidate file")}, ${count(candidatePages, "page")}`,
    ...literals.map(({ text, pages, grams }) => {
      const lists = grams.map((gram) => `${JSON.stringify(gram.gram)} ${gram.pages}`).join(", ");
      return `  ${JSON.stringify(text)}: ${count(pages, "page")}; grams: ${lists}`;
    }),
    ...excludedBy.map(
      ({ query, candidateFiles: alone }) =>
        `  excluded by ${visible(query)}: ${count(alone, "candidate file")} of its own`,
    ),
  ];
}

const CHANGES: Readonly<Record<Explanation["suggestions"][number]["change"], string>> = {
  "ignore-case": "without --case",
  literal: "without --regex",
  regex: "with --regex",
  "all-revisions": "in all revisions",
  "drop-filter": "with fewer filters",
  language: "in another language",
};

const REASONS: Readonly<Record<Explanation["notIndexed"][number]["reason"], string>> = {
  unknown: "is not indexed",
  indexing: "is being indexed for the first time",
  "files-skipped": "has files that are not searchable",
};

/** Returns advice after a search that found nothing. */
export function explainNothing({ hints, notIndexed, suggestions }: Explanation): string[] {
  return [
    ...hints.map(({ message }) => `quern: ${visible(message)}`),
    ...notIndexed.map(({ repository, reason, files }) => {
      const many = files === undefined ? "" : ` (${count(files, "file")})`;
      return `quern: ${visible(repository)} ${REASONS[reason]}${many}`;
    }),
    ...suggestions.map(({ change, request, totalMatchCount }) => {
      const found = count(totalMatchCount, "match", "matches");
      return `quern: ${found} ${CHANGES[change]}: ${visible(request.query)}`;
    }),
  ];
}
