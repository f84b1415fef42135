/**
 * Answers with the matches of a search. Each answer shows as many matches as fit into its budget. All matches form one
 * sequence, which begins with the best line of each file, and continues with the other lines of each file. Each
 * answer shows a part of this sequence. A cursor refers to the position where an answer ended. This position consists
 * of a page of the engine's results, and the number of matches of that page that were shown.
 *
 * The engine's pages depend on the stage:
 *
 *     all    if one page has every match: the best line of each file, and then its other lines
 *     best   otherwise, the first pages: only the best line of each file
 *     rest   otherwise, the later pages: all lines of each file; answers leave out the best line
 */

import { coreOf } from "../core-of.ts";
import type { IfMany } from "../search/caller/if-many.ts";
import type { SearchRequest, Viewer } from "../search/messages/request.ts";
import type { FileResult, SearchResponse } from "../search/messages/response.ts";
import { pathsFilter } from "./alternations.ts";
import { Answer, cutLine, SHOWN } from "./answer.ts";
import { partsOf, type ChunkPart } from "./chunk-parts.ts";
import { fileKey, fullName } from "./definitions-of.ts";
import { notSearchedWords, partialWords } from "./partial-words.ts";
import { plural } from "./plural.ts";
import { scopedQuery, scopeOf, searchOptions } from "./scope.ts";
import type { Filters, Outcome, ToolContext } from "./tool.ts";

/** The search of an answer. It is sent to the engine again for each page. */
export interface Question {
  readonly tool: string;
  /** The request to the engine, with the filters in the query. */
  readonly request: Pick<
    SearchRequest,
    "query" | "isRegexEnabled" | "isCaseSensitivityEnabled" | "contextLines"
  >;
  readonly filters: Filters;
  /** A note that is shown once, before the matches. */
  readonly remark?: string | undefined;
}

type Stage = "all" | "best" | "rest";

/** The position where an answer ended, or where the next page of the engine begins. */
interface Place {
  readonly question: Question;
  readonly stage: Stage;
  /** The engine's cursor from which the page begins, or '' for the first page. */
  readonly after: string;
  /** The maximum number of matches of the page. It is 0 until sized() sets it. */
  readonly matches: number;
  /** The number of items of the page that have been shown, and the key of the last of them. */
  readonly told: number;
  readonly last: string;
  /**
   * The file and line at which the previous page of the engine ended. If this page begins with further matches of
   * that line, they are skipped, because the line has been shown.
   */
  readonly continued: Continued | undefined;
  /** The numbers of matches and files when the cursor was made. If they are different later, the index has changed. */
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
  matches: 0,
  told: 0,
  last: "",
  continued: undefined,
  totals: "",
});

/** The matches on one line, with the surrounding lines. */
interface Item {
  readonly file: FileResult;
  readonly part: ChunkPart | undefined; // undefined if only the path matches
}

/** Returns a key that no other item of the page has. */
const keyOf = ({ file, part }: Item): string =>
  part ? `${fileKey(file)}:${part.matches[0]!.start.byteOffset}` : fileKey(file);

/** The minimum number of tokens that a line or a path takes. */
const LEAST_LINE = 6;
/** The minimum number of tokens that the path of a file and one of its lines take together. */
const LEAST_FILE = 16;
const ALL_OF_A_FILE = 1e9;
/**
 * The maximum number of the engine's pages that are requested for one answer. More than a few are needed only if a
 * line has hundreds of matches.
 */
export const MOST_PAGES = 16;
/** The maximum number of matches to request for a page that must have more matches than the answer can show. */
const MOST_AGAIN = 100_000;

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
  const searching: Searching = { context, viewer };
  const all = sized(begun, maxTokens);
  const best = sized({ ...begun, stage: "best", matches: 0 }, maxTokens);
  let place = all;
  const onCounted = (isMany: boolean): void => void (place = isMany ? best : all);
  const ifMany = { matches: best.matches, onCounted };
  let response = await searchPage(place, { ...searching, ifMany });
  if (place.stage === "all" && response.nextCursor !== undefined) {
    place = best;
    response = await searchPage(place, searching);
  }
  const first = response;
  const answer = new Answer(maxTokens, context.count);
  answer.head(headline(first));
  const partial = [...partialWords(first), ...context.behind(), ...changedWords(first, begun)];
  const notSearched = "cursor" in asked ? [] : await unsearched(first, asked, context);
  const remark = "cursor" in asked ? undefined : asked.remark;
  for (const words of [...(remark ? [remark] : []), ...partial, ...notSearched]) answer.head(words);
  const writer = new MatchWriter(answer);
  const bestLines: BestLines = new Map();
  let isDone = false;
  for (let pages = 1; ; pages++) {
    const page = { response, best: bestLines };
    await addBestLines(page, place, searching);
    const items = new Items(itemsOf(page, place));
    const begin = beginOf(items, place);
    const end = writer.write(items, begin);
    if (items.at(end)) {
      const last = items.at(end - 1);
      place = { ...place, told: end, last: last ? keyOf(last) : place.last };
      break;
    }
    const next = placeBehind(place, page);
    isDone = next === undefined;
    if (!next) break;
    // a page shows nothing new if all its matches are on a line that was shown before, so the next page is larger
    const matches = end > begin ? 0 : Math.min(2 * place.matches, MOST_AGAIN);
    place = sized({ ...next, matches }, answer.left, bestLines.size);
    if (pages === MOST_PAGES) break;
    response = await searchPage(place, searching);
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
 * Says what a search of content could not search. If the search found nothing, returns no words, because the tools
 * describe this case in more detail.
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
  readonly context: ToolContext;
  readonly viewer: Viewer | undefined;
  /** How many matches to request instead if not all matches fit into the answer. */
  readonly ifMany?: IfMany;
}

