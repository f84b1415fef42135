/**
 * Defines the response of a search, with the field names of the HTTP interface. The end of a range is exclusive.
 */

import type { CodeHostType } from "../../store/format/records.ts";
import type { SymbolKind } from "../../store/symbols/symbol-kinds.ts";
import type { SearchRequest } from "./request.ts";
import type { SearchStats } from "./stats.ts";

/**
 * A position in a file.
 *
 * @example
 * const show = ({ lineNumber, column }: Position): string => `${lineNumber}:${column}`;
 */
export interface Position {
  /**
   * The 0-based offset in bytes of UTF-8 from the start of the file. For a match in a file's name, the offset is
   * counted from the start of the path.
   */
  byteOffset: number;
  /** The 1-based number of the line. A newline belongs to the line that it ends. */
  lineNumber: number;
  /** The 1-based column, in code points from the start of the line. */
  column: number;
}

/**
 * The extent of a match. Start and end are equal if the match is empty.
 *
 * @example
 * const length = ({ start, end }: Range): number => end.byteOffset - start.byteOffset;
 */
export interface Range {
  /** The position of the first byte. */
  start: Position;
  /** The position after the last byte. */
  end: Position;
}

/**
 * A definition whose name or body contains a match.
 *
 * @example
 * const show = ({ kind, symbol, parent }: ResultSymbol): string =>
 *   `${kind} ${parent ? `${parent.symbol}.` : ""}${symbol}`;
 */
export interface ResultSymbol {
  /** The name. A name of more than 256 bytes is cut and ends in an ellipsis. */
  symbol: string;
  /** The kind of definition. */
  kind: SymbolKind;
  /** The enclosing definition. */
  parent?: {
    /** The name. */
    symbol: string;
    /** The kind of definition. */
    kind: SymbolKind;
  };
}

/**
 * Consecutive lines of a file that contain matches.
 *
 * @example
 * const lines = ({ content, contentStart }: Chunk): string[] =>
 *   content.trimEnd().split("\n").map((line, i) => `${contentStart.lineNumber + i}: ${line}`);
 */
export interface Chunk {
  /** Whole lines, or parts of very long lines, with the matches and their context. */
  content: string;
  /** The matches, with their positions in the file. */
  matchRanges: Range[];
  /** The position in the file at which `content` begins. */
  contentStart: Position;
  /** The definitions whose names contain a match, with one entry for each such match, in the order of the ranges. */
  symbols?: ResultSymbol[];
  /**
   * For each range, the innermost definition whose body contains the first line of the range. The indentation decides
   * where a body ends. An entry is null if there is no such definition, or if a definition begins in that line.
   * Present if the request asked for enclosing definitions.
   */
  enclosing?: (ResultSymbol | null)[];
  /**
   * The side of the change to which the lines belong. Present for queries with `type:diff`. Lines are then numbered as in
   * the file on this side, but offsets count from the start of the added or removed text of the change.
   */
  side?: "added" | "removed";
}

/**
 * The commit of a result, for queries with `type:diff` or `type:commit`.
 *
 * @example
 * const show = ({ hash, authorName, date }: ResultCommit): string =>
 *   `${hash.slice(0, 8)} ${date} ${authorName}`;
 */
export interface ResultCommit {
  /** The full id. */
  hash: string;
  /** The full ids of the parents. */
  parents: string[];
  /** The author's name, as recorded in the commit. */
  authorName: string;
  /** The author's email address, as recorded in the commit. */
  authorEmail: string;
  /** The committer date in ISO 8601, in UTC. */
  date: string;
  /** The whole message. */
  message: string;
}

/**
 * A file that matches.
 *
 * @example
 * const { files } = await engine.search({ query: "todo", matches: 10 });
 * for (const { repository, fileName, chunks } of files)
 *   console.log(`${repository}/${fileName.text}`, chunks.length);
 */
