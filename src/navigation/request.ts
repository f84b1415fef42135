/** Defines the requests and answers of code navigation, and checks requests. */

import { QuernError } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import { mustBe } from "../base/must-be.ts";
import type { SearchOptions } from "../search/messages/request.ts";
import type { Range, ResultSymbol } from "../search/messages/response.ts";

/**
 * How certain it is that a place means the symbol. 'resolved': rules of the language lead from the place to the
 * definition. 'likely': the type of a receiver is not known, but the file can know only one declaration of the name.
 * 'possible': the place has the same name, and nothing else is known.
 *
 * @example
 * const isCertain = (certainty: Certainty): boolean => certainty === "resolved";
 */
export type Certainty = "resolved" | "likely" | "possible";

/**
 * What a place does with the symbol.
 *
 * @example
 * const breaks = (use: NavigationUse): boolean => use === "call" || use === "write";
 */
export type NavigationUse = "definition" | "call" | "read" | "write" | "type" | "import";

export const NAVIGATION_USES = [
  "definition",
  "call",
  "read",
  "write",
  "type",
  "import",
] as const satisfies readonly NavigationUse[];

/**
 * The symbol that is asked for: a name, or a place where it is named. A name may have its parent before it, as in
 * `Cart.add`.
 *
 * @example
 * const target: NavigationTarget = { repository: "shop", path: "src/cart.ts", line: 12, column: 10 };
 */
export type NavigationTarget =
  | {
      /** The name, such as `add` or `Cart.add`. */
      symbol: string;
      /** The repository that defines the symbol. By default, all repositories are searched for it. */
      repository?: string;
      /** The name of the revision, or the full id of its commit. By default, the default revision. */
      revision?: string;
    }
  | {
      /** The name of the repository. */
      repository: string;
      /** The path from the repository's root. */
      path: string;
      /** The 1-based line of the place. */
      line: number;
      /** The 1-based column of the place, in code points. */
      column: number;
      /** The name of the revision, or the full id of its commit. By default, the default revision. */
      revision?: string;
    };

/**
 * A place that names a symbol.
 *
 * @example
 * const show = ({ path, range, why }: NavigationPlace): string => `${path}:${range.start.lineNumber} (${why})`;
 */
export interface NavigationPlace {
  /** The name of the repository. */
  repository: string;
  /** The path from the repository's root. */
  path: string;
  /** The range of the name. */
  range: Range;
  /** How certain it is that the place means the symbol. */
  certainty: Certainty;
  /** What the place does with the symbol. */
  use: NavigationUse;
  /** The reason for the certainty, to show to people. */
  why: string;
  /** The innermost function, method or type around the place. Of a definition, its parent. */
  inside?: ResultSymbol;
}

/**
 * A caller of a symbol.
 *
 * @example
 * const show = ({ path, depth, via }: NavigationCaller): string => `${path} ${depth} ${via.range.start.lineNumber}`;
 */
export interface NavigationCaller extends NavigationPlace {
  /** The number of calls from this caller to the symbol. Direct callers have depth 1. */
  depth: number;
  /** The call through which the caller was found. */
  via: NavigationPlace;
}

/**
 * The answer to a question about a symbol.
 *
 * @example
 * const { places, counts, leftOut } = await engine.usesOf({ symbol: "Cart.add", repository: "shop" });
 * console.log(places.length, counts.resolved, leftOut.otherDeclarations);
 */
export interface NavigationAnswer<P extends NavigationPlace = NavigationPlace> {
  /** The definitions of the symbol that is asked for. Empty if nothing is known about the place. */
  targets: NavigationPlace[];
  /** The places, the most certain first, and then by repository, path and line. */
  places: P[];
  /** The number of places of each certainty, on all pages. */
  counts: Record<Certainty, number>;
  /** The number of places that have the name and are no answer. */
  leftOut: {
    /** Places that mean another declaration of the name. */
    otherDeclarations: number;
    /** Places in comments. */
    comments: number;
    /** Places in texts. */
    strings: number;
  };
  /** The number of files whose names were resolved by rules. */
  filesResolved: number;
  /** Whether every file that has the name was read. */
  isComplete: boolean;
  /** Requests the places after these. Absent if there are no more. */
  nextCursor?: string;
}

/**
 * A part of a streamed answer. 'places' come as files are resolved, in no particular order. 'final' comes last.
 *
 * @example
 * const count = (event: NavigationEvent): number => (event.type === "places" ? event.places.length : 0);
 */
export type NavigationEvent =
  | {
      type: "places";
      /** Places of files that were resolved since the last part. */
      places: NavigationPlace[];
      /** The number of files that were read. */
      filesRead: number;
      /** The number of files that are known to be left. */
      filesLeft: number;
    }
  | {
      type: "final";
      /** The answer without its places. */
      answer: Omit<NavigationAnswer, "places" | "nextCursor">;
    };

/**
 * Options of navigation.
 *
 * @example
 * const options: NavigationOptions = { limit: 100, atLeast: "likely" };
 * const { places } = await engine.usesOf({ symbol: "Cart.add" }, options);
 */
