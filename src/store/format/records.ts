/** Defines the stored records of repositories, and public types for some of their fields. */

export const CODE_HOST_TYPES = [
  "github",
  "gitlab",
  "gitea",
  "gerrit",
  "bitbucketServer",
  "bitbucketCloud",
  "genericGitHost",
  "azuredevops",
] as const;
/**
 * The kind of code host, which determines how links to files are made.
 *
 * @example
 * const host: CodeHostType = "gitlab";
 * await engine.index(git("./shop", { codeHostType: host, webUrl: "https://gitlab.com/acme/shop" }));
 */
export type CodeHostType = (typeof CODE_HOST_TYPES)[number];

/**
 * Describes a repository in addition to its files. Each index run replaces the whole description.
 *
 * @example
 * const metadata: RepositoryMetadata = { displayName: "The shop", archived: true, rank: 0.2 };
 * await engine.index(git("./shop", metadata));
 */
export interface RepositoryMetadata {
  /** The kind of code host. Default 'genericGitHost'. */
  codeHostType?: CodeHostType;
  /** The name to display to people. */
  displayName?: string;
  /** The repository's page on its code host, from which externalWebUrl is derived. */
  webUrl?: string;
  /** Whether the repository is archived: `archived:only` selects it, and `archived:no` excludes it. Default false. */
  archived?: boolean;
  /** Whether the repository is a fork: `fork:only` selects it, and `fork:no` excludes it. Default false. */
  fork?: boolean;
  /**
   * Whether callers without a credential may see the repository if the handler's `anonymous` is 'public'. Default
   * false.
   */
  public?: boolean;
  /** The weight of the repository in ranking, from 0 to 1. Default 0.5. */
  rank?: number;
}

export const SKIP_REASONS = [
  "too-large",
  "binary",
  "unreadable",
  "submodule",
  "symlink",
  "invalid-path",
] as const;
/**
 * The reason why the content of a file is not searchable. Files that are 'too-large', 'binary' or 'unreadable' can be
 * found by their path. Other skipped files cannot be found.
 *
 * @example
 * const again: readonly SkipReason[] = ["too-large", "unreadable"]; // looked at in the next run
 */
export type SkipReason = (typeof SKIP_REASONS)[number];

/**
 * A file that is listed, but whose content is not searchable.
 *
 * @example
 * const [report] = await engine.index(git("./shop"));
 * const large = report?.skipped.filter(({ reason }) => reason === "too-large");
 */
export interface SkippedFile {
  /** The path from the repository's root. In an 'invalid-path', control characters are replaced by U+FFFD. */
  path: string;
  /** The name of the revision that contains the file. */
  revision: string;
  /** The reason why the file was skipped. */
  reason: SkipReason;
}

/**
 * The place from which a repository was indexed.
 *
 * @example
 * for (const { name, origin } of await engine.repositories()) console.log(name, origin?.folder);
 */
export interface Origin {
  /** The absolute path of the folder on the machine that indexed it. */
  readonly folder: string;
  /** The name of the repository on its code host, such as `github.com/acme/shop`. Absent if git knows no such name. */
  readonly remote?: string;
  /**
   * The revisions that were requested, including patterns. If none were requested, this is absent, and the branch of
   * HEAD was indexed.
   */
  readonly revisions?: readonly string[];
}

/** The stored record of a repository. */
export interface RepositoryRecord {
  readonly id: number;
  readonly name: string;
  readonly metadata: RepositoryMetadata;
  /**
   * The place from which the files were indexed. Absent in records older than this field, and if the source names no
   * such place.
   */
  readonly origin?: Origin;
  /** The revisions, the default one first. */
  readonly revisions: readonly RevisionRecord[];
  readonly indexedAt: number; // milliseconds since 1970
  /** The absolute path of the git repository. Absent for other sources, and in records older than this field. */
  readonly gitFolder?: string;
  /** The total size of the files of all revisions, in bytes. A file that several revisions share counts once. */
  readonly contentBytes: number;
  /** The value of `maxFileSize` in the last run that listed the repository. Absent in records older than this field. */
  readonly maxFileSize?: number;
  /** The names of the revisions in which some files could not be read. */
  readonly unread?: readonly string[];
  /** The segments that contain files of the repository's revisions. */
  readonly segments: readonly number[];
  /**
   * Present in the directory of a cluster's writer if it lacks some of these segments, because objects are damaged. The
   * next index run must read all files.
   */
  readonly isPartial?: true;
  /** Which history of the repository is indexed. Absent if none is. */
  readonly history?: HistoryRecord;
}

export interface HistoryRecord {
  /** Only commits after this date are read. An ISO date. */
  readonly since?: string;
  /** At most this many commits are read by each run. */
  readonly commits?: number;
  /** The commits of the revisions whose history is indexed completely. Empty until the first run has ended. */
  readonly tips: readonly string[];
  /** Whether the repository was shallow. */
  readonly isShallow?: boolean;
  /** Whether the indexed history was read with other limits, and so must be read again. */
  readonly isStale?: boolean;
}

export interface RevisionRecord {
  /** The revision's number in the keys of revision sets. */
  readonly number: number;
  readonly name: string;
  readonly commit?: string;
  readonly committedAt?: number; // milliseconds since 1970
  readonly files: number;
}
