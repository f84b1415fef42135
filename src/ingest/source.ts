/**
 * Where files come from. A source lists what a repository holds now, entry by entry, and says how
 * each entry's content is had; it reads nothing that the index holds already. The three sources of
 * this library and a host's own implement the same interface.
 *
 * The life of a source in one run: open() with what is indexed, then entries() to its end, then
 * close(), which is called also after a failure.
 */

import type { RepositoryMetadata, SkipReason } from "../store/records.ts";

export interface Source {
  /** Of the repository. The same name is the same repository. Not empty, without control characters. */
  readonly name: string;
  readonly metadata: RepositoryMetadata;
  /** Rejects with SOURCE_NOT_FOUND, SOURCE_UNREADABLE, NOT_A_GIT_REPOSITORY, REVISION_NOT_FOUND, GIT_MISSING, or ABORTED. */
  open(indexed: Indexed, options: ListingOptions): Promise<Listing>;
}

export interface ListingOptions {
  readonly signal: AbortSignal;
  /** Bytes above which content is not read: such files are listed as skipped, 'too-large'. */
  readonly maxFileSize: number;
}

/** What the index holds of the repository. */
export interface Indexed {
  readonly revisions: readonly { readonly name: string; readonly commit?: string }[];
}

export interface Listing {
  /** Every revision the repository has from now on; the first is the default one. Never empty. */
  readonly revisions: readonly ListedRevision[];
  /** In any order; yields in batches of some hundred. REQUIRES: iterated once. */
  entries(): AsyncIterable<readonly Entry[]>;
  close(): Promise<void>;
}

export interface ListedRevision {
  readonly name: string;
  readonly commit?: string;
  readonly committedAt?: Date;
  /**
   * Name of an indexed revision (see Indexed) of which the entries are the changes. Absent: the
   * entries are all the files there are. A revision that equals its base has no entries.
   */
  readonly base?: string;
}

/** In a revision with a base an entry replaces all that the base has under its path. */
export type Entry = FileEntry | SkippedEntry | RemovedEntry;

/** A file with content. `revisions` are positions in Listing.revisions. One path may have several entries with different revisions and different content: REQUIRES: what is the same is one entry. */
export interface FileEntry {
  readonly kind: "file";
  /** UTF-8, '/' between folders, relative, no '.' or '..' parts, no NUL. */
  readonly path: string;
  readonly revisions: readonly number[];
  /** Equal versions of one path mean equal content: then it is not read again. Absent: not known. */
  readonly version?: string;
  readonly content: Content;
}

/**
 * How content is had: bytes at hand; a file that a worker reads by itself; or a function that is
 * called once, and only when the content is needed; the bytes it gives are the caller's own. Rejecting
 * or throwing with the code SOURCE_UNREADABLE lists the file as 'unreadable', anything else ends the
 * run. Where the size is known only then, content over maxFileSize is listed by who reads it.
 */
export type Content =
  | { readonly bytes: Uint8Array }
  | { readonly file: string }
  | { readonly read: () => Promise<Uint8Array> | Uint8Array };

/** A file whose content is not searchable; 'submodule', 'symlink' and 'invalid-path' are listed, not found. The path of an 'invalid-path' is for people: see shownPath(). */
export interface SkippedEntry {
  readonly kind: "skipped";
  readonly path: string;
  readonly revisions: readonly number[];
  readonly reason: SkipReason;
}

/** Only for a revision with a base: the path is no longer there. */
export interface RemovedEntry {
  readonly kind: "removed";
  readonly path: string;
  readonly revisions: readonly number[];
}