export interface NavigationOptions extends Pick<
  SearchOptions,
  "signal" | "timeoutMs" | "viewer" | "overlay"
> {
  /** The least certainty of the returned places. By default, all are returned. */
  atLeast?: Certainty;
  /** The maximum number of places to return, 1 to 10000. Default 1000. */
  limit?: number;
  /** The `nextCursor` of an answer, to request the places after it. */
  after?: string;
}

/**
 * Options of callersOf().
 *
 * @example
 * const options: CallersOptions = { depth: 3 };
 * const { places } = await engine.callersOf({ symbol: "Cart.add" }, options);
 */
export interface CallersOptions extends NavigationOptions {
  /** The maximum number of calls from a caller to the symbol, 1 to 10. Default 1. */
  depth?: number;
}

/** What is asked about a target. */
export type Ask = "definitions" | "uses" | "callers" | "implementations";

export const CERTAINTIES: readonly Certainty[] = ["resolved", "likely", "possible"];
export const MAX_PLACES = 10_000;
export const MAX_DEPTH = 10;
const MAX_NAME_BYTES = 1024;

const BY_NAME: KeysOf<Extract<NavigationTarget, { symbol: string }>> = {
  symbol: true,
  repository: true,
  revision: true,
};
const BY_PLACE: KeysOf<Extract<NavigationTarget, { path: string }>> = {
  repository: true,
  path: true,
  line: true,
  column: true,
  revision: true,
};
const OPTIONS: KeysOf<CallersOptions> = {
  signal: true,
  timeoutMs: true,
  viewer: true,
  overlay: true,
  atLeast: true,
  limit: true,
  after: true,
  depth: true,
};

export interface CheckedOptions {
  readonly atLeast: Certainty;
  readonly limit: number;
  readonly after: string | undefined;
  readonly depth: number;
}

/** Checks a target. Throws INVALID_REQUEST if it is none. */
export function checkTarget(call: string, target: unknown): NavigationTarget {
  const wants = (name: string, what: string, value: unknown): QuernError =>
    new QuernError("INVALID_REQUEST", `${call}: ${mustBe(name, what, value)}`);
  if (typeof target !== "object" || target === null || Array.isArray(target))
    throw new QuernError("INVALID_REQUEST", `${call}: the target must be an object`);
  const isByName = "symbol" in target;
  checkKeys({ call, what: "field" }, target, isByName ? BY_NAME : BY_PLACE);
  const { symbol, repository, path, line, column, revision } = target as Record<string, unknown>;
  if (isByName && (typeof symbol !== "string" || symbol === ""))
    throw wants("symbol", "a non-empty string", symbol);
  if (isByName && Buffer.byteLength(symbol as string) > MAX_NAME_BYTES)
    throw new QuernError(
      "INVALID_REQUEST",
      `${call}: symbol must have at most ${MAX_NAME_BYTES} bytes`,
    );
  const needsRepository = !isByName || repository !== undefined;
  if (needsRepository && typeof repository !== "string")
    throw wants("repository", "a string", repository);
  if (revision !== undefined && typeof revision !== "string")
    throw wants("revision", "a string", revision);
  if (!isByName) {
    if (typeof path !== "string") throw wants("path", "a string", path);
    if (!isWhole(line, 1, 2 ** 31)) throw wants("line", "a whole number of 1 or more", line);
    if (!isWhole(column, 1, 2 ** 31)) throw wants("column", "a whole number of 1 or more", column);
  }
  return target as NavigationTarget;
}

/** Checks the options that only navigation has, and fills in defaults. */
export function checkNavigation(call: string, options: CallersOptions): CheckedOptions {
  const known = call === "callersOf" ? OPTIONS : withoutDepth;
  checkKeys({ call, what: "option" }, options, known);
  const { atLeast = "possible", limit = 1000, after, depth = 1 } = options;
  const wants = (name: string, what: string, value: unknown): QuernError =>
    new QuernError("INVALID_REQUEST", `${call}: ${mustBe(name, what, value)}`);
  if (!CERTAINTIES.includes(atLeast))
    throw wants("atLeast", "'resolved', 'likely' or 'possible'", atLeast);
  if (!isWhole(limit, 1, MAX_PLACES))
    throw wants("limit", `a whole number from 1 to ${MAX_PLACES}`, limit);
  if (after !== undefined && typeof after !== "string")
    throw wants("after", "the nextCursor of an answer", after);
  if (!isWhole(depth, 1, MAX_DEPTH))
    throw wants("depth", `a whole number from 1 to ${MAX_DEPTH}`, depth);
  return { atLeast, limit, after, depth };
}

/** Returns checked options as a host gives them. */
export const navigationOptions = ({
  atLeast,
  limit,
  after,
}: Omit<CheckedOptions, "depth">): NavigationOptions => ({
  atLeast,
  limit,
  ...(after !== undefined && { after }),
});

const { depth: _, ...withoutDepth } = OPTIONS;

const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
