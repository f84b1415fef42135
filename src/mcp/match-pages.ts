/**
 * The matches of a question, page by page, within budgets. All matches have one order: the best line of each
 * file, file by file, then the other lines of each file. An answer is a piece of it, and a cursor the place
 * where it ended: which page of the engine's, and how far into it.
 *
 *     all    one page of the engine holds every match: its files' first lines, then their others
 *     best   more than that: pages of the best line of each file,
 *     rest   then pages of all lines, of which the first of each file has been told
 */

import type { SearchRequest, Viewer } from "../search/messages/request.ts";
import type { Chunk, FileResult, SearchResponse } from "../search/messages/response.ts";
import { Answer, cutLine } from "./answer.ts";
import {
  definitionsOf,
  enclosing,
  fileKey,
  fullName,
  indentOf,
  type Definition,
} from "./definitions-of.ts";
import { plural } from "./plural.ts";
import { searchOptions, scopeOf } from "./scope.ts";
import type { Filters, Outcome, ToolContext } from "./tool.ts";

/** What is asked, and asked again for each page. */
export interface Question {
  readonly tool: string;
  /** As told to the engine, with the filters in the query. */
  readonly request: Pick<
    SearchRequest,
    "query" | "isRegexEnabled" | "isCaseSensitivityEnabled" | "contextLines"
  >;
  readonly filters: Filters;
}

type Stage = "all" | "best" | "rest";

/** Where an answer ended. */
interface Place {
  readonly question: Question;
  readonly stage: Stage;
  /** The engine's cursor of the page. */
  readonly after: string;
  /** Items of that page that were told, and the last of them. */
  readonly told: number;
  readonly last: string;
  /** The file that the page before ended with: its first lines here are not its best. */
  readonly continued: string;
  /** Matches and files when the first page was made: other ones tell that the index has changed. */
  readonly totals: string;
}

const firstPlace = (question: Question): Place => ({
  question,
  stage: "all",
  after: "",
  told: 0,
  last: "",
  continued: "",
  totals: "",
});

/** One line, or several with their context, of one file. */
interface Item {
  readonly file: FileResult;
  readonly chunk: Chunk | undefined; // undefined: only the path matches
  readonly key: string;
}

/** More ranges than fit: a line takes some six tokens at least. */
const rangesFor = (maxTokens: number): number => Math.ceil(maxTokens / 6);
const ALL_OF_A_FILE = 1e9;

export interface Told extends Outcome {
  readonly response: SearchResponse;
}

export async function tellMatches(
  asked: Question | { readonly tool: string; readonly cursor: string },
  maxTokens: number,
  context: ToolContext,
): Promise<Told> {
  const begun =
    "cursor" in asked ? context.cursors.find<Place>(asked.tool, asked.cursor) : firstPlace(asked);
  const { viewer } = await scopeOf(begun.question.filters, context);
  const search = (place: Place) => searchPage(place, { maxTokens, context, viewer });
  let place = begun;
  let response = await search(place);
  if (place.stage === "all" && response.nextCursor !== undefined) {
    place = { ...place, stage: "best" };
    response = await search(place);
  }
  const first = response;
  const answer = new Answer(maxTokens, context.count);
  answer.head(headline(first));
  const partial = [...partialWords(first), ...context.behind(), ...changedWords(first, begun)];
  for (const words of partial) answer.head(words);
  const writer = new MatchWriter(
    answer,
    await definitionsAround(first, begun.question, { context, viewer }),
  );
  let isDone = false;
  for (;;) {
    const items = itemsOf(response, place);
    const end = writer.write(items, beginOf(items, place));
    if (end < items.length) {
      place = { ...place, told: end, last: items[end - 1]?.key ?? place.last };
      break;
    }
    const next = placeBehind(place, response, items);
    isDone = next === undefined;
    if (!next) break;
    place = next;
    response = await search(place);
  }
  writer.finish();
  const { totalMatchCount: matches, fileCount: files } = first.stats;
  const facts = { matches, files, shown: writer.shown, complete: isDone && partial.length === 0 };
  if (isDone) return { text: answer.text, facts, response: first };
  const totals = `${matches} ${files}`;
  const cursor = context.cursors.keep(place.question.tool, { ...place, totals } satisfies Place);
  answer.tail(`Not all shown. The next ones: cursor "${cursor}"`);
  return { text: answer.text, facts: { ...facts, cursor }, response: first };
}

interface Searching {
  readonly maxTokens: number;
  readonly context: ToolContext;
  readonly viewer: Viewer | undefined;
}

function searchPage(
  { question, stage, after }: Place,
  { maxTokens, context, viewer }: Searching,
): Promise<SearchResponse> {
  const matchesPerFile = stage === "best" ? 1 : ALL_OF_A_FILE;
  const request = { ...question.request, matches: rangesFor(maxTokens), matchesPerFile, after };
  return context.engine.search(request, searchOptions(context, viewer));
}

/** What a page of the engine's tells, in our order. */
function itemsOf(response: SearchResponse, { stage, continued, question }: Place): Item[] {
  const files = response.files.map((file) => itemsIn(file, question));
  if (stage === "best") return files.flat();
  const others = files.flatMap((items, i) =>
    i === 0 && items[0] && fileKey(items[0].file) === continued ? items : items.slice(1),
  );
  return stage === "rest" ? others : [...files.flatMap((items) => items.slice(0, 1)), ...others];
}

function itemsIn(file: FileResult, { request }: Question): Item[] {
  const name = fileKey(file);
  if (file.chunks.length === 0) return [{ file, chunk: undefined, key: name }];
  const items = file.chunks.map((chunk) => ({
    file,
    chunk,
    key: `${name}:${chunk.contentStart.byteOffset}`,
  }));
  return request.contextLines
    ? items
    : items.filter(({ chunk }, i) => i === 0 || !isSameLine(chunk, file.chunks[i - 1]!));
}