export interface FileResult {
  /** The path, and the matches in it. */
  fileName: {
    /** The path from the repository's root, with '/' between folders. */
    text: string;
    /**
     * The matches of `file:`, whether or not the content matches. If a file matches without any range, as with
     * `lang:go`, this is the whole path.
     */
    matchRanges: Range[];
  };
  /** The address at which this host shows the file, see OpenOptions.webUrl. */
  webUrl: string;
  /** The address of the file on its code host, if known. */
  externalWebUrl?: string;
  /** The name of the repository. */
  repository: string;
  /** The id of the repository. */
  repositoryId: number;
  /** The language's name in GitHub Linguist, or "" if it is unknown. */
  language: string;
  /**
   * The chunks in the order of the file, or best first if `matchesPerFile` is given. Empty if only the path matches.
   */
  chunks: Chunk[];
  /** The names of the searched revisions that contain the file. */
  branches?: string[];
  /** The whole content, if the request asked for it. */
  content?: string;
  /** The commit that made the change, with `type:diff`, or the commit that was found, with `type:commit`. */
  commit?: ResultCommit;
}

/**
 * A repository that has files in the response.
 *
 * @example
 * const { repositoryInfo } = await engine.search({ query: "todo", matches: 10 });
 * const names = new Map(repositoryInfo.map(({ id, name, displayName }) => [id, displayName ?? name]));
 */
export interface RepositoryInfo {
  /** The id, as in FileResult.repositoryId. */
  id: number;
  /** The kind of code host, or 'genericGitHost' if the source does not specify one. */
  codeHostType: CodeHostType;
  /** The name, as in FileResult.repository. */
  name: string;
  /** A name to show to people. */
  displayName?: string;
  /** The address of the repository's page on its code host. */
  webUrl?: string;
}

/**
 * The number of matching files for each value of a property. The most frequent value comes first.
 *
 * @example
 * const show = ({ values }: Facet): string =>
 *   values.map(({ value, fileCount }) => `${value} (${fileCount})`).join(", ");
 */
export interface Facet {
  /** The values with the most files, ordered by the number of files, then by name. The request limits their number. */
  values: {
    /** A repository's name, a language's name in GitHub Linguist, or a folder's path. */
    value: string;
    /** The number of matching files that have this value. */
    fileCount: number;
  }[];
  /** The number of values that are not listed. */
  more: number;
}

/**
 * Values that could narrow a search, each with the exact number of files that the narrower search would find.
 *
 * @example
 * const { facets } = await engine.search({ query: "todo", matches: 10, facets: 5 });
 * for (const { value, fileCount } of facets!.languages.values) console.log(value, fileCount);
 */
export interface Facets {
  /** The number of matching files in each repository. */
  repositories: Facet;
  /** The number of matching files in each language. Files of an unknown language are not counted. */
  languages: Facet;
  /**
   * The number of matching files for the first folder of each path, and for the first two folders of each path. Empty
   * unless all files are in one repository.
   */
  folders: Facet;
}

/**
 * The answer to a search.
 *
 * @example
 * const { stats, isSearchExhaustive } = await engine.search({ query: "todo", matches: 10 });
 * console.log(`${stats.totalMatchCount} matches`, isSearchExhaustive ? "" : "(not all are shown)");
 */
export interface SearchResponse {
  /** Counts are exact, whatever `matches` is, unless the search was stopped or found damage. */
  stats: SearchStats;
  /** The files, best first, see docs/ranking.md. */
  files: FileResult[];
  /** The repositories of the files in this response. */
  repositoryInfo: RepositoryInfo[];
  /**
   * True if and only if every match is in this response. Also false if `sym:` depends on symbols that are not known
   * yet.
   */
  isSearchExhaustive: boolean;
  /** The counts for the whole answer, not only for this page. Present if the request asked for them. */
  facets?: Facets;
  /** The cursor of the next page. Present only if `after` was given and there are more results. */
  nextCursor?: string;
  /** Present if the content that the viewer may see has changed since the page that the cursor came from. */
  indexChanged?: true;
}

/**
 * An event of a stream. A stream yields 'chunk' events while it finds files, and then one 'final' event.
 *
 * @example
 * for await (const event of engine.stream({ query: "todo", matches: 100 }))
 *   if (event.type === "chunk") console.log(event.files.length);
 *   else console.log(event.accumulatedStats.totalMatchCount);
 */
