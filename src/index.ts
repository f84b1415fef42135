/** quern: the public API, all of it. */

export { QuernError, type ErrorCode } from "./base/errors.ts";
export { open, type Engine, type IndexOptions, type OpenOptions } from "./engine.ts";
export { directory, type DirectoryOptions } from "./ingest/directory.ts";
export {
  documents,
  type Document,
  type DocumentsOptions,
  type RemovedDocument,
} from "./ingest/documents.ts";
export { git, type GitOptions } from "./ingest/git.ts";
export type { FileWithoutSymbols, IndexProgress, IndexReport } from "./ingest/run.ts";
export type {
  Content,
  Entry,
  FileEntry,
  Indexed,
  ListedRevision,
  Listing,
  ListingOptions,
  RemovedEntry,
  SkippedEntry,
  Source,
} from "./ingest/source.ts";
export type { CompactReport } from "./ingest/writes.ts";
export type { FileContent, FolderEntry, Repository } from "./repository.ts";
export type { WebUrl } from "./search/present.ts";
export type { SearchOptions, SearchRequest, Viewer } from "./search/request.ts";
export type {
  Chunk,
  Explanation,
  FileResult,
  Position,
  Range,
  RepositoryInfo,
  ResultSymbol,
  SearchEvent,
  SearchResponse,
} from "./search/response.ts";
export type { FlushReason, SearchStats } from "./search/stats.ts";
export type { Contexts } from "./search/understand.ts";
export type { CheckProblem, CheckReport } from "./store/check.ts";
export type { CodeHostType, RepositoryMetadata, SkippedFile, SkipReason } from "./store/records.ts";
export type { SymbolKind } from "./store/symbol-kinds.ts";
