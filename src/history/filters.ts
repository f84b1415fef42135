/** Checks the filters of a request, and converts them to arguments of git commands. */

import { QuernError } from "../base/errors.ts";
import { isValidPath, withoutEndSlashes } from "../base/paths.ts";
import type { CommitsOptions } from "./history.ts";
import type { Operation } from "./operation.ts";

/** Filters that were checked. An absent filter accepts all commits. */
export interface Filters {
  readonly path?: string;
  readonly author?: string;
  readonly query?: string;
  readonly since?: string;
  readonly until?: string;
}

export function checkFilters({ path, author, query, since, until }: CommitsOptions): Filters {
  return {
    ...optional("path", checkPath(path)),
    ...optional("author", checkExpression("author", author)),
    ...optional("query", checkExpression("query", query)),
    ...optional("since", checkDate("since", since)),
    ...optional("until", checkDate("until", until)),
  };
}

const optional = (name: keyof Filters, value: string | undefined): Filters =>
  value === undefined ? {} : { [name]: value };

/**
 * Checks a path, and returns it without trailing slashes. Returns undefined if the path stands for the whole
 * repository.
 */
export function checkPath(path: unknown): string | undefined {
  if (path === undefined) return undefined;
  if (typeof path !== "string") throw invalid("path must be a string");
  const folder = withoutEndSlashes(path);
  if (folder === "" && !path.startsWith("/")) return undefined;
  if (isValidPath(folder)) return folder;
  throw invalid(
    `path must be relative to the repository, without "." and "..": ${formatValue(path)}`,
  );
}

/**
 * Checks `skip` or `limit`. Returns the value, which must be an integer from 0 to `most`, or `fallback` if it is
 * undefined.
 */
export function checkCount(
  name: "skip" | "limit",
  value: unknown,
  { fallback, most }: { fallback: number; most: number },
): number {
  if (value === undefined) return fallback;
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most)
    return value as number;
  throw invalid(`${name} must be a whole number from 0 to ${most}, got ${formatValue(value)}`);
}

const MAX_EXPRESSION = 1000;
/**
 * The maximum number of times that the intervals of an expression, such as `\{2,9\}`, may repeat a part of it. The
 * compiled expression contains a copy of the part for each repetition.
 */
const MAX_COPIES = 1000;
const MAX_GROUPS = 100;

/**
 * Checks a regular expression. git compiles it with the C library, whose matcher takes exponential time for
 * back-references and much memory for nested intervals. So back-references and large intervals are rejected.
 */
function checkExpression(name: string, text: unknown): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (typeof text !== "string") throw invalid(`${name} must be a string`);
  if (text.length > MAX_EXPRESSION)
    throw invalid(`${name} must not be longer than ${MAX_EXPRESSION} characters`);
  if (/[\0\p{Cs}]/u.test(text)) throw invalid(`${name} must be well-formed Unicode without NUL`);
  const escapes = [...text.matchAll(/\\(.)/gs)].map(([, letter]) => letter!);
  if (escapes.some((letter) => /[1-9]/.test(letter)))
    throw invalid(
      `${name}: back-references such as \\1 are not supported, because they may never end`,
    );
  if (escapes.filter((letter) => letter === "(").length > MAX_GROUPS)
    throw invalid(`${name} must not have more than ${MAX_GROUPS} groups`);
  if (copiesOf(text) > MAX_COPIES)
    throw invalid(`${name}: its intervals must not add up to more than ${MAX_COPIES} copies`);
  return text;
}

const UNREADABLE = /fatal: (header|command line), '.*': (.*?)\); /s;

/** Throws INVALID_REQUEST if `error` is git's report of an invalid expression. Throws any other error unchanged. */
export function blameExpression(error: unknown): never {
  const [, where, why] = UNREADABLE.exec(error instanceof QuernError ? error.message : "") ?? [];
  if (where === undefined) throw error;
  throw invalid(`${where === "header" ? "author" : "query"}: ${why}`);
}

/**
 * Returns the product of the upper bounds of all intervals. This is the number of copies if each interval encloses
 * the next.
 */
function copiesOf(text: string): number {
  const intervals = [...text.matchAll(/\\\{(\d*)(?:,(\d*))?/g)];
  return intervals.reduce((copies, [, least, most]) => {
    const count = Math.max(Number(least ?? 0), Number(most ?? 0), 1);
    return copies * count;
  }, 1);
}

const MAX_DATE = 100;
const ISO_DATE =
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d:?(?:\d\d)?))?)?$/i;
/**
 * Matches the words that git understands in dates, including short forms and plurals. git ignores all other words.
 */
const DATE_WORD =
  /^(?:a|an|ago|and|at|last|now|today|yesterday|noon|midnight|tea|never|am|pm|zero|one|two|three|four|five|six|seven|eight|nine|ten|(?:second|minute|hour|day|week|month|year)s?|mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|utc|gmt|st|nd|rd|th)$/i;

/**
 * Checks a date. Without this check, git would use the current time in place of a date that it does not understand.
 */
function checkDate(name: string, text: unknown): string | undefined {
  if (text === undefined) return undefined;
  if (typeof text === "string" && text.length <= MAX_DATE && isDate(text)) return text;
  throw invalid(
    `${name} must be an ISO 8601 date or a relative date that git accepts ("2 weeks ago"), got ${formatValue(text)}`,
  );
}

function isDate(text: string): boolean {
  if (ISO_DATE.test(text)) return true;
  if (!/^[\w\s.,:/+-]+$/.test(text) || text.startsWith("-")) return false;
  const words = text.match(/[a-z]+/gi) ?? [];
  const isTimestamp = /^@?\d{9,}(?: [+-]\d{4})?$/.test(text);
  return isTimestamp || (words.length > 0 && words.every((word) => DATE_WORD.test(word)));
}

/**
 * Resolves to git arguments for the dates in the filters, with each date converted to seconds since 1970. A relative
 * date stands for a different moment each time it is used. So the key of a cached list contains the converted seconds,
 * not the date as it was written in the request.
 */
export async function datesOf(operation: Operation, filters: Filters): Promise<string[]> {
  const { since, until } = filters;
  if (since === undefined && until === undefined) return [];
  const args = [
    ...(since === undefined ? [] : [`--since=${since}`]),
    ...(until === undefined ? [] : [`--until=${until}`]),
  ];
  const said = (await operation.mustOutput("a date", ["rev-parse", ...args])).toString();
  return said.split("\n").filter((line) => /^--(?:max|min)-age=\d+$/.test(line));
}

/** Returns the arguments for the filters that come before the commits. `dates` is the result of datesOf(). */
export function filterArguments({ author, query }: Filters, dates: readonly string[]): string[] {
  return [
    "--basic-regexp",
    "--regexp-ignore-case",
    ...(author === undefined ? [] : [`--author=${author}`]),
    ...(query === undefined ? [] : [`--grep=${query}`]),
    ...dates,
  ];
}

/** Returns the arguments for the path, which come after the commits. */
export const pathArguments = (path: string | undefined): string[] =>
  path === undefined ? ["--"] : ["--", path];

function invalid(message: string): QuernError {
  return new QuernError("INVALID_REQUEST", message);
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : String(value);
  return text.replace(/\p{Cc}/gu, "\ufffd");
}