export type SearchEvent =
  | {
      /** The event has more files. */
      type: "chunk";
      /** The amounts by which this chunk increases the counters. */
      stats: SearchStats;
      /** The files, in the order in which they were found. */
      files: FileResult[];
      /** The repositories of the files in this chunk. */
      repositoryInfo: RepositoryInfo[];
    }
  | {
      /** The search is over. */
      type: "final";
      /** The counters of the whole search. */
      accumulatedStats: SearchStats;
      /** True if and only if every match was in a chunk. */
      isSearchExhaustive: boolean;
    };

/**
 * How a query was understood and planned, with suggestions for queries that find more.
 *
 * @example
 * const { query, suggestions } = await engine.explain({ query: "Retry lang:goo", matches: 10 });
 * console.log(query, suggestions[0]?.request.query);
 */
export interface Explanation {
  /** The canonical form of the query, as quern understood it. */
  query: string;
  /** The plan for each segment. Counts cover only files in scope. A page is at most 4 KiB of text. */
  segments: {
    /** The segment's id, as in problems of check(). */
    id: number;
    /**
     * 'skipped-by-filter' means that the segment has no candidate file. 'damaged' means that its evaluation failed.
     * 'not-reached' means that time ran out, or that the search was stopped.
     */
    outcome: "scanned" | "skipped-by-filter" | "damaged" | "not-reached";
    /**
     * The literals of the query's terms, which are looked up in the index. If a term has literals, each match of the
     * term contains at least one of them.
     */
    literals: {
      /** The text itself, without escapes. */
      text: string;
      /** The number of pages that contain every gram of the text. */
      pages: number;
      /** The grams of the text, rarest first. */
      grams: {
        /** The three bytes of the gram, folded, as text. */
        gram: string;
        /** The number of pages that contain the gram. */
        pages: number;
      }[];
    }[];
    /** The number of pages to scan. */
    candidatePages: number;
    /** The number of files that may match. */
    candidateFiles: number;
    /**
     * The number of files that may match, but whose symbols have not been extracted yet. The next index() extracts
     * them. Absent if there are no such files.
     */
    filesWithoutSymbols?: number;
    /**
     * The operands of the query that each exclude every file. If no single operand excludes every file, a set of
     * operands that do so together. This set is minimal unless the query has very many operands. Present for
     * 'skipped-by-filter'.
     */
    excludedBy?: {
      /** The operand, as a query of its own. */
      query: string;
      /** The number of files that may match the operand alone. */
      candidateFiles: number;
      /** The operand's literals that occur on no page. */
      literals: string[];
    }[];
  }[];
  /** The counters of the search that was run. */
  stats: SearchStats;
  /**
   * Hints about words in the query that have a special meaning in other search engines. The query itself is not
   * changed.
   */
  hints: {
    /** The UTF-16 position in the given query. */
    position: number;
    /** The word at that position. */
    word: string;
    /** A message for people: what the word means here, and what to write instead. */
    message: string;
    /** The corrected query. */
    query?: string;
  }[];
  /**
   * Changed requests that were tried and find something, best first. Empty if the search itself has found something.
   */
  suggestions: {
    /** What is changed in the request. There is only one change. */
    change: "ignore-case" | "literal" | "regex" | "all-revisions" | "drop-filter" | "language";
    /** The changed request. */
    request: SearchRequest;
    /** The number of ranges that the changed request finds. */
    totalMatchCount: number;
  }[];
  /**
   * Repositories that the query names, if they are unknown, are being indexed, or contain skipped files that pass the
   * filters.
   */
  notIndexed: {
    /** The repository's name. For an unknown repository, the name in the query. */
    repository: string;
    /**
     * 'unknown' means that the repository does not exist, or that the viewer may not see it. 'indexing' means that it
     * is being indexed for the first time. 'files-skipped' means that it contains skipped files that pass the
     * filters.
     */
    reason: "unknown" | "indexing" | "files-skipped";
    /** The number of skipped files that pass the filters. Present for 'files-skipped'. */
    files?: number;
  }[];
}