/**
 * Returns `place` with the number of matches to request for its page. This number is one more than can fit into
 * `tokens` tokens. In the stage `rest`, the page also contains the `toldBest` best lines that were already shown, so
 * these are added. If a part of the page has been shown, the number does not decrease, because the cursor counts the
 * items of this page.
 */
function sized(place: Place, tokens: number, toldBest = 0): Place {
  const { question, stage } = place;
  const isOfLines = stage === "best" && question.tool !== "find_files";
  const most = 1 + Math.floor(tokens / (isOfLines ? LEAST_FILE : LEAST_LINE));
  const matches = stage === "rest" ? most + toldBest : most;
  return { ...place, matches: Math.max(place.matches, matches) };
}

function searchPage(
  { question, stage, after, matches }: Place,
  { context, viewer, ifMany }: Searching,
): Promise<SearchResponse> {
  const perFile = { all: { matchesPerFile: ALL_OF_A_FILE }, best: { matchesPerFile: 1 }, rest: {} };
  const enclosing = !question.request.contextLines;
  const request = { ...question.request, enclosing, matches, ...perFile[stage], after };
  const view = coreOf(context.engine).view(searchOptions(context, viewer));
  return view.search(request, stage === "all" ? ifMany : undefined);
}

/** The line number of each file's best line, by fileKey(). */
type BestLines = Map<string, number>;

/** A page of the engine's results. */
interface Page {
  readonly response: SearchResponse;
  /** The best lines of the files, which the answer shows before the other lines. */
  readonly best: BestLines;
}

/** Yields the items of one of the engine's pages, in the order that the head of this file defines. */
function* itemsOf(
  { response: { files }, best }: Page,
  { stage, continued }: Place,
): Generator<Item, void> {
  if (stage === "best") for (const file of files) yield* itemsIn(file);
  if (stage === "all") {
    for (const file of files) yield firstIn(file);
    for (const file of files) yield* others(file);
  }
  if (stage === "rest")
    for (const [i, file] of files.entries()) {
      const name = fileKey(file);
      const last = i === 0 && continued?.file === name ? continued.last : undefined;
      for (const item of itemsIn(file))
        if (lineOf(item) !== best.get(name) && lineOf(item) !== last) yield item;
    }
}

function* others(file: FileResult): Generator<Item, void> {
  let isFirst = true;
  for (const item of itemsIn(file)) {
    if (!isFirst) yield item;
    isFirst = false;
  }
}

const lineOf = ({ part }: Item): number => part?.matches[0]!.start.lineNumber ?? 0;

/**
 * Adds the best lines of the files of a page to `best`. If this answer has shown the best line of a file, the line is
 * known already. The other best lines are found by another search, because in the stage `rest` the best line of a
 * file need not be the first.
 */
async function addBestLines(
  { response, best }: Page,
  { question: { request }, stage }: Place,
  { context, viewer }: Searching,
): Promise<void> {
  if (stage === "all") return;
  const add = (files: readonly FileResult[]): void => {
    for (const file of files) best.set(fileKey(file), lineOf(firstIn(file)));
  };
  if (stage === "best") return add(response.files);
  const unknown = response.files.filter((file) => !best.has(fileKey(file)));
  if (unknown.length === 0) return;
  const names = [...new Set(unknown.map(({ fileName }) => fileName.text))];
  const query = await scopedQuery(request, pathsFilter(names));
  // the page has few files, but their paths may also exist in many other repositories
  const again = { ...request, query, contextLines: 0, matchesPerFile: 1, matches: MOST_AGAIN };
  add((await context.engine.search(again, searchOptions(context, viewer))).files);
}

function* itemsIn(file: FileResult): Generator<Item, void> {
  if (file.chunks.length === 0) yield { file, part: undefined };
  for (const chunk of file.chunks) for (const part of partsOf(chunk)) yield { file, part };
}

const firstIn = (file: FileResult): Item => itemsIn(file).next().value!;

/** A list that creates its items on demand, because an answer shows only a fifth of them. */
class Items {
  readonly #made: Item[] = [];
  readonly #rest: Iterator<Item, void>;

