/** Defines the request of a search. The table FIELDS has the default and the accepted values of each field. */

import { QuernError } from "../../base/errors.ts";
import { checkKeys, type KeysOf } from "../../base/known-keys.ts";
import { mustBe } from "../../base/must-be.ts";

/**
 * What to search for. The field names are those of the HTTP interface.
 *
 * @example
 * const request: SearchRequest = { query: "retry lang:go -file:_test", matches: 50, contextLines: 2 };
 * const { files } = await engine.search(request);
 */
export interface SearchRequest {
  /** The query, see docs/query-language.md. A blank query is rejected with QUERY_SYNTAX. */
  query: string;
  /** The maximum number of ranges that the response may contain. 0 returns no files, but exact counts. */
  matches: number;
  /**
   * The maximum number of ranges to return for each file, 1 or more. The best lines of the file are returned, best
   * first (docs/ranking.md). The totals stay exact. Default: all ranges, in the order of the file.
   */
  matchesPerFile?: number;
  /**
   * Requests a page of results. "" requests the first page, and the `nextCursor` of a response requests the page that
   * follows it. Not for streams. docs/embedding.md describes what happens if the index changes between two pages.
   */
  after?: string;
  /**
   * Counts the matching files by repository, language and folder, and lists this many values of each, 1 to 1000. Not
   * for streams. By default, files are not counted in this way.
   */
  facets?: number;
  /** The number of lines of context before and after each match, 0 to 1000. Default 0. */
  contextLines?: number;
  /** Whether every returned file includes its whole `content`. Default false. */
  whole?: boolean;
  /** Whether chunks include the definitions around their matches. Default false. */
  enclosing?: boolean;
  /** Whether terms are regular expressions. Default false. */
  isRegexEnabled?: boolean;
  /** Whether terms, `content:`, `file:`, `repo:` and `sym:` are case-sensitive. Default false. */
  isCaseSensitivityEnabled?: boolean;
}

/**
 * The repositories that the caller may see. A caller without a viewer sees all repositories. A caller with an empty
 * set sees none.
 *
 * @example
 * const viewer: Viewer = { repositoryIds: new Set([1, 4]) };
 * const { stats } = await engine.search({ query: "todo", matches: 10 }, { viewer });
 */
export interface Viewer {
  /** Ids as in Repository.id. Unknown ids are ignored. */
  repositoryIds: ReadonlySet<number>;
}

/**
 * Options of search(), stream() and explain().
 *
 * @example
 * const options: SearchOptions = { timeoutMs: 500 };
 * const { isSearchExhaustive } = await engine.search({ query: "todo", matches: 10 }, options);
 */
export interface SearchOptions {
  /** Aborts the search, which then rejects with ABORTED. Workers stop within 50 ms. */
  signal?: AbortSignal;
  /** The number of milliseconds after which the search returns what it has found so far. Default: no limit. */
  timeoutMs?: number;
  /**
   * The maximum size of the answer, in bytes of text, positions and names. The file that exceeds this size is the last
   * one in the answer. If more files would follow, isSearchExhaustive is false. Counts stay exact.
   * Default: no limit.
   */
  maxBytes?: number;
  /** Limits the search to these repositories. Nothing in files, counts or errors reveals other repositories. */
  viewer?: Viewer;
  /**
   * Texts that replace indexed files for this call, such as the unsaved texts of an editor. The answer is the same as
   * if the default revisions in the index had these texts. At most 16 MiB in all.
   */
  overlay?: Iterable<OverlayDocument>;
}

/**
 * A text that replaces an indexed file for one call, or the removal of an indexed file for one call.
 *
 * @example
 * const overlay: OverlayDocument[] = [
 *   { repository: "shop", path: "src/cart.ts", content: "export const total = 0;" },
 *   { repository: "shop", path: "src/old.ts", removed: true },
 * ];
 * const { files } = await engine.search({ query: "total", matches: 10 }, { overlay });
 */
export type OverlayDocument =
  | {
      /** The name of an indexed repository. */
      repository: string;
      /** The path from the repository's root, with '/' between folders. */
      path: string;
      /** The whole text. */
      content: string | Uint8Array;
    }
  | {
      /** The name of an indexed repository. */
      repository: string;
      /** The path from the repository's root, with '/' between folders. */
      path: string;
      /** Marks the file as removed. */
      removed: true;
    };

