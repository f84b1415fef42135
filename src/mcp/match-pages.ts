/**
 * Shows the matches of a question, page by page, within budgets. All matches have one order: the best line
 * of each file, file by file, then the other lines of each file. An answer is a part of this sequence. A
 * cursor is the place where it ended: which page of the engine's, and how far into it.
 *
 *     all    one page of the engine has every match: the files' first lines, then the others
 *     best   there are more: pages of the best line of each file,
 *     rest   then pages of all lines, without the best lines
 */

import type { SearchRequest, Viewer } from "../search/messages/request.ts";
import type { FileResult, SearchResponse } from "../search/messages/response.ts";
import { pathsFilter } from "./alternations.ts";
import { Answer, cutLine, SHOWN } from "./answer.ts";
import { indentOf } from "./body.ts";
import { partsOf, type ChunkPart } from "./chunk-parts.ts";
import {
  definitionsOf,
  enclosing,
  fileKey,
  fullName,
  type FileDefinitions,
} from "./definitions-of.ts";
import { notSearchedWords, partialWords } from "./partial-words.ts";
import { plural } from "./plural.ts";
import { scopedQuery, scopeOf, searchOptions } from "./scope.ts";
import type { Filters, Outcome, ToolContext } from "./tool.ts";

/** What is asked, and asked again for each page. */
export interface Question {
  readonly tool: string;
  /** The request to the engine, with the filters in the query. */
  readonly request: Pick<
    SearchRequest,
    "query" | "isRegexEnabled" | "isCaseSensitivityEnabled" | "contextLines"
  >;
  readonly filters: Filters;
  /** Told once, in front of the matches. */
  readonly remark?: string | undefined;
}

type Stage = "all" | "best" | "rest";

/** Where an answer ended. */
interface Place {
  readonly question: Question;
  readonly stage: Stage;
  /** The engine's cursor of the page. */
  readonly after: string;
  /** How many items of that page were shown, and the last of them. */
  readonly told: number;
  readonly last: string;
  /** The file and line with which the page before ended. The line may have more matches. */
  readonly continued: Continued | undefined;
  /** The numbers of matches and files at the first page. If they differ later, the index has changed. */
  readonly totals: string;
}

interface Continued {
  readonly file: string;
  readonly last: number;
}

const firstPlace = (question: Question): Place => ({
  question,
  stage: "all",
  after: "",
  told: 0,
  last: "",
  continued: undefined,
  totals: "",
});

/** One match, or several of one line, with the lines around it. */
interface Item {
  readonly file: FileResult;
  readonly part: ChunkPart | undefined; // undefined if only the path matches
  readonly key: string;
}

