/** One opened data directory: what a host holds. open() wires store, ingest and search and owns their lifetimes. */

import type { Source } from "./ingest/source.ts";
import type { SearchOptions, SearchRequest, Viewer } from "./search/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "./search/response.ts";
import type { CodeHostType, RepositoryMetadata, SkippedFile } from "./store/records.ts";

export interface Engine extends AsyncDisposable {
  readonly path: string;
  /** One source, or many: many share segments; each repository is published in its own transaction. Waits for its turn in this process. */
  index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options?: IndexOptions,
  ): Promise<IndexReport[]>;
  search(request: SearchRequest, options?: SearchOptions): Promise<SearchResponse>;
  stream(request: SearchRequest, options?: SearchOptions): AsyncIterable<SearchEvent>;
  explain(request: SearchRequest, options?: SearchOptions): Promise<Explanation>;
  repositories(options?: { viewer?: Viewer }): Promise<Repository[]>;
  /** undefined: not there, or not visible: the same answer. revision absent: the default one. */
  read(
    file: { repository: string; path: string; revision?: string },
    options?: { viewer?: Viewer },
  ): Promise<FileContent | undefined>;
  /** Direct children of folders, for trees; '' is the root. undefined as in read(). */
  list(
    folder: { repository: string; path: string; revision?: string },
    options?: { viewer?: Viewer },
  ): Promise<FolderEntry[] | undefined>;
  /** Resolves to whether there was such a repository. */
  remove(repository: string): Promise<boolean>;
  /** Merges all it can, then waits until what was merged away may be deleted (no search of this process holds it; 10 s for others) and deletes it. */
  compact(options?: {
    signal?: AbortSignal;
    onProgress?: (progress: IndexProgress) => void;
  }): Promise<CompactReport>;
  check(options?: { signal?: AbortSignal }): Promise<CheckReport>;
  /** Running searches reject with ENGINE_CLOSED, a running index stops as if aborted. Idempotent. */
  close(): Promise<void>;
}

export interface IndexOptions {
  signal?: AbortSignal;
  onProgress?: (progress: IndexProgress) => void;
  /** 'after' (default): content is searchable first, symbols follow before index() resolves. 'skip': no symbols. */
  symbols?: "after" | "skip";
}

export interface IndexProgress {
  repository: string;
  stage: "list" | "content" | "symbols" | "publish" | "merge";
  done: number;
  total: number;
  bytes: number;
  totalBytes: number;
}

export interface IndexReport {
  repositoryId: number;
  repository: string;
  revisions: { name: string; commit?: string; files: number }[];
  /** Files (path and content) that were not there before. */
  added: number;
  removed: number;
  unchanged: number;
  skipped: SkippedFile[];
  bytesRead: number;
  symbols: number;
  durationMs: number;
}

export interface Repository extends Required<
  Pick<RepositoryMetadata, "codeHostType" | "archived" | "fork" | "public" | "rank">
> {
  id: number;
  name: string;
  codeHostType: CodeHostType;
  displayName?: string;
  webUrl?: string;
  revisions: { name: string; commit?: string; files: number; isDefault: boolean }[];
  state: "ready" | "indexing";
  /** Files whose symbols are there, of those that can have some. */
  symbols: { done: number; total: number };
  indexedAt: Date;
  /** Commit time of the default revision, where the source knows it. */
  pushedAt?: Date;
  contentBytes: number;
  skipped: SkippedFile[];
}

export interface FileContent {
  repository: string;
  path: string;
  revision: string;
  language: string;
  content: string;
  bytes: Uint8Array;
  webUrl: string;
  externalWebUrl?: string;
}

export interface FolderEntry {
  type: "file" | "folder";
  name: string;
  path: string;
}

export interface CompactReport {
  segmentsBefore: number;
  segmentsAfter: number;
  bytesFreed: number;
  durationMs: number;
}

export interface CheckReport {
  ok: boolean;
  segments: number;
  files: number;
  bytes: number;
  problems: { segment?: number; repository?: string; message: string }[];
}