const OPTIONS: KeysOf<SearchOptions> = {
  signal: true,
  timeoutMs: true,
  maxBytes: true,
  viewer: true,
  overlay: true,
};

/**
 * Rejects unknown options and invalid values. A viewer without `repositoryIds` is rejected as well, because it would
 * see everything.
 */
export function checkSearchOptions(call: string, options: unknown): void {
  checkKeys({ call, what: "option" }, options, OPTIONS);
  const { viewer, maxBytes = Infinity } = options as SearchOptions;
  if (!(typeof maxBytes === "number" && maxBytes >= 0))
    throw new QuernError(
      "INVALID_REQUEST",
      `${call}: ${mustBe("maxBytes", "a number of 0 or more", maxBytes)}`,
    );
  checkViewer(call, viewer);
}

export function checkViewer(call: string, viewer: unknown): void {
  if (viewer === undefined) return;
  const { repositoryIds } = (viewer ?? {}) as Partial<Viewer>;
  if (typeof repositoryIds?.has !== "function")
    throw new QuernError("INVALID_REQUEST", `${call}: viewer.repositoryIds must be a set of ids`);
}

/** The fields without a default. A field that is absent has no effect. */
type Optional = "matchesPerFile" | "after" | "facets";

/** A request whose fields have been checked. All fields with a default are present. */
export type CheckedRequest = Required<Omit<SearchRequest, Optional>> &
  Pick<SearchRequest, Optional>;

interface Field<T> {
  readonly fallback: T | undefined; // undefined if the field has no default
  readonly isOptional?: true;
  readonly accept: (value: unknown) => value is T;
  readonly wants: string;
}

const flag = (): Field<boolean> => ({
  fallback: false,
  accept: (value): value is boolean => typeof value === "boolean",
  wants: "true or false",
});

const isCount = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

const count = (fallback: number | undefined, most: number, wants: string): Field<number> => ({
  fallback,
  accept: (value): value is number => isCount(value, 0, most),
  wants,
});

const FIELDS: { readonly [Name in keyof Required<SearchRequest>]: Field<SearchRequest[Name]> } = {
  query: {
    fallback: undefined,
    accept: (value): value is string => typeof value === "string",
    wants: "a string",
  },
  matches: count(undefined, Number.MAX_SAFE_INTEGER, "a whole number of 0 or more"),
  matchesPerFile: {
    fallback: undefined,
    isOptional: true,
    accept: (value): value is number => isCount(value, 1, Number.MAX_SAFE_INTEGER),
    wants: "a whole number of 1 or more",
  },
  after: {
    fallback: undefined,
    isOptional: true,
    accept: (value): value is string => typeof value === "string",
    wants: 'a string: "" or the nextCursor of a response',
  },
  facets: {
    fallback: undefined,
    isOptional: true,
    accept: (value): value is number => isCount(value, 1, 1000),
    wants: "a whole number from 1 to 1000",
  },
  contextLines: count(0, 1000, "a whole number from 0 to 1000"),
  whole: flag(),
  enclosing: flag(),
  isRegexEnabled: flag(),
  isCaseSensitivityEnabled: flag(),
};

/** Checks a request and fills in defaults. Rejects unknown fields, and values that are out of range. */
export function checkRequest(given: unknown): CheckedRequest {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new QuernError("INVALID_REQUEST", "a search request must be an object");
  checkKeys({ call: "search", what: "field" }, given, FIELDS);
  const checked = Object.entries<Field<unknown>>(FIELDS).flatMap(([name, field]) => {
    const value: unknown = (given as Record<string, unknown>)[name] ?? missing(given, name, field);
    if (value === undefined && field.isOptional) return [];
    if (!field.accept(value))
      throw new QuernError("INVALID_REQUEST", mustBe(name, field.wants, value));
    return [[name, value]];
  });
  return Object.fromEntries(checked) as CheckedRequest;
}

/**
 * Returns the default of a field that is absent. A field that is null does not count as absent, so null is returned
 * for it.
 */
function missing(given: object, name: string, field: Field<unknown>): unknown {
  return (given as Record<string, unknown>)[name] === undefined ? field.fallback : null;
}
