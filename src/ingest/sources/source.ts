/**
 * Defines sources. A source lists the current content of a repository, entry by entry, and says how to get the
 * content of each entry. It does not read content that the index already has. The sources of this library and those
 * of a host implement the same interface.
 *
 * A run opens a source with the indexed state, reads all its entries, and closes it, even after a failure.
 */

import type { RepositoryMetadata, SkipReason } from "../../store/format/records.ts";

/**
 * A repository to index: made by git(), directory() or documents(), or implemented by the host.
 *
 * @example
 * const files: FileEntry[] = [
 *   { kind: "file", path: "a.md", revisions: [0], content: { read: () => fetchBytes("a.md") } },
 * ];
 * const source: Source = {
 *   name: "wiki",
 *   metadata: { public: true },
 *   open: async () => ({
 *     revisions: [{ name: "HEAD" }],
 *     entries: async function* () {
 *       yield files;
 *     },
 *     close: async () => {},
 *   }),
 * };
 * declare function fetchBytes(path: string): Promise<Uint8Array>;
 */
export interface Source {
  /** The repository's name, which identifies it from run to run. It must not be empty or have control characters. */
  readonly name: string;
  /** Properties of the repository, such as its display name. They replace those of earlier runs. */
  readonly metadata: RepositoryMetadata;
  /**
   * Where the files come from. Two sources of the same name with different origins are rejected. Without an origin
   * this is not checked.
   */
  readonly origin?: SourceOrigin;
  /**
   * Starts a listing, given the indexed state. Rejects with SOURCE_NOT_FOUND, SOURCE_UNREADABLE,
   * NOT_A_GIT_REPOSITORY, REVISION_NOT_FOUND, GIT_MISSING, or ABORTED.
   *
   * @example
   * const options = { signal: AbortSignal.timeout(60_000), maxFileSize: 2 ** 21 };
   * const listing = await git("./shop").open({ revisions: [] }, options);
   */
  open(indexed: Indexed, options: ListingOptions): Promise<Listing>;
}

/**
 * The place where a source's files come from. A source of the same name from another place is another repository, and
 * must not replace the first.
 *
 * @example
 * const origin: SourceOrigin = { folder: "/srv/shop", remote: async () => "github.com/acme/shop" };
 */
export interface SourceOrigin {
  /** The absolute path of the folder. */
  readonly folder: string;
  /** The requested revisions, including patterns. Default: those that the source chooses. */
  readonly revisions?: readonly string[];
  /**
   * Resolves to the repository's name on its code host. Two folders with the same remote name are copies of one
   * repository.
   *
   * @example
   * const remote = await git("./shop").origin?.remote?.(AbortSignal.timeout(1_000));
   */
  remote?(signal: AbortSignal): Promise<string | undefined>;
}

/**
 * Options of Source.open().
 *
 * @example
 * const list = async (indexed: Indexed, { signal, maxFileSize }: ListingOptions) => {
 *   signal.throwIfAborted();
 *   console.log(indexed.revisions.length, maxFileSize);
 * };
 */
export interface ListingOptions {
  /** Aborted when the run ends early. The source must then stop listing. */
  readonly signal: AbortSignal;
  /**
   * The maximum number of bytes of a file's content. List larger files as skipped, 'too-large', without reading them.
   */
  readonly maxFileSize: number;
}

/**
 * The indexed state of a repository.
 *
 * @example
 * const isNew = ({ revisions }: Indexed): boolean => revisions.length === 0;
 */
export interface Indexed {
  /** The indexed revisions; empty if the repository is new. */
  readonly revisions: readonly {
    /** The name that ListedRevision.base may refer to. */
    readonly name: string;
    /** The commit that the source reported. */
    readonly commit?: string;
    /**
     * True if some files could not be read, or maxFileSize was different. A list of changes would leave those files
     * as they are, so the source should list this revision in full.
     */
    readonly mustBeListed?: boolean;
  }[];
}

/**
 * A listing of the current content of a repository.
 *
 * @example
 * const nothing: Listing = {
 *   revisions: [{ name: "HEAD" }],
 *   entries: async function* () {},
 *   close: async () => {},
 * };
 */