/** Windows of one long line: one of them is enough. */
const isSameLine = (a: Chunk, b: Chunk): boolean =>
  a.contentStart.lineNumber === b.contentStart.lineNumber;

/** Where to go on: behind the last item that was told, wherever it stands now. */
function beginOf(items: readonly Item[], { told, last }: Place): number {
  if (told === 0 || items[told - 1]?.key === last) return told;
  const at = items.findIndex(({ key }) => key === last);
  return at < 0 ? Math.min(told, items.length) : at + 1;
}

/** Undefined: nothing is behind. */
function placeBehind(
  place: Place,
  response: SearchResponse,
  items: readonly Item[],
): Place | undefined {
  const { stage } = place;
  const begin = { ...place, told: 0, last: "" };
  const lastFile = response.files.at(-1);
  const continued = lastFile ? fileKey(lastFile) : "";
  if (response.nextCursor !== undefined && (items.length > 0 || response.files.length > 0))
    return { ...begin, after: response.nextCursor, continued: stage === "rest" ? continued : "" };
  return stage === "best" ? { ...begin, stage: "rest", after: "", continued: "" } : undefined;
}

// ── words ──

function headline({ stats }: SearchResponse): string {
  const isExact = partialWords({ stats }).length === 0;
  const words = `${plural(stats.totalMatchCount, "match", "matches")} in ${plural(stats.fileCount, "file")}`;
  return isExact ? `${words}.` : `At least ${words}.`;
}

/** Why the counts of a search are not those of all that is indexed. */
export function partialWords({ stats }: Pick<SearchResponse, "stats">): string[] {
  const { flushReason, shardsSkipped, crashes, duration } = stats;
  const isLate = flushReason === "FLUSH_REASON_TIMER_EXPIRED" || shardsSkipped > 0;
  return [
    ...(isLate
      ? [
          `INCOMPLETE: time ran out after ${Math.round(duration / 1e6)} ms, before everything was searched. Narrow the query down.`,
        ]
      : []),
    ...(crashes > 0
      ? [
          `INCOMPLETE: ${plural(crashes, "part")} of the index ${crashes === 1 ? "is" : "are"} damaged and were not searched.`,
        ]
      : []),
  ];
}

function changedWords({ stats, indexChanged }: SearchResponse, { totals }: Place): string[] {
  const now = `${stats.totalMatchCount} ${stats.fileCount}`;
  if (!indexChanged && (totals === "" || totals === now)) return [];
  return [
    "The index has changed since the page before: what changed may be missing or come again.",
  ];
}

interface ToldFile {
  readonly head: string;
  readonly lines: { readonly at: number; readonly lines: readonly string[] }[];
}

/** Writes items into an answer, those of one file together. */
class MatchWriter {
  /** Matches that stand in the text. */
  shown = 0;
  readonly #answer: Answer;
  readonly #definitions: ReadonlyMap<string, readonly Definition[]>;
  readonly #files = new Map<string, ToldFile>();

  constructor(answer: Answer, definitions: ReadonlyMap<string, readonly Definition[]>) {
    this.#answer = answer;
    this.#definitions = definitions;
  }

  /** Returns how many of the items are told then; the first one always is, if there is nothing else. */
  write(items: readonly Item[], begin: number): number {
    for (let i = begin; i < items.length; i++) if (!this.#take(items[i]!)) return i;
    return items.length;
  }

  #take({ file, chunk }: Item): boolean {
    const name = fileKey(file);
    const own = this.#files.get(name);
    const lines = chunk ? linesOf(chunk, this.#definitions.get(name) ?? []) : [];
    const added = own ? lines : [name, ...lines];
    const isTaken = this.#answer.take(added);
    if (!isTaken && this.#files.size > 0) return false;
    const told = isTaken ? added : this.#answer.cut(added);
    const parts = own ?? { head: told.shift()!, lines: [] };
    parts.lines.push({ at: chunk?.contentStart.byteOffset ?? 0, lines: told });
    this.#files.set(name, parts);
    this.shown += chunk ? chunk.matchRanges.length : 1;
    return true;
  }

  finish(): void {
    for (const { head, lines } of this.#files.values())
      this.#answer.add([head, ...lines.sort((a, b) => a.at - b.at).flatMap((part) => part.lines)]);
  }
}

/** `12: line`, and `11- line` for context. */
function linesOf(
  { content, contentStart, matchRanges }: Chunk,
  definitions: readonly Definition[],
): string[] {
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, i) => {
    const number = contentStart.lineNumber + i;
    const match = matchRanges.find(
      ({ start, end }) => start.lineNumber <= number && number <= end.lineNumber,
    );
    if (!match) return `${number}- ${cutLine(line, 0)}`;
    const at =
      match.start.lineNumber === number ? match.start.byteOffset - contentStart.byteOffset : 0;
    const around = enclosing(definitions, number, indentOf(line));
    return `${number}: ${cutLine(line, Math.min(at, line.length))}${around ? `  [in ${fullName(around.symbol)}]` : ""}`;
  });
}

/** So many files' definitions are looked up, to say what a match stands in. */
const MOST_LOOKED_UP = 20;

async function definitionsAround(
  { files }: SearchResponse,
  { request, filters }: Question,
  { context, viewer }: Omit<Searching, "maxTokens">,
): Promise<Map<string, Definition[]>> {
  if (request.contextLines) return new Map();
  const paths = files.filter(({ chunks }) => chunks.length > 0).slice(0, MOST_LOOKED_UP);
  const names = [...new Set(paths.map(({ fileName }) => fileName.text))];
  return definitionsOf(names, { viewer, revision: filters.revision }, context);
}
