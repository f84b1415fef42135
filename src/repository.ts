/** Defines a repository, its files and its folders as hosts see them. */

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
  /** The name that the source gave. */
  name: string;
  /** The kind of code host; 'genericGitHost' unless the source gave one. */
  codeHostType: CodeHostType;
  /** A name for people. */
  displayName?: string;
  /** The place from which the repository was indexed, if its source names it. Never sent over HTTP. */
  origin?: Origin;
  /** The repository's page on its code host. */
  webUrl?: string;
  /** The indexed revisions, the default one first. */
  revisions: {
    /** The name that `rev:` matches. */
    name: string;
    /** The full commit id, if there is one. */
    commit?: string;
    /** Files that can be found by path, including binary ones. */
    files: number;
    /** Whether queries without `rev:` search this revision. */
    isDefault: boolean;
  }[];
  /** 'indexing' while this process indexes the repository for the first time. */
  state: "ready" | "indexing";
  /** The number of files with known symbols. */
  symbols: {
    /** Files whose symbols are known, including files without any. */
    done: number;
    /** The number of all files of the revisions. */
    total: number;
  };
  /** When the repository's current state was published. */
  indexedAt: Date;
  /** The commit time of the default revision, if the source knows it. */
  pushedAt?: Date;
  /** Bytes of content, counting each file once. */
  contentBytes: number;
  /** Files that are listed but whose content is not searchable. */
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
  /** The requested revision, or the default one. */
  revision: string;
  /** The language's name in GitHub Linguist, or "" if it is unknown. */
  language: string;
  /** The content as text; invalid UTF-8 becomes U+FFFD. */
  content: string;
  /** The content as stored: UTF-16 files are converted to UTF-8. The caller may change these bytes. */
  bytes: Uint8Array;
  /** The address at which this host shows the file, see OpenOptions.webUrl. */
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
  /** Whether it is a file or a folder. Empty folders are not listed. */
  type: "file" | "folder";
  /** The last part of the path. */
  name: string;
  /** The path from the repository's root, with '/' between folders and none at the end. */
  path: string;
}

/** Describes a repository by its record. */
export function describe(
  { record }: CatalogRepository,
  isIndexing: boolean,
): Omit<Repository, "skipped" | "symbols"> {
  const { id, name, metadata, origin, revisions, indexedAt, contentBytes } = record;
  const { codeHostType = "genericGitHost", archived = false, fork = false, rank = 0.5 } = metadata;
  const { displayName, webUrl } = metadata;
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

/**
 * The key of a method of an open engine that lists the paths of all files of a revision, unordered. With list() alone,
 * quern/http would need one call for each folder on the way to a path. Not part of the public interface: quern/http
 * uses it.
 */
export const ALL_PATHS = Symbol.for("quern.paths");

export interface KnowsPaths {
  [ALL_PATHS](
    revision: { repository: string; revision?: string },
    options: { viewer?: { repositoryIds: ReadonlySet<number> } },
  ): Promise<string[] | undefined>;
}
