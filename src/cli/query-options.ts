/** What search and explain take alike. */

import type { Command } from "commander";
import type { SearchRequest } from "../search/messages/request.ts";
import { type CommonFlags, withCommonOptions } from "./call.ts";

export interface QueryFlags extends CommonFlags {
  regex?: true;
  case?: true;
}

export const QUERY_HELP = `
A query holds words and prefixes: file: repo: lang: sym: content: rev: …; blanks mean AND, and "or",
"…" and -(…) work as usual. In a shell, quote the query; one that starts with a dash comes behind --:

  quern search 'retry lang:go -file:_test'
  quern search --regex 'func \\w+Backoff\\('
  quern search -- '-lang:json timeout'`;

export function withQueryOptions(command: Command): Command {
  return withCommonOptions(command)
    .argument("<query...>", "joined by blanks")
    .option("-r, --regex", "terms are regular expressions (RE2)")
    .option("-s, --case", "case matters");
}

export function requestOf(words: readonly string[], flags: QueryFlags): SearchRequest {
  return {
    query: words.join(" "),
    matches: 0,
    isRegexEnabled: flags.regex ?? false,
    isCaseSensitivityEnabled: flags.case ?? false,
  };
}