  constructor(items: Iterator<Item, void>) {
    this.#rest = items;
  }

  /** Returns the item at a position, or undefined after the last one. */
  at(position: number): Item | undefined {
    while (this.#made.length <= position) {
      const { value } = this.#rest.next();
      if (!value) return undefined;
      this.#made.push(value);
    }
    return this.#made[position];
  }
}

/**
 * Returns the position after the last item that was shown, even if that item has moved. If that item is gone, returns
 * the number of items that were shown, or the length of the list if it is shorter.
 */
function beginOf(items: Items, { told, last }: Place): number {
  const isLast = (item: Item | undefined): boolean => item !== undefined && keyOf(item) === last;
  if (told === 0 || isLast(items.at(told - 1))) return told;
  for (let at = 0; ; at++) {
    const item = items.at(at);
    if (!item) return Math.min(told, at);
    if (isLast(item)) return at + 1;
  }
}

/** Returns the place where the next page of the engine begins, or undefined after the last page. */
function placeBehind(place: Place, page: Page): Place | undefined {
  const { response } = page;
  const { stage } = place;
  const begin = { ...place, matches: 0, told: 0, last: "" };
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
  return { file: fileKey(file), last: lineOf([...itemsIn(file)].at(-1)!) };
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
    "The index has changed since the previous page: results that changed may be missing or repeated.",
  ];
}

interface ToldFile {
  readonly head: string;
  readonly lines: { readonly at: number; readonly lines: readonly string[] }[];
}

/** Writes items into an answer, grouped by file. */
class MatchWriter {
  /** How many matches the answer shows. A file without matches in its content counts as one. */
  shown = 0;
  readonly #answer: Answer;
  readonly #files = new Map<string, ToldFile>();

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  /**
   * Writes items from the position `begin` on, as long as they fit. Returns the position after the last item that was
   * written. The first item of an answer is always written.
   */
  write(items: Items, begin: number): number {
    for (let i = begin; ; i++) {
      const item = items.at(i);
      if (!item || !this.#take(item)) return i;
    }
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
   * Charges the budget for the lines of an item, and returns them. If they do not fit but many tokens are left, tries
   * lines in less detail. If even these do not fit, returns undefined.
   */
  #fitting(name: string, part: ChunkPart | undefined, isNew: boolean): string[] | undefined {
    const head = isNew ? [name] : [];
    const isFirst = this.#files.size === 0;
    for (const detail of DETAILS) {
      const lines = [...head, ...(part ? linesOf(part, detail) : [])];
      if (this.#answer.take(lines)) return lines;
      if (!isFirst && !this.#answer.isRoomy) return undefined;
    }
    if (!isFirst) return undefined;
    const least = [...head, ...(part ? linesOf(part, BARE) : [])];
    return least.map((line) => this.#answer.takeCut(line));
  }

  finish(): void {
    for (const { head, lines } of this.#files.values())
      this.#answer.add([head, ...lines.sort((a, b) => a.at - b.at).flatMap((part) => part.lines)]);
  }
}

/** How much of a match is shown. */
interface Detail {
  /** The maximum number of UTF-16 units of a line. */
  readonly shown: number;
  readonly hasContext: boolean;
  /** Whether the definition around the match is left out. */
  readonly isBare?: true;
}

const DETAILS: readonly Detail[] = [
  { shown: SHOWN, hasContext: true },
  { shown: SHOWN, hasContext: false },
  { shown: SHOWN / 2, hasContext: false },
  { shown: SHOWN / 4, hasContext: false },
  { shown: SHOWN / 8, hasContext: false },
  { shown: SHOWN / 16, hasContext: false },
];
const BARE: Detail = { shown: SHOWN / 8, hasContext: false, isBare: true };

/** Returns lines such as `12: line` for a match, and `11- line` for its context. */
function linesOf(
  { lines, first, column, matches, around }: ChunkPart,
  { shown, hasContext, isBare }: Detail,
): string[] {
  return lines.flatMap((line, i) => {
    const number = first + i;
    const match = matches.find(
      ({ start, end }) => start.lineNumber <= number && number <= end.lineNumber,
    );
    if (!match) return hasContext ? [`${number}- ${cutLine(line, 0, shown)}`] : [];
    const begin = i === 0 ? column : 1;
    const isCut = line.length > shown && match.start.lineNumber === number;
    const at = isCut ? unitsBefore(line, match.start.column - begin) : 0;
    const told = around && !isBare && number === matches[0]!.start.lineNumber;
    const words = told ? `  [in ${fullName(around)}]` : "";
    return [`${number}: ${cutLine(line, at, shown)}${words}`];
  });
}

/** Returns the UTF-16 length of the first `characters` characters. */
const unitsBefore = (line: string, characters: number): number =>
  Array.from(line.slice(0, 2 * characters))
    .slice(0, characters)
    .join("").length;
