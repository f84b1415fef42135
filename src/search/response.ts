/** The response of a search, as the specification names its fields. Ranges end exclusive. */

import type { CodeHostType } from "../store/records.ts";
import type { SymbolKind } from "../store/symbol-kinds.ts";
import type { SearchRequest } from "./request.ts";
import type { SearchStats } from "./stats.ts";

export interface Position {
  /** 0-based, in the file's UTF-8 bytes (in the path's, for file names). */
  byteOffset: number;
  /** 1-based; a newline belongs to the line it ends. */
  lineNumber: number;
  /** 1-based, in code points from the start of the line. */
  column: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface ResultSymbol {
  symbol: string;
  kind: SymbolKind;
  /** The definition it stands in. */
  parent?: { symbol: string; kind: SymbolKind };
}

export interface Chunk {
  /** Whole lines (or windows of very long ones) that hold the matches and their context. */
  content: string;
  matchRanges: Range[];
  contentStart: Position;
  /** One for each range inside the name of a definition, in the order of the ranges. */
  symbols?: ResultSymbol[];
}

export interface FileResult {
  fileName: { text: string; matchRanges: Range[] };
  webUrl: string;
  externalWebUrl?: string;
  repository: string;
  repositoryId: number;
  /** The linguist name, or "" when unknown. */
  language: string;
  chunks: Chunk[];
  branches?: string[];
  /** The whole file, where the request asked for it. */
  content?: string;
}

export interface RepositoryInfo {
  id: number;
  codeHostType: CodeHostType;
  name: string;
  displayName?: string;
  webUrl?: string;
}

export interface SearchResponse {
  stats: SearchStats;
  files: FileResult[];
  repositoryInfo: RepositoryInfo[];
  /** True if and only if every match is in this response. */
  isSearchExhaustive: boolean;
}

export type SearchEvent =
  | { type: "chunk"; stats: SearchStats; files: FileResult[]; repositoryInfo: RepositoryInfo[] }
  | { type: "final"; accumulatedStats: SearchStats; isSearchExhaustive: boolean };

export interface Explanation {
  /** The canonical form of the query as understood. */
  query: string;
  segments: {
    id: number;
    outcome: "scanned" | "skipped-by-filter" | "damaged" | "not-reached";
    /** Each literal's grams with the length of its list, rarest first. */
    literals: { text: string; pages: number; grams: { gram: string; pages: number }[] }[];
    candidatePages: number;
    candidateFiles: number;
  }[];
  stats: SearchStats;
  /** Only when nothing was found: changes of the request that, tried, find something; best first. */
  suggestions: {
    change: "ignore-case" | "literal" | "regex" | "all-revisions" | "drop-filter" | "language";
    request: SearchRequest;
    totalMatchCount: number;
  }[];
  /** Repositories the query names that are unknown, being indexed, or hold skipped files the filters admit. */
  notIndexed: {
    repository: string;
    reason: "unknown" | "indexing" | "files-skipped";
    files?: number;
  }[];
}
