/** Implements the tools `definitions` and `references`. */

import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import { newPause } from "../base/yield.ts";
import { quote } from "../query/ast.ts";
import type { FileContent } from "../repository.ts";
import type { SearchRequest } from "../search/messages/request.ts";
import type { FileResult, SearchResponse } from "../search/messages/response.ts";
import { Answer, cutLine } from "./answer.ts";
import { endOfBody } from "./body.ts";
import {
  CLAUSES,
  definitionsIn,
  fileKey,
  fullName,
  partsOfName,
  type Definition,
} from "./definitions-of.ts";
import { named } from "./delimit.ts";
import { tellMatches } from "./match-pages.ts";
import { nothingSearchedWords, partialWords } from "./partial-words.ts";
import { plural } from "./plural.ts";
import { readText } from "./read-text.ts";
import { tellResolved } from "./resolved-uses.ts";
import { TextLines } from "./text-lines.ts";
import {
  eitherHalf,
  escapeExpression,
  nearest,
  queryWith,
  scopeOf,
  searchOptions,
} from "./scope.ts";
import {
  cursor,
  filters,
  MATCHED,
  maxTokens,
  text,
  tool,
  type Outcome,
  type ToolContext,
} from "./tool.ts";

const symbolInput = z.object({
  symbol: text,
  file: text.describe("with line"),
  line: z.int().min(1).optional(),
  ...filters,
  maxTokens,
  cursor,
});
type SymbolArgs = z.output<typeof symbolInput>;

const referencesInput = symbolInput.extend({
  certainty: z.enum(["resolved", "likely"]).optional(),
  callers: z.int().min(1).max(5).optional(),
});

const MOST_DEFINITIONS = 200;
const MOST_NAMES = 30;

/** Resolves to the names to look up. These are the given name, or all names on the given line. */
async function namesOf(args: SymbolArgs, context: ToolContext): Promise<string[]> {
  const { symbol, file, line, revision } = args;
  if (symbol) return [partsOfName(symbol).symbol];
  if (!file || !line)
    throw new QuernError("INVALID_REQUEST", "give symbol, or file and line of a use");
  const { lines } = await readText({ file, repository: args.repository, revision }, context);
  const names = new Set(lines.at(line).match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []);
  if (names.size === 0)
    throw new QuernError("INVALID_REQUEST", `line ${line} of ${named(file)} contains no name`);
  return [...names].slice(0, MOST_NAMES);
}

/** Says which names on the line were searched for. */
const lineWords = (names: readonly string[], { line }: SymbolArgs): string =>
  `Line ${line} names ${names.join(", ")}.`;

const anyOf = (names: readonly string[]): string => names.map(escapeExpression).join("|");

/** The position where an answer ended. */
interface DefinitionsPlace {
  readonly args: SymbolArgs;
  readonly names: readonly string[];
  readonly told: number;
  /** The title of the last definition that was shown. */
  readonly last: string;
}

export const definitions = tool({
  name: "definitions",
  title: "Find definitions",
  description: "Where a symbol is defined, with its body.",
  input: symbolInput,
  output: MATCHED,
  async run(given, context) {
    const place =
      given.cursor === undefined
        ? { args: given, names: await namesOf(given, context), told: 0, last: "" }
        : context.cursors.find<DefinitionsPlace>("definitions", given.cursor);
    const args = { ...place.args, maxTokens: given.maxTokens };
    context.note?.(args);
    const { filter, viewer } = await scopeOf(args, context);
    const request = {
      query: queryWith(`sym:${quote(`^(?:${anyOf(place.names)})$`)}`, filter),
      matches: place.told + MOST_DEFINITIONS,
      isCaseSensitivityEnabled: true,
    };
    const response = await context.engine.search(request, searchOptions(context, viewer));
    if (response.stats.totalMatchCount === 0)
      return nothingNamed(
        [
          `No definition of ${place.names.map(named).join(", ")}.`,
          "It may be defined outside of what is indexed, or in a language without symbols: search finds its text.",
        ],
        { names: place.names, none: response, request, args, context },
      );
    return tellDefinitions({ ...place, args }, response, context);
  },
});

interface Placed {
  readonly file: FileResult;
  readonly definition: Definition;
  readonly title: string;
}

const LAST_LINE =
  'Not all shown. The next ones: cursor "123456789012". 1 234 lines of bodies are left out: read takes file and definition.';

