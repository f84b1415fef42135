/** Converts errors to text that a model can act on. Also gives hints for queries that match nothing. */

import { QuernError, type ErrorCode } from "../base/errors.ts";
import type { Explanation } from "../search/messages/response.ts";
import { CallRefused } from "./guard.ts";
import { named } from "./delimit.ts";
import { plural } from "./plural.ts";

const itself = (message: string): string => message;

/**
 * Texts for the codes that a model can do something about. Any other code is a bug in quern, or occurs only if nobody
 * waits for the answer.
 */
const WORDS: Partial<Record<ErrorCode, (message: string, place: string) => string>> = {
  QUERY_SYNTAX: (message, place) =>
    `The query does not parse${place}: ${message}. Put text that is meant literally in double quotes.`,
  REGEX_SYNTAX: (message, place) =>
    `The regular expression is invalid${place}: ${message}. It is RE2: no look-around, no back-references. Without regex: true the query is plain text.`,
  REGEX_TOO_LARGE: (message) => `${message}. Search for a shorter expression, or for plain text.`,
  CURSOR_EXPIRED: itself,
  INVALID_REQUEST: itself,
  INVALID_GIT_REF: itself,
  HISTORY_NOT_AVAILABLE: (message) =>
    `${message}. The history is not available here; the other tools are.`,
  FILE_TOO_LARGE: itself,
  BINARY_FILE: itself,
  SOURCE_NOT_FOUND: itself,
  SOURCE_UNREADABLE: itself,
  CONTEXT_NOT_FOUND: itself,
  INDEX_CORRUPT: itself,
  INDEX_LOCKED: (message) =>
    `Too much has changed on the disk since the last index run, and the index cannot be updated: ${message} Ask again in a few seconds.`,
  ENGINE_CLOSED: itself,
};

/** Returns what to tell a model about an error, or undefined if the model can do nothing about it. */
export function wordsFor(error: unknown): string | undefined {
  if (error instanceof CallRefused) return error.message;
  if (!(error instanceof QuernError)) return undefined;
  const { code, message, position } = error;
  return WORDS[code]?.(message, at(position));
}

const at = (position: number | undefined): string =>
  position === undefined ? "" : ` at character ${position + 1}`;

const EXPRESSION = /\\[bdswBDSW]|\.\*|\.\+|\[[^\]]+\][*+?]|\w\|\w|^\^|\$$|\(\?/;
const COMMAND = /^(rg|grep|git grep|ag|ack|find)\s/;
const GLOB = /^\S*\*\S*\.\w+$|\*\*\//;

/**
 * The maximum number of characters of a query for which a guess is made, because the expressions above may take
 * quadratic time.
 */
const MOST_GUESSED = 1_000;

/**
 * Returns a hint if a query without matches looks like a command, a glob or an expression. Otherwise returns
 * undefined.
 */
export function hintFor(query: string, isRegex: boolean): string | undefined {
  if (query.length > MOST_GUESSED) return undefined;
  if (COMMAND.test(query))
    return "This looks like a shell command: give the words alone, and filters as arguments.";
  if (GLOB.test(query))
    return "This looks like a glob of paths: use find_files, or the argument path.";
  if (!isRegex && EXPRESSION.test(query))
    return "This looks like a regular expression: set regex: true.";
  return undefined;
}

const CHANGES: Readonly<Record<Explanation["suggestions"][number]["change"], string>> = {
  "ignore-case": "without case",
  literal: "as plain text, without regex",
  regex: "with regex: true",
  "all-revisions": "in all revisions",
  "drop-filter": "without a filter",
  language: "in another language",
};

export function suggestionWords({ suggestions }: Pick<Explanation, "suggestions">): string[] {
  return suggestions
    .slice(0, 5)
    .map(
      ({ change, request, totalMatchCount }) =>
        `${plural(totalMatchCount, "match", "matches")} ${CHANGES[change]}: ${request.query}`,
    );
}

const REASONS: Readonly<Record<Explanation["notIndexed"][number]["reason"], string>> = {
  unknown: "is not indexed here",
  indexing: "is still being indexed",
  "files-skipped": "has files whose content is not searchable",
};

export function notIndexedWords(notIndexed: Explanation["notIndexed"]): string[] {
  return notIndexed
    .slice(0, 5)
    .map(
      ({ repository, reason, files }) =>
        `${named(repository)} ${REASONS[reason]}${files === undefined ? "" : `: ${files}`}.`,
    );
}
