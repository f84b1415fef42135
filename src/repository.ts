/** What a host is shown of a repository: what is known of it, its files and its folders. */

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
  /** An id that never changes, and is never given to another repository. */
  id: number;
  /** As the source gave it. */
  name: string;
  /** 'genericGitHost' where the source said nothing. */
  codeHostType: CodeHostType;
  /** For people. */
  displayName?: string;
  /** Where it was indexed from, where its source said so. Never told over HTTP. */
  origin?: Origin;
  /** Its page on its code host. */
  webUrl?: string;
  /** The first is the default one. */
  revisions: {
    /** As `rev:` finds it. */
    name: string;
    /** Full id, where there is one. */
    commit?: string;
    /** Files that are found by path, binary ones too. */
    files: number;
    /** Whether it is searched where a query has no `rev:`. */
    isDefault: boolean;
  }[];
  /** 'indexing' while an index run of this process is at it for the first time. */
  state: "ready" | "indexing";
  /** How far `sym:` sees. */
  symbols: {
    /** Files whose symbols are known; that there are none is known too. */
    done: number;
    /** Files that revisions name. */
    total: number;
  };
  /** When its last state was published. */
  indexedAt: Date;
  /** Commit time of the default revision, where the source knows it. */
  pushedAt?: Date;
  /** Bytes of the content of its files, each file once. */
  contentBytes: number;
  /** Files that are listed and whose content is not searchable. */
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
  /** The name of its repository. */
  repository: string;
  /** With '/' between folders, relative to the repository's root. */
  path: string;
  /** The one that was asked for, or the default one. */
  revision: string;
  /** The linguist name, or "" when unknown. */
  language: string;
  /** The bytes as text; what is not valid UTF-8 is U+FFFD. */
  content: string;
  /** As stored: UTF-16 files are UTF-8 here. The caller's own. */
  bytes: Uint8Array;
  /** Where this host shows it: OpenOptions.webUrl. */
  webUrl: string;
  /** Where its code host shows it, where that is known. */
  externalWebUrl?: string;
}

/**
 * What is directly in a folder.
 *
 * @example
 * const entries = await engine.list({ repository: "shop", path: "src" });
 * const folders = entries?.filter(({ type }) => type === "folder").map(({ name }) => name);
 */
export interface FolderEntry {
  /** There are no empty folders. */
  type: "file" | "folder";
  /** The last part of the path. */
  name: string;
  /** From the repository's root, with '/' between folders and none at the end. */
  path: string;
}

/** What its record says of it. */
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
