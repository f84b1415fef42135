/**
 * Defines the interface of sources. A source lists the current files of a repository, one entry for each file, and
 * provides a way to read the content of each file. Content that the index already has is not read. The sources of
 * this library and those of a host implement the same interface.
 *
 * An index run opens a source, and passes the indexed state to it. The run then reads all entries of the listing, and
 * closes the listing, even after a failure.
 */

import type { RepositoryMetadata, SkipReason } from "../../store/format/records.ts";

/**
 * A repository to index. A source is made by git(), directory() or documents(), or is implemented by the host.
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
  /** Properties of the repository, such as its display name. They replace the properties from earlier runs. */
  readonly metadata: RepositoryMetadata;
  /**
   * The place where the files come from. Two sources with the same name but different origins are rejected. A source
   * without an origin is not checked for this.
   */
  readonly origin?: SourceOrigin;
  /**
   * The history to index, so that searches find changes and commits. Its listings must have a `gitFolder`. Default: no
   * history is indexed.
   */
  readonly history?: HistoryLimits;
  /**
   * Starts a listing. `indexed` is the state of the repository in the index, with which the source may compare its
   * files. Rejects with SOURCE_NOT_FOUND, SOURCE_UNREADABLE, NOT_A_GIT_REPOSITORY, REVISION_NOT_FOUND, GIT_MISSING,
   * or ABORTED.
   *
   * @example
   * const options = { signal: AbortSignal.timeout(60_000), maxFileSize: 2 ** 21 };
   * const listing = await git("./shop").open({ revisions: [] }, options);
   */
  open(indexed: Indexed, options: ListingOptions): Promise<Listing>;
}

/**
 * The place where a source's files come from. A source with the same name from another place is another repository,
 * so its files must not replace those of the first.
 *
 * @example
 * const origin: SourceOrigin = { folder: "/srv/shop", remote: async () => "github.com/acme/shop" };
 */
export interface SourceOrigin {
  /** The absolute path of the folder. */
  readonly folder: string;
  /** The revisions that the host has requested, including patterns. Undefined if the source chooses the revisions. */
  readonly revisions?: readonly string[];
  /**
   * Resolves to the repository's name on its code host, or to undefined if it has none. Two folders with the same
   * remote name are copies of one repository.
   *
   * @example
   * const remote = await git("./shop").origin?.remote?.(AbortSignal.timeout(1_000));
   */
  remote?(signal: AbortSignal): Promise<string | undefined>;
  /**
   * The rules by which the source lists the files in the folder. watch() ignores changes of files that these rules
   * exclude. Without rules, it indexes again after any change in the folder. Not used if there is `remote`.
   */
  readonly rules?: FolderRules;
}

/**
 * The rules by which the files of a folder are listed.
 *
 * @example
 * const rules: FolderRules = { ignore: ["*.bak"], gitignore: true };
 */
export interface FolderRules {
  /** Patterns of files to leave out, written as in a .gitignore file at the root. */
  readonly ignore: readonly string[];
  /** Whether the .gitignore and .ignore files in the folder apply. */
  readonly gitignore: boolean;
  /** Whether git decides which files are listed, also by its index and its exclude files. Default false. */
  readonly git?: boolean;
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
  /** Aborted when the run ends early. After that, the source must stop listing. */
  readonly signal: AbortSignal;
  /**
   * The maximum size of a file's content, in bytes. The source should list a larger file as skipped, with the reason
   * 'too-large', and not read it.
   */
  readonly maxFileSize: number;
  /**
   * Lists the files of a folder as directory() does, but on another thread, so that a slow disk does not block the
   * caller. `root` is the absolute path of the folder, without symlinks. Absent if the engine has no workers.
   *
   * @example
   * const entries = ({ walk }: ListingOptions, root: string) =>
   *   walk?.({ root, ignore: ["*.bak"], gitignore: true });
   */
  readonly walk?: (folder: WalkedFolder) => AsyncIterable<readonly Entry[]>;
}

/**
 * A folder whose files ListingOptions.walk() lists.
 *
 * @example
 * const folder: WalkedFolder = { root: "/srv/notes", ignore: [], gitignore: true };
 */
export interface WalkedFolder extends Omit<FolderRules, "git"> {
  /** The absolute path of the folder, without symlinks. */
  readonly root: string;
}

/**
 * The state of a repository in the index.
 *
 * @example
 * const isNew = ({ revisions }: Indexed): boolean => revisions.length === 0;
 */
