/** Defines the stored records of repositories, and the public types of their parts. */

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
  /** A name for people. */
  displayName?: string;
  /** The repository's page on its code host, from which externalWebUrl is derived. */
  webUrl?: string;
  /** Whether the repository is archived: `archived:only` selects it, and `archived:no` excludes it. Default false. */
  archived?: boolean;
  /** Whether the repository is a fork: `fork:only` selects it, and `fork:no` excludes it. Default false. */
  fork?: boolean;
  /** Whether callers without a credential may see it if the handler's `anonymous` is 'public'. Default false. */
  public?: boolean;
  /** The weight of the repository in ranking, 0 to 1. Default 0.5. */
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
 * Why the content of a file is not searchable. 'too-large', 'binary' and 'unreadable' files can be found by path;
 * other skipped files cannot be found.
 *
 * @example
 * const again: readonly SkipReason[] = ["too-large", "unreadable"]; // looked at in the next run
 */
export type SkipReason = (typeof SKIP_REASONS)[number];

/**
 * A file that is listed but whose content is not searchable.
 *
 * @example
 * const [report] = await engine.index(git("./shop"));
 * const large = report?.skipped.filter(({ reason }) => reason === "too-large");
 */
export interface SkippedFile {
  /** The path from the repository's root. Control characters of an 'invalid-path' become U+FFFD. */
  path: string;
  /** The name of the revision. */
  revision: string;
  /** Why the file was skipped. */
  reason: SkipReason;
}

/**
 * Where a repository was indexed from.
 *
 * @example
 * for (const { name, origin } of await engine.repositories()) console.log(name, origin?.folder);
 */
export interface Origin {
  /** The absolute path of the folder, on the machine that indexed it. */
  readonly folder: string;
  /** The name on its code host, such as `github.com/acme/shop`, if git knows one. */
  readonly remote?: string;
  /**
   * The requested revisions, including patterns. Absent if none were requested; then the branch of HEAD was indexed.
   */
  readonly revisions?: readonly string[];
}

/** A repository as stored. */
export interface RepositoryRecord {
  readonly id: number;
  readonly name: string;
  readonly metadata: RepositoryMetadata;
  /** Where the files came from. Absent in records older than this field, and if the source gave none. */
  readonly origin?: Origin;
  /** The revisions, the default one first. */
  readonly revisions: readonly RevisionRecord[];
  readonly indexedAt: number; // milliseconds since 1970
  /** The absolute path of the git repository. Absent for other sources, and in records older than this field. */
  readonly gitFolder?: string;
  /** Bytes of all files of all revisions. A file that several revisions share counts once. */
  readonly contentBytes: number;
  /** `maxFileSize` of the last run that listed the repository. Absent in records older than this field. */
  readonly maxFileSize?: number;
  /** The names of revisions with files that could not be read. */
  readonly unread?: readonly string[];
  /** The segments that contain files of the repository's revisions. */
  readonly segments: readonly number[];
}

export interface RevisionRecord {
  /** The revision's number in the keys of revision sets. */
  readonly number: number;
  readonly name: string;
  readonly commit?: string;
  readonly committedAt?: number; // milliseconds since 1970
  readonly files: number;
}
