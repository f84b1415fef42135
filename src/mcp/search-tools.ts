/** Implements the tools `search` and `find_files`. */

import { z } from "zod";
import { Answer } from "./answer.ts";
import { nearestPaths, nearPathExpression } from "../base/near-path.ts";
import { named } from "./delimit.ts";
import { quote } from "../query/ast.ts";
import { mayBeHistory, parseHistoryQuery } from "../query/parse.ts";
import { DESCRIBED, describedPlaces } from "./described-places.ts";
import { fileKey } from "./definitions-of.ts";
import { tellMatches, type Told } from "./match-pages.ts";
import { notSearchedWords, nothingSearchedWords, partialWords } from "./partial-words.ts";
import { isGlob, pathFilter, queryWith, scopedQuery, scopeOf, searchOptions } from "./scope.ts";
import { HIDDEN_WORDS } from "./secrets.ts";
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
import { QuernError } from "../base/errors.ts";
import { hintFor, suggestionWords } from "./words.ts";

const searchInput = z.object({
  query: text,
  regex: z.boolean().default(false),
  case: z.boolean().default(false),
  ...filters,
  contextLines: z.int().min(0).max(50).default(0),
  maxTokens,
  cursor,
});

export const search = tool({
  name: "search",
  title: "Search code",
  description:
    "Matches by file, best first, with exact totals. All words must be in a file; if none has them all, the best places for the description are listed.",
  input: searchInput,
  output: MATCHED,
  async run(args, context) {
    if (args.cursor !== undefined)
      return tellMatches({ tool: "search", cursor: args.cursor }, args.maxTokens, context);
    const { query = "", regex, contextLines, ...own } = args;
    if (query.trim() === "")
      throw new QuernError("INVALID_REQUEST", "search needs a query, or a cursor");
    if (
      mayBeHistory(query) &&
      parseHistoryQuery(query, { regex: regex ?? false, caseSensitive: args.case ?? false })
    )
      throw new QuernError(
        "INVALID_REQUEST",
        "this tool does not search the history with type:; use the tool history with changed",
      );
    const { filter } = await scopeOf(own, context);
    const dialect = { isRegexEnabled: regex, isCaseSensitivityEnabled: args.case };
    const scoped = await scopedQuery({ query, ...dialect }, filter);
    const request = { query: scoped, ...dialect, contextLines };
    const told = await tellMatches(
      { tool: "search", request, filters: own },
      args.maxTokens,
      context,
    );
    return told.response.stats.totalMatchCount > 0 ? told : nothingFound(told, args, context);
  },
});

/** Answers that nothing was found. Says which other queries were tried, and what could not be searched. */
async function nothingFound(
  { facts, response }: Told,
  args: z.output<typeof searchInput>,
  context: ToolContext,
): Promise<Outcome> {
  const { filter, viewer } = await scopeOf(args, context);
  const { query = "", regex } = args;
  const dialect = { isRegexEnabled: regex, isCaseSensitivityEnabled: args.case };
  const request = { query: await scopedQuery({ query, ...dialect }, filter), ...dialect };
  const options = searchOptions(context, viewer);
  const asked = { ...request, matches: 0 };
  const { hints, suggestions } = await context.engine.explain(asked, options);
  const unsearched = await nothingSearchedWords(request, args, context);
  const answer = new Answer(args.maxTokens, context.count);
  answer.head("Nothing found.");
  const hint = hintFor(query, regex);
  const described = regex ? [] : await describedPlaces(query, filter, options, context);
  if (described.length > 0) answer.say([DESCRIBED]);
  answer.add(answer.takeSome(described));
  answer.say([
    ...partialWords(response),
    ...context.behind(),
    ...(hint ? [hint] : []),
    ...hints.map(({ message }) => `${message}.`),
    ...unsearched,
    ...suggestionWords({ suggestions }).map((suggestion) => `Tried: ${suggestion}`),
    ...(context.hidesSecrets ? [HIDDEN_WORDS] : []),
  ]);
  return { text: answer.text, facts: { ...facts, shown: 0 } };
}

const findInput = z.object({
  query: text.describe("words of a path, or a glob"),
  ...filters,
  maxTokens,
  cursor,
});

export const findFiles = tool({
  name: "find_files",
  title: "Find files",
  description: "Paths that contain all words or match a glob, best first.",
  input: findInput,
  output: MATCHED,
  async run(args, context) {
    if (args.cursor !== undefined)
      return tellMatches({ tool: "find_files", cursor: args.cursor }, args.maxTokens, context);
    const { filter } = await scopeOf(args, context);
    const words = (args.query ?? "").split(/\s+/).filter((word) => word !== "");
    const parts = [...words.map(pathFilter), filter].filter((part) => part !== "");
    if (parts.length === 0)
      throw new QuernError("INVALID_REQUEST", "find_files needs a query, a filter or a cursor");
    const request = { query: parts.join(" ") };
    const question = { tool: "find_files", request, filters: args };
    const told = await tellMatches(question, args.maxTokens, context);
    if (told.response.stats.totalMatchCount > 0) return told;
    return noFile(told, { request, words, args }, context);
  },
});

interface NoFile {
  readonly request: { readonly query: string };
  /** The words of the query. */
  readonly words: readonly string[];
  readonly args: z.output<typeof findInput>;
}

/** Answers that no file was found. Lists the paths that are nearest to the wanted one. */
async function noFile(
  { facts, response }: Told,
  { request, words, args }: NoFile,
  context: ToolContext,
): Promise<Outcome> {
  const names = words
    .map((word) => word.slice(word.lastIndexOf("/") + 1))
    .filter((one) => one !== "");
  let near = await nearFiles(words, args, context);
  if (near.length === 0) near = await nearFiles(names, args, context); // in another folder
  const answer = new Answer(args.maxTokens, context.count);
  answer.head("No file found.");
  answer.say([
    ...partialWords(response),
    ...context.behind(),
    ...(near.length > 0 ? [`Near names: ${near.map(named).join(", ")}`] : []),
    ...(await notSearchedWords(request, { filters: args, found: [] }, context)),
    ...(context.hidesSecrets ? [HIDDEN_WORDS] : []),
  ]);
  return { text: answer.text, facts: { ...facts, shown: 0 } };
}

/** Resolves to the files whose paths are near the words, the nearest first. There are none for a glob. */
async function nearFiles(
  words: readonly string[],
  args: NoFile["args"],
  context: ToolContext,
): Promise<string[]> {
  if (words.length === 0 || words.some(isGlob)) return [];
  const { filter, viewer } = await scopeOf({ ...args, path: undefined }, context);
  const expressions = words.map((word) => `file:${quote(nearPathExpression(word))}`);
  const query = queryWith(expressions.join(" "), filter);
  const like = { query, matches: MOST_LIKE, matchesPerFile: 1 };
  const { files } = await context.engine.search(like, searchOptions(context, viewer));
  return nearestPaths(files, ({ fileName }) => fileName.text, words)
    .slice(0, MOST_NEAR)
    .map(fileKey);
}

/** The maximum number of paths that are compared with the words. */
const MOST_LIKE = 1_000;
/** The maximum number of paths that are listed. */
const MOST_NEAR = 5;
