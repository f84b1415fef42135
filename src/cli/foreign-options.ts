/**
 * Knows options of other search tools that quern search has under another name. A word with two dashes that is no
 * option is searched for, so without this table `--limit 3` would quietly become two words of the query.
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
 * Returns what to write in place of an option such as `limit` (or, misspelt, `limt`), or undefined for a name that
 * means nothing elsewhere either.
 */
export function nameHere(name: string): string | undefined {
  const known = nearestWord(name, Object.keys(HERE));
  return known === undefined ? undefined : HERE[known];
}
