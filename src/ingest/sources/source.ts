/**
 * Where files come from. A source lists what a repository holds now, entry by entry, and says how
 * each entry's content is had; it reads nothing that the index holds already. The three sources of
 * this library and a host's own implement the same interface.
 *
 * The life of a source in one run: open() with what is indexed, then entries() to its end, then
 * close(), which is called also after a failure.
 */

import type { RepositoryMetadata, SkipReason } from "../../store/format/records.ts";

/**
 * A repository, as index() takes it: made by git(), directory() or documents(), or a host's own.
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
  /** Of the repository. The same name is the same repository. Not empty, without control characters. */
  readonly name: string;
  /** Replaces what was said of the repository before. */
  readonly metadata: RepositoryMetadata;
  /** Where the files come from. Two sources of one name and different origins are refused. Absent: that is not checked. */
  readonly origin?: SourceOrigin;
  /**
   * Rejects with SOURCE_NOT_FOUND, SOURCE_UNREADABLE, NOT_A_GIT_REPOSITORY, REVISION_NOT_FOUND, GIT_MISSING, or ABORTED.
   *
   * @example
   * const options = { signal: AbortSignal.timeout(60_000), maxFileSize: 2 ** 21 };
   * const listing = await git("./shop").open({ revisions: [] }, options);
   */
  open(indexed: Indexed, options: ListingOptions): Promise<Listing>;
}

/**
 * Where a source has its files from. The same name from another place is another repository, which
 * must not replace the first.
 *
 * @example
 * const origin: SourceOrigin = { folder: "/srv/shop", remote: async () => "github.com/acme/shop" };
 */
export interface SourceOrigin {
  /** Absolute path on the disk. */
  readonly folder: string;
  /** The revisions that were asked for, patterns included. Absent: those that the source chooses. */
  readonly revisions?: readonly string[];
  /**
   * Resolves to the name of the repository on its code host. Two folders with the same one are two
   * copies of one repository.
   *
   * @example
   * const remote = await git("./shop").origin?.remote?.(AbortSignal.timeout(1_000));
   */
  remote?(signal: AbortSignal): Promise<string | undefined>;
}

/**
 * What a source has to keep to.
 *
 * @example
 * const list = async (indexed: Indexed, { signal, maxFileSize }: ListingOptions) => {
 *   signal.throwIfAborted();
 *   console.log(indexed.revisions.length, maxFileSize);
 * };
 */
export interface ListingOptions {
  /** Aborted when the run ends early: stop listing. */
  readonly signal: AbortSignal;
  /** Bytes above which content is not read: such files are listed as skipped, 'too-large'. */
  readonly maxFileSize: number;
}

/**
 * What the index holds of the repository.
 *
 * @example
 * const isNew = ({ revisions }: Indexed): boolean => revisions.length === 0;
 */
export interface Indexed {
  /** Empty where the repository is new. */
  readonly revisions: readonly {
    /** What a ListedRevision may give as its base. */
    readonly name: string;
    /** What the source said it was. */
    readonly commit?: string;
    /**
     * True where files of it could not be read, or the limit of size was another: changes of it would
     * leave those as they are, so a source that can list the revision in full does not take it as a base.
     */
    readonly mustBeListed?: boolean;
  }[];
}

/**
 * What a repository holds now, entry by entry.
 *
 * @example
 * const nothing: Listing = {
 *   revisions: [{ name: "HEAD" }],
 *   entries: async function* () {},
 *   close: async () => {},
 * };
 */
export interface Listing {
  /** Every revision the repository has from now on; the first is the default one. Never empty. */
  readonly revisions: readonly ListedRevision[];
  /** The git repository that this lists, an absolute path on this disk: engine.history() reads it. Absent: no history. */
  readonly gitFolder?: string;
  /**
   * In any order; yields in batches of some hundred. REQUIRES: iterated once.
   *
   * @example
   * const show = async (listing: Listing): Promise<void> => {
   *   for await (const batch of listing.entries()) console.log(batch.map(({ path }) => path));
   * };
   */
  entries(): AsyncIterable<readonly Entry[]>;
  /**
   * Called once, also after a failure.
   *
   * @example
   * const end = (listing: Listing): Promise<void> => listing.close();
   */
  close(): Promise<void>;
}

/**
 * A revision and, where it is known, what of it is indexed already.
 *
 * @example
 * const main: ListedRevision = { name: "main", commit: "9f1c2d7", base: "main" };
 */
export interface ListedRevision {
  /** As `rev:` finds it. */
  readonly name: string;
  /** Full id, where there is one. */
  readonly commit?: string;
  /** Shown as pushedAt of the repository. */
  readonly committedAt?: Date;
  /**
   * Name of an indexed revision (see Indexed) of which the entries are the changes. Absent: the
   * entries are all the files there are. A revision that equals its base has no entries.
   */
  readonly base?: string;
}

/**
 * In a revision with a base an entry replaces all that the base has under its path.
 *
 * @example
 * const paths = (entries: readonly Entry[]): string[] => entries.map(({ path }) => path);
 */
export type Entry = FileEntry | SkippedEntry | RemovedEntry;

/**
 * A file with content. One path may have several entries with different revisions and different
 * content. REQUIRES: what is the same is one entry.
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
  /** Tells it from the other entries. */
  readonly kind: "file";
  /** UTF-8, '/' between folders, relative, no '.' or '..' parts, no NUL. */
  readonly path: string;
  /** 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
  /** Equal versions of one path mean equal content: then it is not read again. Absent: not known. */
  readonly version?: string;
  /** Bytes of its content, where they are known before it is read; only the progress of a run uses them. */
  readonly size?: number;
  /** Asked for only where the version is new. */
  readonly content: Content;
}

/**
 * How content is had: bytes at hand; a file that a worker reads by itself; or a function that is
 * called once, and only when the content is needed; the bytes it gives are the caller's own. Rejecting
 * or throwing with the code SOURCE_UNREADABLE lists the file as 'unreadable', anything else ends the
 * run. Where the size is known only then, content over maxFileSize is listed by who reads it.
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
      /** Its path on the disk, absolute. */
      readonly file: string;
      /** Whether it is 'unreadable' where a folder on the way is a symlink; only Linux tells. Default false. */
      readonly isPinned?: boolean;
    }
  | {
      /** Makes the content. */
      readonly read: () => Promise<Uint8Array> | Uint8Array;
    };

/**
 * A file whose content is not searchable; 'submodule', 'symlink' and 'invalid-path' are listed, not
 * found.
 *
 * @example
 * const link: SkippedEntry = { kind: "skipped", path: "latest", revisions: [0], reason: "symlink" };
 */
export interface SkippedEntry {
  /** Tells it from the other entries. */
  readonly kind: "skipped";
  /** As of a FileEntry; that of an 'invalid-path' is for people: see shownPath(). */
  readonly path: string;
  /** 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
  /** Shown in reports. */
  readonly reason: SkipReason;
}

/**
 * Only for a revision with a base: the path is no longer there.
 *
 * @example
 * const gone: RemovedEntry = { kind: "removed", path: "src/old.ts", revisions: [0] };
 */
export interface RemovedEntry {
  /** Tells it from the other entries. */
  readonly kind: "removed";
  /** As of a FileEntry. */
  readonly path: string;
  /** 0-based positions in Listing.revisions. */
  readonly revisions: readonly number[];
}
