/** The response of a search, as the specification names its fields. Ranges end exclusive. */

import type { CodeHostType } from "../../store/format/records.ts";
import type { SymbolKind } from "../../store/symbols/symbol-kinds.ts";
import type { SearchRequest } from "./request.ts";
import type { SearchStats } from "./stats.ts";

/**
 * A place in a file.
 *
 * @example
 * const show = ({ lineNumber, column }: Position): string => `${lineNumber}:${column}`;
 */
export interface Position {
  /** 0-based, in the file's UTF-8 bytes (in the path's, for file names). */
  byteOffset: number;
  /** 1-based; a newline belongs to the line it ends. */
  lineNumber: number;
  /** 1-based, in code points from the start of the line. */
  column: number;
}

/**
 * A stretch of a file. Where a match is empty, start and end are equal.
 *
 * @example
 * const length = ({ start, end }: Range): number => end.byteOffset - start.byteOffset;
 */
export interface Range {
  /** Of its first byte. */
  start: Position;
  /** Behind its last byte. */
  end: Position;
}

/**
 * A definition that a match stands in the name of.
 *
 * @example
 * const show = ({ kind, symbol, parent }: ResultSymbol): string =>
 *   `${kind} ${parent ? `${parent.symbol}.` : ""}${symbol}`;
 */
export interface ResultSymbol {
  /** Its name. Of one of more than 256 bytes the beginning, and an ellipsis. */
  symbol: string;
  /** What it defines. */
  kind: SymbolKind;
  /** The definition it stands in. */
  parent?: {
    /** Its name. */
    symbol: string;
    /** What it defines. */
    kind: SymbolKind;
  };
}

/**
 * Some lines of a file, one after another, with the matches in them.
 *
 * @example
 * const lines = ({ content, contentStart }: Chunk): string[] =>
 *   content.trimEnd().split("\n").map((line, i) => `${contentStart.lineNumber + i}: ${line}`);
 */
export interface Chunk {
  /** Whole lines (or windows of very long ones) that hold the matches and their context. */
  content: string;
  /** Positions are the file's, not the chunk's. */
  matchRanges: Range[];
  /** Where `content` begins. */
  contentStart: Position;
  /** One for each range inside the name of a definition, in the order of the ranges. */
  symbols?: ResultSymbol[];
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
  /** Its path, and what matches in it. */
  fileName: {
    /** With '/' between folders, relative to the repository's root. */
    text: string;
    /** Those of `file:`, whether or not content matched. */
    matchRanges: Range[];
  };
  /** Where this host shows it: OpenOptions.webUrl. */
  webUrl: string;
  /** Where its code host shows it, where that is known. */
  externalWebUrl?: string;
  /** The name of its repository. */
  repository: string;
  /** The id of its repository. */
  repositoryId: number;
  /** The linguist name, or "" when unknown. */
  language: string;
  /** In the order of the file; the best first where `matchesPerFile` is given. Empty where only the path matches. */
  chunks: Chunk[];
  /** The searched revisions that have it. */
  branches?: string[];
  /** The whole file, where the request asked for it. */
  content?: string;
}

/**
 * A repository of which files are in the response.
 *
 * @example
 * const { repositoryInfo } = await engine.search({ query: "todo", matches: 10 });
 * const names = new Map(repositoryInfo.map(({ id, name, displayName }) => [id, displayName ?? name]));
 */
export interface RepositoryInfo {
  /** The id that files of it carry as repositoryId. */
  id: number;
  /** 'genericGitHost' where the source said nothing. */
  codeHostType: CodeHostType;
  /** FileResult.repository. */
  name: string;
  /** For people. */
  displayName?: string;
  /** Its page on its code host. */
  webUrl?: string;
}

/**
 * How many of the files that match have each value of something, the most frequent first.
 *
 * @example
 * const show = ({ values }: Facet): string =>
 *   values.map(({ value, fileCount }) => `${value} (${fileCount})`).join(", ");
 */
export interface Facet {
  /** As many as the request asked for, by the number of files, then by name. */
  values: {
    /** A repository's name, a language's linguist name, or a folder's path. */
    value: string;
    /** Files that match and have it. */
    fileCount: number;
  }[];
  /** How many values there are besides those listed. */
  more: number;
}

/**
 * What would narrow a search, with exact counts: those of a search with that filter.
 *
 * @example
 * const { facets } = await engine.search({ query: "todo", matches: 10, facets: 5 });
 * for (const { value, fileCount } of facets!.languages.values) console.log(value, fileCount);
 */