export interface Listing {
  /** All revisions of the repository from now on, the default one first. Never empty. */
  readonly revisions: readonly ListedRevision[];
  /** The absolute path of the git repository, for engine.history(). Without it there is no history. */
  readonly gitFolder?: string;
  /**
   * Yields the entries in any order, in batches of a few hundred. REQUIRES: the result is iterated only once.
   *
   * @example
   * const show = async (listing: Listing): Promise<void> => {
   *   for await (const batch of listing.entries()) console.log(batch.map(({ path }) => path));
   * };
   */
  entries(): AsyncIterable<readonly Entry[]>;
  /**
   * Ends the listing. Called once, also after a failure.
   *
   * @example
   * const end = (listing: Listing): Promise<void> => listing.close();
   */
  close(): Promise<void>;
}

/**
 * A revision of a listing, with the indexed revision that it is compared with, if any.
 *
 * @example
 * const main: ListedRevision = { name: "main", commit: "9f1c2d7", base: "main" };
 */
export interface ListedRevision {
  /** The name that `rev:` matches. */
  readonly name: string;
  /** The full commit id, if there is one. */
  readonly commit?: string;
  /** The commit time, returned as Repository.pushedAt. */
  readonly committedAt?: Date;
  /**
   * The name of an indexed revision (see Indexed). If given, the entries are changes to that revision. Without a
   * base, the entries are all files. A revision that equals its base has no entries.
   */
  readonly base?: string;
}

/**
 * An entry of a listing. In a revision with a base, it replaces everything that the base has under its path.
 *
 * @example
 * const paths = (entries: readonly Entry[]): string[] => entries.map(({ path }) => path);
 */
export type Entry = FileEntry | SkippedEntry | RemovedEntry;

/**
 * A file with content. A path may have several entries, for different revisions with different content.
 * REQUIRES: files with the same path and content are one entry.
 *
 * @example
 * const file: FileEntry = {
 *   kind: "file",
 *   path: "src/cart.ts",
 *   revisions: [0],
 *   version: "17",
 *   content: { file: "/srv/shop/src/cart.ts" },
 * };
 */
export interface FileEntry {
  /** The kind of entry. */
  readonly kind: "file";
  /** The relative path in UTF-8, with '/' between folders, without '.' or '..' parts and NUL. */
  readonly path: string;
  /** 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
  /** The version of the content. If it equals the indexed version of the path, the content is not read again. */
  readonly version?: string;
  /** Bytes of content, if known before it is read. Used for progress only. */
  readonly size?: number;
  /** The content, read only if the version is new or absent. */
  readonly content: Content;
}

/**
 * The content of a file: its bytes, a file that a worker reads, or a function that is called at most once, only if
 * the content is needed. If the function throws or rejects with the code SOURCE_UNREADABLE, the file is listed as
 * 'unreadable'; any other error ends the run. Content over maxFileSize is listed as 'too-large'.
 *
 * @example
 * const content: Content = { bytes: new TextEncoder().encode("# Start") };
 */
export type Content =
  | {
      /** The content itself. */
      readonly bytes: Uint8Array;
    }
  | {
      /** The absolute path of the file. */
      readonly file: string;
      /**
       * Whether the file counts as 'unreadable' if a folder in its path is a symlink. Checked on Linux only. Default
       * false.
       */
      readonly isPinned?: boolean;
    }
  | {
      /** Returns the content. */
      readonly read: () => Promise<Uint8Array> | Uint8Array;
    };

/**
 * A file whose content is not searchable. A file skipped as 'submodule', 'symlink' or 'invalid-path' is listed, but no
 * search finds it.
 *
 * @example
 * const link: SkippedEntry = { kind: "skipped", path: "latest", revisions: [0], reason: "symlink" };
 */
export interface SkippedEntry {
  /** The kind of entry. */
  readonly kind: "skipped";
  /** The path, as in FileEntry. For 'invalid-path' it is a text for display. */
  readonly path: string;
  /** 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
  /** Why the content is not searchable. */
  readonly reason: SkipReason;
}

/**
 * A path that no longer exists. Only a revision with a base may have such entries.
 *
 * @example
 * const gone: RemovedEntry = { kind: "removed", path: "src/old.ts", revisions: [0] };
 */
export interface RemovedEntry {
  /** The kind of entry. */
  readonly kind: "removed";
  /** The path, as in FileEntry. */
  readonly path: string;
  /** 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
}