/** Answers with the line of each definition. If tokens are left, adds the bodies of the first definitions. */
async function tellDefinitions(
  place: DefinitionsPlace,
  response: SearchResponse,
  context: ToolContext,
): Promise<Outcome> {
  const { totalMatchCount: matches, fileCount: files } = response.stats;
  const answer = new Answer(place.args.maxTokens, context.count, LAST_LINE);
  answer.head(`${plural(matches, "definition")} in ${plural(files, "file")}.`);
  const partial = [...partialWords(response), ...context.behind()];
  for (const words of partial) answer.head(words);
  const pause = newPause({ signal: context.signal });
  const inTheirOrder: Placed[] = [];
  for (const file of response.files)
    for (const definition of await definitionsIn(file, pause))
      inTheirOrder.push({ file, definition, title: titleOf(file, definition) });
  const parent = parentIn(place.args);
  const areAll = inTheirOrder.length === matches;
  const all = areAll ? likeliestFirst(inTheirOrder, parent) : inTheirOrder;
  if (areAll && parent !== undefined && place.told === 0) answer.head(parentWords(all, parent));
  if (!place.args.symbol && place.told === 0) answer.head(lineWords(place.names, place.args));
  const begin = beginOf(all, place);
  const told: (Placed & { readonly lines: string[] })[] = [];
  for (const one of all.slice(begin)) {
    const { line, text: code } = one.definition;
    const lines = [one.title, `${line}: ${cutLine(code, 0)}`];
    const isTaken = answer.take(lines);
    if (!isTaken && told.length > 0) break;
    told.push({ ...one, lines: isTaken ? lines : lines.map((text) => answer.takeCut(text)) });
    if (!isTaken) break;
  }
  const { cut, isCounted } = await tellBodies(told, answer, context);
  answer.add(told.flatMap(({ lines }) => lines));
  const end = begin + told.length;
  const isWhole = end >= matches;
  const facts = { matches, files, shown: told.length };
  const next = { ...place, told: end, last: told.at(-1)?.title ?? place.last };
  const cursor = isWhole ? undefined : context.cursors.keep("definitions", next);
  const words = [
    ...(cursor === undefined ? [] : [`Not all shown. The next ones: cursor "${cursor}".`]),
    ...(cut > 0
      ? [
          `${isCounted ? "" : "More than "}${plural(cut, "line")} of ${told.length === 1 ? "the body" : "bodies"} are left out: read takes file and definition.`,
        ]
      : []),
  ];
  if (words.length > 0) answer.tail(words.join(" "));
  return {
    text: answer.text,
    facts: {
      ...facts,
      complete: isWhole && cut === 0 && partial.length === 0,
      ...(cursor !== undefined && { cursor }),
    },
  };
}

const parentIn = ({ symbol }: SymbolArgs): string | undefined =>
  symbol && partsOfName(symbol).parent;

const isIn = ({ definition: { symbol } }: Placed, parent: string | undefined): boolean =>
  parent !== undefined && symbol.parent?.symbol === parent;

/**
 * Sorts definitions so that the likeliest come first. REQUIRES: `all` contains every definition that was found, so
 * that each page has the same order.
 */
function likeliestFirst(all: readonly Placed[], parent: string | undefined): Placed[] {
  const rank = (one: Placed): number =>
    (isIn(one, parent) ? 0 : 2) + (CLAUSES.has(one.definition.symbol.kind) ? 1 : 0);
  return all.toSorted((a, b) => rank(a) - rank(b));
}

function parentWords(all: readonly Placed[], parent: string): string {
  const own = all.filter((one) => isIn(one, parent)).length;
  if (own === 0) return `None of these is in ${named(parent)} itself: it may inherit one.`;
  if (own === all.length) return `All of these are in ${named(parent)}.`;
  return `${own} of these ${own === 1 ? "is" : "are"} in ${named(parent)}, listed first.`;
}

const titleOf = (file: FileResult, { symbol, line }: Definition): string =>
  `${fileKey(file)}:${line} ${symbol.kind} ${fullName(symbol)}`;

/** Returns the position after the last definition that was shown, even if that definition has moved. */
function beginOf(all: readonly Placed[], { told, last }: DefinitionsPlace): number {
  if (told === 0 || all[told - 1]?.title === last) return told;
  const at = all.findIndex(({ title }) => title === last);
  return at < 0 ? Math.min(told, all.length) : at + 1;
}

/** The maximum number of bytes that are read of a body. No answer can show more. */
const MOST_BODY = 128 * 1024;

/**
 * Adds the bodies of definitions to their lines, as long as they fit. Returns how many lines of bodies did not fit,
 * and whether this count is exact.
 */
async function tellBodies(
  told: readonly (Placed & { readonly lines: string[] })[],
  answer: Answer,
  context: ToolContext,
): Promise<{ cut: number; isCounted: boolean }> {
  const pause = newPause({ signal: context.signal });
  let [cut, isCounted] = [0, true];
  let [last, text]: [FileResult?, TextLines?] = [];
  for (const { file, definition, lines } of told) {
    if (file !== last) {
      const content = await contentOf(file, context);
      text = content && (await TextLines.of(content.bytes, pause));
    }
    last = file;
    if (!text) continue;
    const { line } = definition;
    const end = await endOfBody(text, line, { most: MOST_BODY, pause });
    const most = line + 1 + answer.left; // each line takes at least one token
    const shown = cut > 0 ? [] : answer.fillWith(linesIn(text, line + 1, Math.min(end.line, most)));
    lines.push(...shown);
    cut += end.line - line - shown.length;
    isCounted &&= end.isCertain;
  }
  return { cut, isCounted };
}

