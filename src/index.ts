/** The main entry point of the package, `quern`. Everything that it exports is public. */

export { QuernError, type ErrorCode } from "./base/errors.ts";
export {
  type Engine,
  type IndexOptions,
  type OpenOptions,
  type ReadOptions,
  type RepositoriesOptions,
} from "./engine.ts";
export { open } from "./opened-engine.ts";
export { directory, type DirectoryOptions } from "./ingest/sources/directory.ts";
export {
  documents,
  type Document,
  type DocumentsOptions,
  type RemovedDocument,
} from "./ingest/sources/documents.ts";
export { git, remoteOf, type GitOptions } from "./ingest/sources/git.ts";
export type {
  FileWithoutSymbols,
  HistoryReport,
  IndexProgress,
  IndexReport,
} from "./ingest/run/report.ts";
export type {
  Content,
  Entry,
  FileEntry,
  FolderRules,
  HistoryLimits,
  Indexed,
  ListedRevision,
  Listing,
  ListingOptions,
  RemovedEntry,
  SkippedEntry,
  Source,
  SourceOrigin,
  WalkedFolder,
} from "./ingest/sources/source.ts";
export type { CompactReport } from "./ingest/writes.ts";
export type { FileContent, FolderEntry, Repository } from "./repository.ts";
export type {
  Author,
  AuthorsOptions,
  Blame,
  BlamedCommit,
  Commit,
  CommitsOptions,
  DiffOptions,
  FileDiff,
  FileOptions,
  FoldersOptions,
  History,
  HistoryEntry,
  LineRange,
  RevisionOptions,
} from "./history/history.ts";
export type { WebUrl } from "./search/caller/present.ts";
export type {
  OverlayDocument,
  SearchOptions,
  SearchRequest,
  Viewer,
} from "./search/messages/request.ts";
export type {
  Chunk,
  Explanation,
  Facet,
  Facets,
  FileResult,
  Position,
  Range,
  RepositoryInfo,
  ResultCommit,
  ResultSymbol,
  SearchEvent,
  SearchResponse,
} from "./search/messages/response.ts";
export type {
  FindMissing,
  FindOptions,
  FindReason,
  FindRequest,
  FindResponse,
  FindWord,
  FoundPlace,
  PlaceLines,
} from "./find/request.ts";
export type { AlternativeReason } from "./find/question.ts";
export type {
  CallersOptions,
  Certainty,
  NavigationAnswer,
  NavigationCaller,
  NavigationEvent,
  NavigationOptions,
  NavigationPlace,
  NavigationTarget,
  NavigationUse,
} from "./navigation/request.ts";
export type { FlushReason, SearchStats } from "./search/messages/stats.ts";
export type { Contexts } from "./search/caller/understand.ts";
export type { BackupOptions, BackupProgress, BackupReport } from "./store/upkeep/backup.ts";
export type { CheckProblem, CheckReport } from "./store/upkeep/check.ts";
export type {
  CodeHostType,
  Origin,
  RepositoryMetadata,
  SkippedFile,
  SkipReason,
} from "./store/format/records.ts";
export type { SymbolKind } from "./store/symbols/symbol-kinds.ts";
export type { IndexTrace, SearchTrace } from "./tracing.ts";
export { watch, type WatchOptions } from "./watch.ts";
export type { Workspace, WorkspaceOptions, WorkspaceResponse } from "./workspace/workspace.ts";