export interface Indexed {
  /** The indexed revisions; empty if the repository is new. */
  readonly revisions: readonly {
    /** The name that ListedRevision.base may refer to. */
    readonly name: string;
    /** The commit id that the source reported when the revision was indexed. */
    readonly commit?: string;
    /**
     * True if some files could not be read when the revision was indexed, or if maxFileSize was different then. The
     * source should list such a revision in full, because a list of changes would not correct the affected files.
     */
    readonly mustBeListed?: boolean;
  }[];
}

/**
 * Limits the history of a git repository that is indexed. Without limits, it is indexed completely.
 *
 * @example
 * const limits: HistoryLimits = { since: "2024-01-01", commits: 50_000 };
 * await engine.index(git("./shop", { history: limits }));
 */
export interface HistoryLimits {
  /** Leaves out commits before this date, as `2024-01-01` or with a time. Default: none are left out. */
  since?: string;
  /** The maximum number of commits that one run reads, newest first. Default: no limit. */
  commits?: number;
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
  /** All revisions that the repository has after this run, the default revision first. Never empty. */
  readonly revisions: readonly ListedRevision[];
  /**
   * The absolute path of the git repository, which engine.history() reads. Without this path, no history is
   * available.
   */
  readonly gitFolder?: string;
  /**
   * Whether the index stores 8 bytes of the hash of a file's version, instead of 20. Set this only if nobody can choose
   * versions, as is the case for the times and sizes of files. Default false.
   */
  readonly hasShortVersions?: boolean;
  /**
   * Returns the entries in any order, in batches of a few hundred. REQUIRES: the result is iterated only once.
   *
   * @example
   * const show = async (listing: Listing): Promise<void> => {
   *   for await (const batch of listing.entries()) console.log(batch.map(({ path }) => path));
   * };
   */
  entries(): AsyncIterable<readonly Entry[]>;
  /**
   * Ends the listing. Called exactly once, even after a failure.
   *
   * @example
   * const end = (listing: Listing): Promise<void> => listing.close();
   */
  close(): Promise<void>;
}

/**
 * A revision of a listing. If the source lists only changes, `base` is the indexed revision to which they apply.
 *
 * @example
 * const main: ListedRevision = { name: "main", commit: "9f1c2d7", base: "main" };
 */
export interface ListedRevision {
  /** The name that `rev:` matches. */
  readonly name: string;
  /** The full commit id, if there is one. */
  readonly commit?: string;
  /** The time of the commit, which Repository.pushedAt returns. */
  readonly committedAt?: Date;
  /**
   * The name of an indexed revision (see Indexed). If given, the entries are changes to that indexed revision.
   * Without a base, the entries are all files of the revision. A revision that is equal to its base has no entries.
   */
  readonly base?: string;
}

/**
 * An entry of a listing. In a revision with a base, an entry replaces everything that the base has at the entry's
 * path.
 *
 * @example
 * const paths = (entries: readonly Entry[]): string[] => entries.map(({ path }) => path);
 */
export type Entry = FileEntry | SkippedEntry | RemovedEntry;

/**
 * A file with content. A path may have several entries, if its content differs between revisions. REQUIRES: revisions
 * that have the same content at a path share one entry.
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
  /**
   * The relative path, with '/' between folders. It must be valid UTF-8, and must not contain NUL or a part '.' or
   * '..'.
   */
  readonly path: string;
  /** The revisions to which the entry applies, as 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
  /** The version of the content. If it equals the indexed version of the path, the content is not read again. */
  readonly version?: string;
  /** The size of the content in bytes, if it is known before the content is read. Used only to report progress. */
  readonly size?: number;
  /** The content, which is read only if the version is new or absent. */
  readonly content: Content;
}

/**
 * The content of a file. It may be given as bytes, as the path of a file that a worker reads, or as a function. The
 * function is called at most once, and only if the content is needed. If the function throws or rejects with the code
 * SOURCE_UNREADABLE, the file is listed as 'unreadable'. Any other error ends the run. A file whose content is larger
 * than maxFileSize is listed as 'too-large'.
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
       * True if the file counts as 'unreadable' when a folder in its path is a symlink. Checked only on Linux.
       * Default false.
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
  /** The path, as in FileEntry. If the reason is 'invalid-path', this is a text for display. */
  readonly path: string;
  /** The revisions to which the entry applies, as 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
  /** The reason why the content is not searchable. */
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
  /** The revisions to which the entry applies, as 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
}
