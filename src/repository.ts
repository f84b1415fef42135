/** Defines the public types of repositories, files and folders. */

import type { HistoryLimits } from "./ingest/sources/source.ts";
import type { CatalogRepository } from "./store/catalog/catalog.ts";
import type {
  CodeHostType,
  Origin,
  RepositoryMetadata,
  SkippedFile,
} from "./store/format/records.ts";

/**
 * An indexed repository.
 *
 * @example
 * for (const { name, revisions, contentBytes } of await engine.repositories())
 *   console.log(name, revisions[0]?.commit, contentBytes);
 */
export interface Repository extends Required<
  Pick<RepositoryMetadata, "codeHostType" | "archived" | "fork" | "public" | "rank">
> {
  /** An id that never changes and is never reused. */
  id: number;
  /** The name of the repository, as its source states it. */
  name: string;
  /** The kind of code host. It is 'genericGitHost' if the source does not state another kind. */
  codeHostType: CodeHostType;
  /** A name to show to people, if the source states one. */
  displayName?: string;
  /** The folder from which the repository was indexed, if the source states it. Never sent over HTTP. */
  origin?: Origin;
  /** The limits of the indexed history. Absent if no history is indexed. Never sent over HTTP. */
  history?: HistoryLimits;
  /** The address of the repository's page on its code host, if the source states it. */
  webUrl?: string;
  /** The indexed revisions. The first one is the default revision. */
  revisions: {
    /** The name that `rev:` matches. */
    name: string;
    /** The full commit id, if there is one. */
    commit?: string;
    /** The number of files that can be found by path, including binary files. */
    files: number;
    /** Whether queries without `rev:` search this revision. */
    isDefault: boolean;
  }[];
  /** The state is 'indexing' while this process indexes the repository for the first time. Otherwise it is 'ready'. */
  state: "ready" | "indexing";
  /** The progress of the extraction of symbols. */
  symbols: {
    /** The number of files whose symbols are known. A file that is known to have no symbols counts, too. */
    done: number;
    /** The number of all files in the revisions. */
    total: number;
  };
  /** The time when the current state of the repository was published. */
  indexedAt: Date;
  /** The time of the default revision's commit, if the source states it. */
  pushedAt?: Date;
  /** The size of all files in the revisions, in bytes. A file that several revisions share counts once. */
  contentBytes: number;
  /** The files that are listed, but whose content is not searchable. */
  skipped: SkippedFile[];
}

/**
 * A file as it was indexed.
 *
 * @example
 * const file = await engine.read({ repository: "shop", path: "src/cart.ts", revision: "v2.0" });
 * console.log(file?.language, file?.bytes.length);
 */
export interface FileContent {
  /** The name of the repository. */
  repository: string;
  /** The path from the repository's root, with '/' between folders. */
  path: string;
  /** The name of the revision from which the file was read. */
  revision: string;
  /** The language's name in GitHub Linguist, or "" if it is unknown. */
  language: string;
  /** The content as text. Invalid UTF-8 is replaced by U+FFFD. */
  content: string;
  /** The content as it is stored in the index. A UTF-16 file is stored as UTF-8. The caller may change these bytes. */
  bytes: Uint8Array;
  /** The address at which this host shows the file, as OpenOptions.webUrl returns it. */
  webUrl: string;
  /** The address of the file on its code host, if known. */
  externalWebUrl?: string;
}

/**
 * A direct child of a folder.
 *
 * @example
 * const entries = await engine.list({ repository: "shop", path: "src" });
 * const folders = entries?.filter(({ type }) => type === "folder").map(({ name }) => name);
 */
export interface FolderEntry {
  /** Whether the entry is a file or a folder. Folders that contain no files are not listed. */
  type: "file" | "folder";
  /** The last part of the path. */
  name: string;
  /** The path from the repository's root, with '/' between folders, but not at the end. */
  path: string;
}

/** Returns the fields of a repository that come from its record. */
export function describe(
  { record }: CatalogRepository,
  isIndexing: boolean,
): Omit<Repository, "skipped" | "symbols"> {
  const { id, name, metadata, origin, revisions, indexedAt, contentBytes } = record;
  const { codeHostType = "genericGitHost", archived = false, fork = false, rank = 0.5 } = metadata;
  const { displayName, webUrl } = metadata;
  const { since, commits } = record.history ?? {};
  const pushedAt = revisions[0]!.committedAt;
  return {
    id,
    name,
    codeHostType,
    archived,
    fork,
    public: metadata.public ?? false,
    rank,
    ...(displayName === undefined ? {} : { displayName }),
    ...(webUrl === undefined ? {} : { webUrl }),
    ...(origin === undefined ? {} : { origin }),
    ...(record.history && {
      history: { ...(since !== undefined && { since }), ...(commits !== undefined && { commits }) },
    }),
    revisions: revisions.map(({ name, commit, files }, i) => ({
      name,
      ...(commit === undefined ? {} : { commit }),
      files,
      isDefault: i === 0,
    })),
    state: isIndexing ? "indexing" : "ready",
    indexedAt: new Date(indexedAt),
    ...(pushedAt === undefined ? {} : { pushedAt: new Date(pushedAt) }),
    contentBytes,
  };
}