function contentOf(
  { repository, fileName, branches }: FileResult,
  { engine, viewer }: ToolContext,
): Promise<FileContent | undefined> {
  const revision = branches?.[0];
  const place = { repository, path: fileName.text, ...(revision !== undefined && { revision }) };
  return engine.read(place, viewer ? { viewer } : {});
}

/** Returns the lines from `first` to `last`, both included, with their numbers. */
const linesIn = (text: TextLines, first: number, last: number): string[] =>
  text.slice(first, last).map((code, i) => `${first + i}: ${cutLine(code, 0)}`);

interface Unnamed {
  readonly names: readonly string[];
  readonly none: SearchResponse;
  readonly request: Pick<SearchRequest, "query" | "isRegexEnabled">;
  readonly args: SymbolArgs;
  readonly context: ToolContext;
}

/** Answers that nothing has this name. Suggests similar names, and says what could not be searched. */
async function nothingNamed(
  [first, last]: readonly [string, string],
  { names, none, request, args, context }: Unnamed,
): Promise<Outcome> {
  const [name = ""] = names;
  const near = nearest(name, await namesLike(name, args, context));
  const answer = new Answer(args.maxTokens, context.count);
  answer.head(first);
  const partial = [...partialWords(none), ...context.behind()];
  answer.say([
    ...partial,
    ...(near.length > 0 ? [`Near names: ${near.map(named).join(", ")}`] : []),
    ...(await nothingSearchedWords(request, args, context)),
    last,
  ]);
  return {
    text: answer.text,
    facts: { matches: 0, files: 0, shown: 0, complete: partial.length === 0 },
  };
}

/** Lists the names of definitions that contain one half of `name`. */
async function namesLike(name: string, args: SymbolArgs, context: ToolContext): Promise<string[]> {
  const { filter, viewer } = await scopeOf(args, context);
  const query = queryWith(`sym:${quote(eitherHalf(name))}`, filter);
  const { files } = await context.engine.search(
    { query, matches: 500, matchesPerFile: 5 },
    searchOptions(context, viewer),
  );
  return [...(await namesIn(files))];
}

export const references = tool({
  name: "references",
  title: "References",
  description: "Lines that name a symbol, or certain uses.",
  input: referencesInput,
  output: MATCHED,
  async run(args, context) {
    if (args.cursor !== undefined)
      return tellMatches({ tool: "references", cursor: args.cursor }, args.maxTokens, context);
    if (args.certainty !== undefined || args.callers !== undefined)
      return tellResolved(args, context);
    const names = await namesOf(args, context);
    if (!args.symbol && names.length > 1) {
      const known = await definedNames(names, args, context);
      const [longest] = names.toSorted((a, b) => b.length - a.length);
      names.splice(0, names.length, ...(known.length > 0 ? known : [longest!]));
    }
    const { filter } = await scopeOf(args, context);
    const request = {
      query: queryWith(`content:${quote(`\\b(?:${anyOf(names)})\\b`)}`, filter),
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
    };
    const parent = parentIn(args);
    const remark = args.symbol
      ? parent && `A line may mean another ${named(names[0]!)} than that of ${named(parent)}.`
      : lineWords(names, args);
    const told = await tellMatches(
      {
        tool: "references",
        request,
        filters: args,
        remark,
      },
      args.maxTokens,
      context,
    );
    if (told.response.stats.totalMatchCount > 0) return told;
    return nothingNamed(
      [
        `No line names ${names.map(named).join(", ")}.`,
        "Matched whole words, case-sensitively: search finds parts of words.",
      ],
      { names, none: told.response, request, args, context },
    );
  },
});

/** Resolves to those of the names that have a definition. */
async function definedNames(
  names: readonly string[],
  args: SymbolArgs,
  context: ToolContext,
): Promise<string[]> {
  const { filter, viewer } = await scopeOf({ ...args, path: undefined }, context);
  const request = {
    query: queryWith(`sym:${quote(`^(?:${anyOf(names)})$`)}`, filter),
    matches: 100,
    isCaseSensitivityEnabled: true,
  };
  const { files } = await context.engine.search(request, searchOptions(context, viewer));
  const known = await namesIn(files);
  return names.filter((name) => known.has(name));
}

async function namesIn(files: readonly FileResult[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const pause = newPause();
  for (const file of files)
    for (const { symbol } of await definitionsIn(file, pause)) names.add(symbol.symbol);
  return names;
}