export interface Facets {
  /** Of all files. */
  repositories: Facet;
  /** Of those whose language is known. */
  languages: Facet;
  /** The first folder and the first two of each path, where all files are of one repository; else empty. */
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
  /** Counts are exact, whatever `matches` is, unless the search was stopped or met damage. */
  stats: SearchStats;
  /** The best first: see docs/ranking.md. */
  files: FileResult[];
  /** Of the files in this response. */
  repositoryInfo: RepositoryInfo[];
  /** True if and only if every match is in this response; false too where `sym:` asks of files whose symbols are not known yet. */
  isSearchExhaustive: boolean;
  /** Only where the request asked for them. Of the whole answer, whatever page this is. */
  facets?: Facets;
  /** Asks for the next page. Only where `after` was given and there is more. */
  nextCursor?: string;
  /** Only where `after` was a cursor, and what the viewer may see has changed since the page that it came from. */
  indexChanged?: true;
}

/**
 * What a stream yields: chunks as they are found, then one 'final'.
 *
 * @example
 * for await (const event of engine.stream({ query: "todo", matches: 100 }))
 *   if (event.type === "chunk") console.log(event.files.length);
 *   else console.log(event.accumulatedStats.totalMatchCount);
 */
export type SearchEvent =
  | {
      /** Some files more. */
      type: "chunk";
      /** What this chunk adds to the counters. */
      stats: SearchStats;
      /** In the order in which they were found. */
      files: FileResult[];
      /** Of the files in this chunk. */
      repositoryInfo: RepositoryInfo[];
    }
  | {
      /** The search is over. */
      type: "final";
      /** Of the whole search. */
      accumulatedStats: SearchStats;
      /** True if and only if every match was in a chunk. */
      isSearchExhaustive: boolean;
    };

/**
 * How a query was understood and planned, and what would find more.
 *
 * @example
 * const { query, suggestions } = await engine.explain({ query: "Retry lang:goo", matches: 10 });
 * console.log(query, suggestions[0]?.request.query);
 */
export interface Explanation {
  /** The canonical form of the query as understood. */
  query: string;
  /** Counts are of what is in scope: the repositories and revisions that are searched. A page is 8 KiB of text at most. */
  segments: {
    /** Id of the segment, as problems of check() name it. */
    id: number;
    /** 'skipped-by-filter': no candidate file. 'damaged': its evaluation failed. 'not-reached': time ran out, or the search was stopped. */
    outcome: "scanned" | "skipped-by-filter" | "damaged" | "not-reached";
    /** Texts that the query's terms cannot match without. */
    literals: {
      /** The text itself, without escapes. */
      text: string;
      /** Pages that hold every gram of it. */
      pages: number;
      /** The rarest first. */
      grams: {
        /** Three bytes, folded, as text. */
        gram: string;
        /** Pages that hold it. */
        pages: number;
      }[];
    }[];
    /** Pages to scan. */
    candidatePages: number;
    /** Files that may match. */
    candidateFiles: number;
    /** Only where there are some: files that match or do not by symbols that are not known yet. The next index() finds them. */
    filesWithoutSymbols?: number;
    /**
     * Only for 'skipped-by-filter': operands of the query (what must all hold of a file) that leave no
     * file. Each leaves none by itself; where none does, they leave none together, and each is needed for that.
     */
    excludedBy?: {
      /** The operand, as a query of its own. */
      query: string;
      /** Files that may match the operand alone. */
      candidateFiles: number;
      /** Those of `literals` in it that no page holds. */
      literals: string[];
    }[];
  }[];
  /** Of the search that was run for it. */
  stats: SearchStats;
  /** What was probably meant, where the query holds words of other search engines; nothing is understood otherwise. */
  hints: {
    /** UTF-16 position in the query that was given. */
    position: number;
    /** What stands there. */
    word: string;
    /** For people: what it means here, and what to write. */
    message: string;
    /** The query with that written instead. */
    query?: string;
  }[];
  /** Only when nothing was found: changes of the request that, tried, find something; best first. */
  suggestions: {
    /** What is changed: one thing. */
    change: "ignore-case" | "literal" | "regex" | "all-revisions" | "drop-filter" | "language";
    /** The changed request, to search again with. */
    request: SearchRequest;
    /** Ranges that it finds in the index. */
    totalMatchCount: number;
  }[];
  /** Repositories the query names that are unknown, being indexed, or hold skipped files the filters admit. */
  notIndexed: {
    /** Its name, as the query has it or selects it. */
    repository: string;
    /** 'unknown': there is none, or the viewer may not see it. 'indexing': for the first time. */
    reason: "unknown" | "indexing" | "files-skipped";
    /** Skipped files that the filters admit, for 'files-skipped'. */
    files?: number;
  }[];
}
