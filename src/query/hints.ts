/**
 * Gives hints for queries that use the syntax of other search engines. In quern, words such as `path:` and `OR` are
 * ordinary terms, because files may contain them. A hint says what to write instead of such a word.
 * docs/query-language.md has the list. There are also hints for globs and for unknown languages in filters.
 *
 * This visits the operands in the same way as the parser. It takes time linear in the length of the text, and never
 * fails.
 */

import { QuernError } from "../base/errors.ts";
import { languageNamed, nearestLanguage } from "../base/languages.ts";
import { nearestWord } from "../base/edit-distance.ts";
import { globPattern, looksLikeGlob } from "./glob.ts";
import { findGroups } from "./groups.ts";
import { endOfQuoted, endOfWord, isPattern, prefixAt, skipBlanks, PREFIXES } from "./lexemes.ts";
import { parseQuery, type Dialect } from "./parse.ts";
import { formatValue } from "./ast.ts";

export interface Hint {
  /** The UTF-16 position of the word in the query. */
  readonly position: number;
  /** The word at that position. */
  readonly word: string;
  /** A message for people, which says what the word means here, and what to write instead. */
  readonly message: string;
  /** The corrected query. Absent if there is no correction, or if the corrected query does not parse. */
  readonly query?: string;
}

/**
 * Maps the names of filters in other engines to the names of these filters in quern. docs/query-language.md says why
 * quern does not accept the names of other engines.
 */
export const FOREIGN_FILTERS: Readonly<Record<string, string>> = {
  path: "file",
  filename: "file",
  filepath: "file",
  language: "lang",
  l: "lang",
  symbol: "sym",
  s: "sym",
  def: "sym",
  branch: "rev",
  b: "rev",
  revision: "rev",
  ref: "rev",
  tag: "rev",
  repository: "repo",
  project: "repo",
  proj: "repo",
  text: "content",
};

/** Filters that a misspelt word may mean. Shorter ones are near many words. */
const LONG_PREFIXES = Object.keys(PREFIXES).filter((name) => name.length > 2);

export const FOREIGN_OPERATORS: Readonly<Record<string, string>> = {
  OR: "or",
  "||": "or",
  "|": "or",
  AND: "",
  "&&": "",
  and: "",
  NOT: "-",
  not: "-",
};

/** Filters of other engines that are options here, or filters of the history alone. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  case: "whether case matters is an option: -s, isCaseSensitivityEnabled",
  count: "the number of matches to return is an option: --matches, matches",
  timeout: "the time limit is an option: --timeout, timeoutMs",
  patterntype: "whether terms are regular expressions is an option: --regex, isRegexEnabled",
  type: "it is a filter only as type:diff and type:commit",
  select: "it is a filter only beside type:diff or type:commit",
};

/** The maximum number of hints for one query. For each hint, the query is rewritten and parsed again. */
const MOST_HINTS = 5;

/** Returns the first few hints, in the order of the query. REQUIRES: the query parses. */
export function hintsOf(text: string, dialect: Dialect): Hint[] {
  const groups = findGroups(text, dialect.regex);
  const hints: Hint[] = [];
  let depth = 0;
  for (
    let at = skipBlanks(text, 0);
    at < text.length && hints.length < MOST_HINTS;
    at = skipBlanks(text, at)
  ) {
    if (groups.has(at)) {
      depth++;
      at++;
      continue;
    }
    if (text[at] === ")" && depth > 0) {
      depth--;
      at++;
      continue;
    }
    const negated = text[at] === "-" ? skipBlanks(text, at + 1) : at;
    if (negated > at && (groups.has(negated) || prefixAt(text, negated))) {
      at = negated;
      continue;
    }
    const prefix = prefixAt(text, at);
    const start = prefix?.end ?? at;
    const quoted = text[start] === '"' ? endOfQuoted(text, start) : undefined;
    const pattern = isPattern(prefix?.prefix, dialect.regex);
    const end = quoted ?? endOfWord(text, start, { pattern, inGroup: depth > 0 });
    const word = text.slice(at, end);
    const hint = quoted === undefined ? hintFor(word, prefix?.prefix, dialect) : undefined;
    if (hint) {
      const query = rewritten(text, { at, word, instead: hint.instead }, dialect);
      hints.push(asHint(at, word, hint, query));
    }
    at = Math.max(end, at + 1);
  }
  return hints;
}

interface Advice {
  readonly message: string;
  /** What to write instead of the word. */
  readonly instead?: string;
}

function asHint(at: number, word: string, { message }: Advice, query: string | undefined): Hint {
  return { position: at, word, message, ...(query !== undefined && { query }) };
}

/**
 * Returns the query with the word replaced. Returns undefined if there is no replacement, or if the result does not
 * parse.
 */
