/**
 * Defines the options of quern search and quern explain, and makes a search request from them. Many of the options
 * are the same as ripgrep's.
 */

import type { Command } from "commander";
import { invalid } from "../base/errors.ts";
import { quote, formatQuery, type Query } from "../query/ast.ts";
import { globPattern } from "../query/glob.ts";
import { parseQuery } from "../query/parse.ts";
import type { SearchRequest } from "../search/messages/request.ts";
import { collect, type CommonFlags, withCommonOptions } from "./call.ts";

export interface QueryFlags extends CommonFlags {
  regex?: true;
  case?: true;
  ignoreCase?: true;
  wordRegexp?: true;
  fixedStrings?: true;
  regexp?: string[];
  glob?: string[];
  type?: string[];
  ignore: boolean;
}

/** The options that limit a search to some files. */
export type FilterFlags = Pick<QueryFlags, "glob" | "type">;

export const QUERY_HELP = `
A query consists of words and filters (file: repo: lang: sym: content: rev: …). A file must match all of
them. Use or, "quotes", (groups) and -filter: to combine them. In a shell, quote the query.

  quern search 'retry lang:go -file:_test'
  quern search --regex 'func \\w+Backoff\\('
  quern search -t go -g '!*_test.go' -w retry`;

export function withQueryOptions(command: Command): Command {
  return withFilterOptions(withCommonOptions(command))
    .argument("[query...]", "the query; several arguments are joined by blanks")
    .option("-r, --regex", "terms are regular expressions (RE2)")
    .option("-s, --case", "match case")
    .option("-i, --ignore-case", "ignore case; the default")
    .option("-w, --word-regexp", "match whole words only")
    .option("-F, --fixed-strings", "treat the whole query as plain text")
    .option(
      "-e, --regexp <pattern>",
      "search for this regular expression; repeatable: matches any",
      collect,
    )
    .option("--no-ignore", "belongs to quern index; a search sees what was indexed")
    .option("--hidden", "include files whose names begin with a dot; the default")
    .option("-n, --line-number", "print line numbers; the default");
}

export function withFilterOptions(command: Command): Command {
  return command
    .option(
      "-g, --glob <glob>",
      "only files that match the glob, or not with !glob; repeatable",
      collect,
    )
    .option("-t, --type <language>", "only files of this language; repeatable", collect);
}

/** Returns a query of the filters that were typed and those of the options, or "" if there are none. */
export function filterOf(flags: FilterFlags, typed = ""): string {
  const own =
    typed.trim() === "" ? [] : [parseQuery(typed, { regex: false, caseSensitive: false })];
  const parts = [...own, ...filtersOf(flags, false)];
  return parts.length === 0 ? "" : formatQuery({ kind: "and", children: parts });
}

export function requestOf(words: readonly string[], flags: QueryFlags): SearchRequest {
  if (!flags.ignore)
    throw invalid("--no-ignore: a search sees what was indexed; run quern index PATH --no-ignore");
  if (words.length === 0 && !flags.regexp) throw invalid("give a query, or an expression with -e");
  return {
    ...queryOf(words.join(" "), flags),
    matches: 0,
    isCaseSensitivityEnabled: flags.case ?? false,
  };
}

/** Adds the options to the query as filters. If the options require no change, returns the query as it was typed. */
function queryOf(
  typed: string,
  flags: QueryFlags,
): Pick<SearchRequest, "query" | "isRegexEnabled"> {
  const { regexp = [], fixedStrings = false, wordRegexp = false } = flags;
  const regex = flags.regex === true && !fixedStrings;
  const caseSensitive = flags.case ?? false;
  const parse = (text: string, isRegex: boolean) =>
    parseQuery(text, { regex: isRegex, caseSensitive });
  const parts = [
    ...(typed === "" ? [] : [parse(fixedStrings ? quote(typed) : typed, regex)]),
    ...any(regexp.map((pattern) => parse(`content:${quote(pattern)}`, !fixedStrings))),
    ...filtersOf(flags, caseSensitive),
  ];
  const asExpressions = regex || wordRegexp || (regexp.length > 0 && !fixedStrings);
  if (parts.length === 1 && !wordRegexp && !fixedStrings && regexp.length === 0)
    return { query: typed, isRegexEnabled: regex };
  const all: Query = parts.length === 1 ? parts[0]! : { kind: "and", children: parts };
  const query = asExpressions ? expressions(all, wordRegexp) : all;
  return { query: formatQuery(query), isRegexEnabled: asExpressions };
}

function filtersOf({ glob = [], type = [] }: FilterFlags, caseSensitive: boolean): Query[] {
  const file = (one: string): Query => ({
    kind: "regex",
    field: "file",
    pattern: globPattern(one),
    caseSensitive,
  });
  const unwanted = glob.filter((one) => one.startsWith("!")).map((one) => file(one.slice(1)));
  return [
    ...any(glob.filter((one) => !one.startsWith("!")).map(file)),
    ...unwanted.map((child): Query => ({ kind: "not", child })),
    ...any(type.map((name): Query => ({ kind: "language", name }))),
  ];
}

const any = (queries: readonly Query[]): Query[] =>
  queries.length < 2 ? [...queries] : [{ kind: "or", children: queries }];

/**
 * Converts every term of a query to a regular expression. If `wholeWords` is true, the expressions match only whole
 * words.
 */
function expressions(query: Query, wholeWords: boolean): Query {
  const same = (one: Query): Query => expressions(one, wholeWords);
  if (query.kind === "and" || query.kind === "or")
    return { ...query, children: query.children.map(same) };
  if (query.kind === "not") return { ...query, child: same(query.child) };
  if (query.kind === "literal") {
    const pattern = escaped(query.text, wholeWords);
    return { kind: "regex", field: "content", pattern, caseSensitive: query.caseSensitive };
  }
  if (query.kind !== "regex" || query.field !== "content" || !wholeWords) return query;
  return { ...query, pattern: `\\b(?:${query.pattern})\\b` };
}

/**
 * Escapes a text for a regular expression. Adds a word boundary only next to a word character. Next to any other
 * character, a boundary would require a word character on its other side.
 */
function escaped(text: string, wholeWords: boolean): string {
  const pattern = text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
  if (!wholeWords) return pattern;
  return `${/^\w/.test(text) ? "\\b" : ""}${pattern}${/\w$/.test(text) ? "\\b" : ""}`;
}
