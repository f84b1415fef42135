/** Defines the request and the response of find(), and checks requests. */

import { QuernError } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import { mustBe } from "../base/must-be.ts";
import type { SearchOptions } from "../search/messages/request.ts";
import type { Position } from "../search/messages/response.ts";
import type { AlternativeReason } from "./question.ts";

/**
 * A question that describes the code to find, in words or by a name.
 *
 * @example
 * const request: FindRequest = { text: "where is the retry delay computed", query: "lang:go" };
 * const { places } = await engine.find(request);
 */
export interface FindRequest {
  /** The question, in ordinary words or as a name. At most 8 KiB. */
  text: string;
  /** Filters such as `repo:`, `lang:`, `file:` or `rev:`, as in a query. By default, all files are in scope. */
  query?: string;
  /** The maximum number of places to return, 1 to 100. Default 10. */
  places?: number;
  /** The maximum number of lines of each place to return, 1 to 200. Default 12. */
  lines?: number;
  /**
   * The maximum number of tokens of the returned lines, where a token counts as three bytes. If the next place does
   * not fit, it begins the next page. The first place is always returned.
   */
  maxTokens?: number;
  /** The `nextCursor` of a response, to request the places after it. */
  after?: string;
}

/** A request whose fields have been checked. */
export interface CheckedFind {
  readonly text: string;
  readonly query: string;
  readonly places: number;
  readonly lines: number;
  readonly maxTokens: number;
  readonly after: string | undefined;
}

/**
 * Lines of a file, numbered from 1. Both ends are included.
 *
 * @example
 * const show = ({ from, to }: PlaceLines): string => `${from}-${to}`;
 */
export interface PlaceLines {
  /** The first line. */
  from: number;
  /** The last line. */
  to: number;
}

/**
 * A reason for the rank of a place.
 *
 * @example
 * const show = ({ what, detail, weight }: FindReason): string => `${what} ${weight.toFixed(2)}: ${detail}`;
 */
export interface FindReason {
  /**
   * The part of the file that fits the question: 'name' (of the file), 'path' (its folders), 'definition' (names of
   * definitions), 'comment' or 'words' (of the place). 'factor' is a kind of files that ranks lower, such as tests.
   */
  what: "name" | "path" | "definition" | "comment" | "words" | "factor";
  /** What was found, to display to people. */
  detail: string;
  /** What the reason adds to the score. For 'factor', the number by which the score is multiplied. */
  weight: number;
}

/**
 * A place that may answer a question: a definition, or lines outside all definitions.
 *
 * @example
 * const show = ({ repository, path, lines }: FoundPlace): string => `${repository}/${path}:${lines.from}`;
 */
export interface FoundPlace {
  /** The name of the repository. */
  repository: string;
  /** The id of the repository. */
  repositoryId: number;
  /** The path from the repository's root. */
  path: string;
  /** The name of the revision that has the file. */
  revision: string;
  /** The address at which the host shows the file, or '' if there is none. */
  webUrl: string;
  /** The language, or '' if it is unknown. */
  language: string;
  /** The score. Scores of different questions cannot be compared. */
  score: number;
  /** The definition. Absent if the place is outside all definitions. */
  definition?: {
    /** The name. */
    name: string;
    /** The kind. */
    kind: string;
    /** The enclosing definition. */
    parent?: { name: string; kind: string };
  };
  /** The lines of the place, with the comment above it. */
  lines: PlaceLines;
  /** The lines to show: all lines of a short place, or those that fit the question best. */
  chunk: {
    /** The text of the lines. */
    content: string;
    /** The beginning of the text. */
    contentStart: Position;
  };
  /** Other places of the file that fit the question, best first. */
  others: PlaceLines[];
  /** The reasons for the rank, the strongest first. */
  reasons: FindReason[];
}

/**
 * A word of a question, with the stems that stand for it in the files in scope.
 *
 * @example
 * const show = ({ word, frequency }: FindWord): string => `${word} (${frequency})`;
 */
