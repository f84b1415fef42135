/** What is stored about repositories, and the public names of its parts. */

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
export type CodeHostType = (typeof CODE_HOST_TYPES)[number];

export interface RepositoryMetadata {
  /** Default 'genericGitHost'. */
  codeHostType?: CodeHostType;
  displayName?: string;
  /** The repository's page on its code host: base of externalWebUrl. */
  webUrl?: string;
  /** Default false. */
  archived?: boolean;
  /** Default false. */
  fork?: boolean;
  /** Whether it may be seen without a credential where the handler's `anonymous` is 'public'. Default false. */
  public?: boolean;
  /** Prior of ranking, 0 to 1. Default 0.5. */
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
export type SkipReason = (typeof SKIP_REASONS)[number];

/** A file that is listed and whose content is not searchable. */
export interface SkippedFile {
  path: string;
  revision: string;
  reason: SkipReason;
}

/** A repository as stored. */
export interface RepositoryRecord {
  readonly id: number;
  readonly name: string;
  readonly metadata: RepositoryMetadata;
  /** The first is the default one. */
  readonly revisions: readonly RevisionRecord[];
  readonly indexedAt: number; // milliseconds since 1970
  /** Bytes of the content that some revision names, once for each file. */
  readonly contentBytes: number;
  /** Segments that hold files of it which some revision names. */
  readonly segments: readonly number[];
}

export interface RevisionRecord {
  /** In the keys of revision sets. */
  readonly number: number;
  readonly name: string;
  readonly commit?: string;
  readonly committedAt?: number; // milliseconds since 1970
  readonly files: number;
}