function rewritten(
  text: string,
  { at, word, instead }: { at: number; word: string; instead: string | undefined },
  dialect: Dialect,
): string | undefined {
  if (instead === undefined) return undefined;
  const query = joined(text.slice(0, at), instead, text.slice(at + word.length));
  return query !== undefined && parses(query, dialect) ? query : undefined;
}

function parses(query: string, dialect: Dialect): boolean {
  try {
    parseQuery(query, dialect);
    return true;
  } catch (error) {
    if (error instanceof QuernError) return false;
    throw error;
  }
}

/**
 * Replaces a word. If `instead` is empty, removes the word and the blanks around it. If `instead` is `-`, negates the
 * next operand, or returns undefined if that operand contains quotes or parentheses.
 */
function joined(before: string, instead: string, after: string): string | undefined {
  if (instead === "") return `${before.trimEnd()} ${after.trimStart()}`.trim();
  if (instead !== "-") return before + instead + after;
  const next = /^\s+(\S+)/.exec(after);
  if (!next || /["()]/.test(next[1]!)) return undefined;
  const negated = prefixAt(next[1]!, 0) ? `-${next[1]}` : `-content:${next[1]}`;
  return before + negated + after.slice(next[0].length);
}

function hintFor(word: string, prefix: string | undefined, dialect: Dialect): Advice | undefined {
  const value = word.slice(word.indexOf(":") + 1);
  if (prefix === "file") return globHint(value);
  if (prefix === "lang") return languageHint(word, value);
  if (prefix !== undefined) return undefined;
  const operator = Object.hasOwn(FOREIGN_OPERATORS, word) ? FOREIGN_OPERATORS[word] : undefined;
  if (operator !== undefined) return operatorHint(word, operator);
  return filterHint(word) ?? dashHint(word, dialect) ?? expressionHint(word, dialect);
}

function languageHint(word: string, value: string): Advice | undefined {
  if (languageNamed(value) !== undefined) return undefined;
  const nearest = nearestLanguage(value);
  const said = `no language is called ${value}`;
  if (nearest === undefined) return { message: said };
  const instead = word.slice(0, word.length - value.length) + formatValue(nearest);
  return { message: `${said}; did you mean ${nearest}`, instead };
}

function operatorHint(word: string, instead: string): Advice {
  const advice: Readonly<Record<string, string>> = {
    or: `write or in lower case`,
    "": `a blank already means that both must be there`,
    "-": `write -content:word, or -file:x for a filter`,
  };
  return { message: `${word} is a word here; ${advice[instead]}`, instead };
}

function filterHint(word: string): Advice | undefined {
  const [, name = "", value = ""] = /^-?([A-Za-z]+):(.*)$/s.exec(word) ?? [];
  if (name === "" || value === "" || value.startsWith("//")) return undefined;
  const dash = word.startsWith("-") ? "-" : "";
  const lower = name.toLowerCase();
  const said = `${name}: is a word here`;
  if (Object.hasOwn(ELSEWHERE, lower)) return { message: `${said}; ${ELSEWHERE[lower]}` };
  if (lower === "ext" || lower === "extension") {
    const instead = `${dash}file:\\.${value.replace(/^\./, "").replace(/[^\w]/g, "\\$&")}$`;
    return { message: `${said}; write ${instead}`, instead };
  }
  const ours = Object.hasOwn(PREFIXES, lower)
    ? lower
    : Object.hasOwn(FOREIGN_FILTERS, lower)
      ? FOREIGN_FILTERS[lower]
      : nearestWord(lower, LONG_PREFIXES);
  if (ours === undefined || ours === name) return undefined;
  return { message: `${said}; did you mean ${ours}:`, instead: `${dash}${ours}:${value}` };
}

function dashHint(word: string, { regex }: Dialect): Advice | undefined {
  if (!/^-\w/.test(word)) return undefined;
  const bare = word.slice(1);
  const instead = regex || /[()"]/.test(bare) ? `-content:${bare}` : `-(${bare})`;
  const message = `${word} is searched for with its dash; to leave out files with ${bare} write ${instead}`;
  return { message, instead };
}

function expressionHint(word: string, { regex }: Dialect): Advice | undefined {
  if (regex || !/^\/(?:[^/]+|.*[\\^$|?*+()[\]{}].*)\/[a-z]?$/s.test(word)) return undefined;
  return {
    message: `${word} is text here; for regular expressions give --regex (isRegexEnabled), without slashes`,
  };
}

function globHint(value: string): Advice | undefined {
  if (!looksLikeGlob(value)) return undefined;
  const instead = `file:${formatValue(globPattern(value))}`;
  return {
    message: `file: takes an expression, and ${value} looks like a glob; write ${instead}`,
    instead,
  };
}
