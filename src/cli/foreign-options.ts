/**
 * Maps options of other search tools to their equivalents in `quern search`. If a word begins with two dashes but is
 * not an option, `quern search` searches for it. Without this table, `--limit 3` would silently become two words of
 * the query.
 */

import { nearestWord } from "../base/edit-distance.ts";

const HERE: Readonly<Record<string, string>> = {
  limit: "-m, --matches N",
  "max-count": "-m, --matches N",
  "max-results": "-m, --matches N",
  head: "-m, --matches N",
  lang: "-t, --type LANGUAGE",
  language: "-t, --type LANGUAGE",
  file: "-g, --glob GLOB",
  path: "-g, --glob GLOB",
  include: "-g, --glob GLOB",
  exclude: "-g '!GLOB'",
  repo: "the filter repo:NAME",
  repository: "the filter repo:NAME",
  branch: "the filter rev:NAME",
  revision: "the filter rev:NAME",
  symbol: "the filter sym:NAME",
};

/**
 * Returns what to write instead of another tool's option, such as `limit` or its misspelling `limt`. Returns undefined
 * if the name is not in the table.
 */
export function nameHere(name: string): string | undefined {
  const known = nearestWord(name, Object.keys(HERE));
  return known === undefined ? undefined : HERE[known];
}
