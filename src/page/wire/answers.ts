/**
 * Defines the fields that the page reads in the answers of the server's routes. Other fields are ignored, and fields
 * that a later version might leave out are optional. So the page also works with a server of the next version. A test
 * compares these types with those of the library.
 */

export interface Position {
  /** The number of the line, from 1. */
  lineNumber: number;
  /** The column in code points, from 1. */
  column: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Chunk {
  content: string;
  contentStart: Position;
  matchRanges: Range[];
  symbols?: { symbol: string; kind: string; parent?: { symbol: string; kind: string } }[];
  /** The side of a change: "added" or "removed". */
  side?: string;
}

/** The commit of a change, or the commit whose message matches. */
export interface ResultCommit {
  hash: string;
  parents: string[];
  authorName: string;
  date: string;
  message: string;
}

export interface FileResult {
  fileName: { text: string; matchRanges: Range[] };
  repository: string;
  language: string;
  chunks: Chunk[];
  branches?: string[];
  externalWebUrl?: string;
  /** Set for queries of the history. */
  commit?: ResultCommit;
}

/** The counters that the page shows. */
export interface Stats {
  totalMatchCount: number;
  fileCount: number;
  /** The time that the search took, in nanoseconds. */
  duration: number;
  /** Above 0 if the search timed out. */
  shardsSkipped?: number;
  /** Above 0 if the index is damaged. */
  crashes?: number;
  /** The number of files for which the search cannot tell whether they match. */
  filesSkipped?: number;
}

export interface Facet {
  values: { value: string; fileCount: number }[];
  /** The number of values that are not listed. */
  more: number;
}

/** The counts of all matching files, including those that are not in the answer. */
export interface Facets {
  repositories: Facet;
  languages: Facet;
  /** Counts by folder. Empty if the files are in several repositories. */
  folders: Facet;
}

export interface SearchAnswer {
  stats: Stats;
  files: FileResult[];
  /** Counts of the matching files, if they were requested. */
  facets?: Facets;
  isSearchExhaustive: boolean;
  nextCursor?: string;
}

export interface SearchRequest {
  query: string;
  matches: number;
  contextLines?: number;
  isRegexEnabled?: boolean;
  isCaseSensitivityEnabled?: boolean;
  matchesPerFile?: number;
  facets?: number;
  after?: string;
}

export type StreamEvent =
  | { type: "chunk"; files: FileResult[] }
  | { type: "final" }
  | { type: "error"; error: { message: string } };

export interface Explanation {
  query: string;
  /** Words of other search engines, and the corrected queries. Absent from older servers. */
  hints?: { message: string; query?: string }[];
  suggestions: { change: string; request: SearchRequest; totalMatchCount: number }[];
  notIndexed: { repository: string; reason: string; files?: number }[];
}

export interface FindRequest {
  text: string;
  query?: string;
  places?: number;
  after?: string;
}

/** A place that a question describes. */
export interface DescribedPlace {
  repository: string;
  path: string;
  revision?: string;
  language: string;
  definition?: { name: string; kind: string; parent?: { name: string } };
  lines: { from: number; to: number };
  chunk: { content: string; contentStart: Position };
  others?: { from: number; to: number }[];
  reasons: { what: string; detail: string; weight: number }[];
}

export interface FindAnswer {
  /** Best first, at most one of each file. */
  places: DescribedPlace[];
  unknownWords?: string[];
  nextCursor?: string;
  /** Why some files were not scored. Empty if all were. */
  missing?: string[];
}

export interface Repository {
  repoName: string;
  repoDisplayName?: string;
  codeHostType?: string;
  externalWebUrl?: string;
  indexedAt?: string;
  pushedAt?: string;
  defaultBranch?: string;
  isFork: boolean;
  isArchived: boolean;
}

export interface Revision {
  name: string;
  commit?: string;
  isDefault: boolean;
}

export interface Source {
  source: string;
  language: string;
  path: string;
  repo: string;
  externalWebUrl?: string;
}

export interface TreeNode {
  type: string;
  path: string;
  name: string;
  children: TreeNode[];
}

export type Certainty = "resolved" | "likely" | "possible";

export interface SymbolMatch {
  lineContent: string;
  /** The position at which lineContent begins, if that is not the start of the line. */
  lineContentStart?: Position;
  range: Range;
  /** How certain it is that the match means the symbol. Absent if the request had no place. */
  certainty?: string;
  /** What the match does with the symbol, such as "call". */
  use?: string;
  /** The reason for the certainty. */
  why?: string;
}

export interface SymbolFile {
  fileName: string;
  repository: string;
  language: string;
  matches: SymbolMatch[];
}

export interface SymbolAnswer {
  stats: { matchCount: number };
  isSearchExhaustive: boolean;
  files: SymbolFile[];
  /** The definitions of the symbol. Absent if the request had no place, or if the language has no rules. */
  targets?: SymbolFile[];
  counts?: Record<Certainty, number>;
  leftOut?: { otherDeclarations: number; comments: number; strings: number };
  nextCursor?: string;
}

export interface Commit {
  hash: string;
  date: string;
  message: string;
  body: string;
  authorName: string;
}

export interface Hunk {
  oldRange: { start: number };
  newRange: { start: number };
  body: string;
}

export interface Diff {
  oldPath: string | null;
  newPath: string | null;
  hunks: Hunk[];
}

export interface Blame {
  ranges: { hash: string; startLine: number; lineCount: number }[];
  commits: Record<string, { date: string; message: string; authorName: string }>;
}