export interface FindWord {
  /** The word in lower case. */
  word: string;
  /** The stems that stand for the word: its own, and others with the reason and a weight from 0 to 1. */
  alternatives: {
    word: string;
    why: AlternativeReason;
    /** The weight, from 0 to 1. */
    weight: number;
  }[];
  /** The number of windows of about 400 bytes that have the word. A rare word weighs more. */
  frequency: number;
}

/**
 * Why some files in scope were not scored. 'timed-out': the time-out passed. 'damaged': stored data cannot be read.
 * 'no-word-lists': the words of some files are not indexed, because they were indexed with `words: 'skip'`, or because
 * an index run has not come to them.
 *
 * @example
 * const isDamaged = (missing: readonly FindMissing[]): boolean => missing.includes("damaged");
 */
export type FindMissing = "timed-out" | "damaged" | "no-word-lists";

/**
 * The answer to a question.
 *
 * @example
 * const { places, unknownWords } = await engine.find({ text: "parse a duration" });
 * for (const { path, lines, reasons } of places) console.log(path, lines.from, reasons[0]?.detail);
 */
export interface FindResponse {
  /** The places, best first. At most one place of each file. */
  places: FoundPlace[];
  /** The words of the question that say something about code. */
  words: FindWord[];
  /** The words of the question that no file in scope has in any form. */
  unknownWords: string[];
  /** Requests the places after these. Absent if there are no more. */
  nextCursor?: string;
  /** Whether every file in scope was scored. */
  isComplete: boolean;
  /** Why files were not scored. Empty if the answer is complete. */
  missing: FindMissing[];
  /** Counts of the work, and its duration. */
  stats: {
    /** The number of files in scope that were scored. */
    filesScored: number;
    /** The number of files that were read. */
    filesRead: number;
    /** The duration in milliseconds. */
    durationMs: number;
  };
}

/**
 * Options of find().
 *
 * @example
 * const options: FindOptions = { timeoutMs: 500 };
 * const { isComplete } = await engine.find({ text: "retry delay" }, options);
 */
export type FindOptions = Pick<SearchOptions, "signal" | "timeoutMs" | "viewer" | "overlay">;

/** Returns those options of a search that find() has, too. */
export function findOptions({ signal, timeoutMs, viewer, overlay }: SearchOptions): FindOptions {
  return {
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(viewer && { viewer }),
    ...(overlay && { overlay }),
  };
}

const KEYS: KeysOf<FindRequest> = {
  text: true,
  query: true,
  places: true,
  lines: true,
  maxTokens: true,
  after: true,
};
const MAX_TEXT_BYTES = 8 * 1024;
const MAX_PLACES = 100;
const MAX_LINES = 200;

/** Checks a request and fills in defaults. */
export function checkFind(given: unknown): CheckedFind {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new QuernError("INVALID_REQUEST", "a request of find must be an object");
  checkKeys({ call: "find", what: "field" }, given, KEYS);
  const {
    text,
    query = "",
    places = 10,
    lines = 12,
    maxTokens = Infinity,
    after,
  } = given as FindRequest;
  const wants = (name: string, what: string, value: unknown): QuernError =>
    new QuernError("INVALID_REQUEST", `find: ${mustBe(name, what, value)}`);
  if (typeof text !== "string" || text.trim() === "")
    throw wants("text", "a non-empty string", text);
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES)
    throw new QuernError(
      "INVALID_REQUEST",
      `find: text must be at most ${MAX_TEXT_BYTES} bytes long, got ${Buffer.byteLength(text)}`,
    );
  if (typeof query !== "string") throw wants("query", "a string", query);
  if (!isWithin(places, 1, MAX_PLACES))
    throw wants("places", `a whole number from 1 to ${MAX_PLACES}`, places);
  if (!isWithin(lines, 1, MAX_LINES))
    throw wants("lines", `a whole number from 1 to ${MAX_LINES}`, lines);
  if (maxTokens !== Infinity && !isWithin(maxTokens, 1, Number.MAX_SAFE_INTEGER))
    throw wants("maxTokens", "a whole number of 1 or more", maxTokens);
  if (after !== undefined && typeof after !== "string")
    throw wants("after", "the nextCursor of a response", after);
  return { text, query, places, lines, maxTokens, after };
}

const isWithin = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