/** The fewest tokens of a line or a path. */
const LEAST_LINE = 6;
/** The fewest tokens of a path and a line of the file. */
const LEAST_FILE = 16;
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
  const { filters, request } = begun.question;
  if ("cursor" in asked) context.note?.({ ...filters, query: request.query });
  const { viewer } = await scopeOf(filters, context);
  const searching = { maxTokens, context, viewer };
  const search = (place: Place) => searchPage(place, searching);
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
  const notSearched = "cursor" in asked ? [] : await unsearched(first, asked, context);
  const remark = "cursor" in asked ? undefined : asked.remark;
  for (const words of [...(remark ? [remark] : []), ...partial, ...notSearched]) answer.head(words);
  const writer = new MatchWriter(
    answer,
    await definitionsAround(first, begun.question, { context, viewer }),
  );
  let isDone = false;
  for (;;) {
    const page = { response, best: await bestLines(response, place, searching) };
    const items = itemsOf(page, place);
    const end = writer.write(items, beginOf(items, place));
    if (end < items.length) {
      place = { ...place, told: end, last: items[end - 1]?.key ?? place.last };
      break;
    }
    const next = placeBehind(place, page);
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

/**
 * Says what a search of content could not search. If nothing was found, the caller says so in more detail.
 */
async function unsearched(
  { files, repositoryInfo }: SearchResponse,
  { tool, request, filters }: Question,
  context: ToolContext,
): Promise<string[]> {
  if (tool === "find_files" || files.length === 0) return [];
  const found = repositoryInfo.map(({ name }) => name);
  return notSearchedWords(request, { filters, found }, context);
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
  const perFile = { all: { matchesPerFile: ALL_OF_A_FILE }, best: { matchesPerFile: 1 }, rest: {} };
  const isOfLines = stage === "best" && question.tool !== "find_files";
  const matches = Math.ceil(maxTokens / (isOfLines ? LEAST_FILE : LEAST_LINE)); // more than fit
  const request = { ...question.request, matches, ...perFile[stage], after };
  return context.engine.search(request, searchOptions(context, viewer));
}

/** A page of the engine's. */
interface Page {
  readonly response: SearchResponse;
  /** By fileKey(), the line of each file that was shown before its others. */
  readonly best: ReadonlyMap<string, number>;
}

/** Returns the items of a page of the engine's, in our order. */
function itemsOf({ response, best }: Page, { stage, continued }: Place): Item[] {
  const files = response.files.map((file) => itemsIn(file));
  if (stage === "best") return files.flat();
  if (stage === "all")
    return [
      ...files.flatMap((items) => items.slice(0, 1)),
      ...files.flatMap((items) => items.slice(1)),
    ];
  return files.flatMap((items, i) => {
    const name = fileKey(items[0]!.file);
    const last = i === 0 && continued?.file === name ? continued.last : undefined;
    return items.filter((item) => lineOf(item) !== best.get(name) && lineOf(item) !== last);
  });
}

const lineOf = ({ part }: Item): number => part?.matches[0]!.start.lineNumber ?? 0;

/** Asks again for the best line of each file, because pages of all lines are in the order of the file. */
async function bestLines(
  { files }: SearchResponse,
  { question: { request }, stage }: Place,
  { context, viewer }: Searching,
): Promise<Map<string, number>> {
  if (stage !== "rest") return new Map();
  const names = [...new Set(files.map(({ fileName }) => fileName.text))];
  const query = await scopedQuery(request, pathsFilter(names));
  const again = { ...request, query, contextLines: 0, matchesPerFile: 1, matches: MOST_AGAIN };
  const { files: found } = await context.engine.search(again, searchOptions(context, viewer));
  return new Map(found.map((file) => [fileKey(file), lineOf(itemsIn(file)[0]!)]));
}

/** Above the number of files of one page, because a path may exist in many repositories. */
const MOST_AGAIN = 100_000;

function itemsIn(file: FileResult): Item[] {
  const name = fileKey(file);
  if (file.chunks.length === 0) return [{ file, part: undefined, key: name }];
  return file.chunks
    .flatMap(partsOf)
    .map((part) => ({ file, part, key: `${name}:${part.matches[0]!.start.byteOffset}` }));
}

/** Returns the position after the last item that was shown, wherever it is now. */
function beginOf(items: readonly Item[], { told, last }: Place): number {
  if (told === 0 || items[told - 1]?.key === last) return told;
  const at = items.findIndex(({ key }) => key === last);
  return at < 0 ? Math.min(told, items.length) : at + 1;
}

/** Returns the place of the next page, or undefined after the last. */
function placeBehind(place: Place, page: Page): Place | undefined {
  const { response } = page;
  const { stage } = place;
  const begin = { ...place, told: 0, last: "" };
  if (response.nextCursor !== undefined && response.files.length > 0) {
    const continued = stage === "rest" ? continuedBy(page) : undefined;
    return { ...begin, after: response.nextCursor, continued };
  }
  return stage === "best"
    ? { ...begin, stage: "rest", after: "", continued: undefined }
    : undefined;
}

function continuedBy({ response: { files } }: Page): Continued {
  const file = files.at(-1)!;
  return { file: fileKey(file), last: lineOf(itemsIn(file).at(-1)!) };
}

// ── words ──

function headline({ stats }: SearchResponse): string {
  const isExact = partialWords({ stats }).length === 0;
  const words = `${plural(stats.totalMatchCount, "match", "matches")} in ${plural(stats.fileCount, "file")}`;
  return isExact ? `${words}.` : `At least ${words}.`;
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

/** Writes items into an answer, and those of one file together. */
class MatchWriter {
  /** The number of matches in the text. */
  shown = 0;
  readonly #answer: Answer;
  readonly #definitions: ReadonlyMap<string, FileDefinitions>;
  readonly #files = new Map<string, ToldFile>();

  constructor(answer: Answer, definitions: ReadonlyMap<string, FileDefinitions>) {
    this.#answer = answer;
    this.#definitions = definitions;
  }

  /** Returns how many of the items have been shown. The first item of an answer is always shown. */
  write(items: readonly Item[], begin: number): number {
    for (let i = begin; i < items.length; i++) if (!this.#take(items[i]!)) return i;
    return items.length;
  }

  #take({ file, part }: Item): boolean {
    const name = fileKey(file);
    const own = this.#files.get(name);
    const told = this.#fitting(name, part, own === undefined);
    if (!told) return false;
    const parts = own ?? { head: told.shift()!, lines: [] };
    parts.lines.push({ at: part?.matches[0]!.start.byteOffset ?? 0, lines: told });
    this.#files.set(name, parts);
    this.shown += part?.matches.length ?? 1;
    return true;
  }

  /**
   * Returns the lines to show of an item, in less detail while much room is left. Returns undefined if
   * there is no room.
   */
  #fitting(name: string, part: ChunkPart | undefined, isNew: boolean): string[] | undefined {
    const definitions = this.#definitions.get(name);
    const head = isNew ? [name] : [];
    const isFirst = this.#files.size === 0;
    for (const detail of DETAILS) {
      const lines = [...head, ...(part ? linesOf(part, definitions, detail) : [])];
      if (this.#answer.take(lines)) return lines;
      if (!isFirst && !this.#answer.isRoomy) return undefined;
    }
    if (!isFirst) return undefined;
    const least = [...head, ...(part ? linesOf(part, undefined, DETAILS.at(-1)!) : [])];
    return least.map((line) => this.#answer.takeCut(line));
  }

  finish(): void {
    for (const { head, lines } of this.#files.values())
      this.#answer.add([head, ...lines.sort((a, b) => a.at - b.at).flatMap((part) => part.lines)]);
  }
}

/** How much of a match is shown. */
interface Detail {
  /** The most UTF-16 units of a line. */
  readonly shown: number;
  readonly hasContext: boolean;
}

const DETAILS: readonly Detail[] = [
  { shown: SHOWN, hasContext: true },
  { shown: SHOWN, hasContext: false },
  { shown: SHOWN / 2, hasContext: false },
  { shown: SHOWN / 4, hasContext: false },
  { shown: SHOWN / 8, hasContext: false },
];

/** Returns lines like `12: line`, and `11- line` for context. */
function linesOf(
  { lines, first, column, matches }: ChunkPart,
  definitions: FileDefinitions | undefined,
  { shown, hasContext }: Detail,
): string[] {
  return lines.flatMap((line, i) => {
    const number = first + i;
    const match = matches.find(
      ({ start, end }) => start.lineNumber <= number && number <= end.lineNumber,
    );
    if (!match) return hasContext ? [`${number}- ${cutLine(line, 0, shown)}`] : [];
    const begin = i === 0 ? column : 1;
    const at =
      match.start.lineNumber === number ? unitsBefore(line, match.start.column - begin) : 0;
    const around = definitions && enclosing(definitions, number, indentOf(line));
    return [
      `${number}: ${cutLine(line, at, shown)}${around ? `  [in ${fullName(around.symbol)}]` : ""}`,
    ];
  });
}

/** Returns the UTF-16 length of the first `characters` characters. */
const unitsBefore = (line: string, characters: number): number =>
  Array.from(line.slice(0, 2 * characters))
    .slice(0, characters)
    .join("").length;

/** The most files whose definitions are looked up, to say which one a match is in. */
const MOST_LOOKED_UP = 20;

async function definitionsAround(
  { files }: SearchResponse,
  { request, filters }: Question,
  { context, viewer }: Omit<Searching, "maxTokens">,
): Promise<Map<string, FileDefinitions>> {
  if (request.contextLines) return new Map();
  const paths = files.filter(({ chunks }) => chunks.length > 0).slice(0, MOST_LOOKED_UP);
  const names = [...new Set(paths.map(({ fileName }) => fileName.text))];
  return definitionsOf(names, { viewer, revision: filters.revision }, context);
}
