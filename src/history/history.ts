/** Defines the interface with which hosts read the history of a repository. */

import type { FileContent } from "../repository.ts";

/**
 * The history of one repository. It is read with the git command from the folder that was indexed. No process and no
 * file stays open between calls.
 *
 * A revision is the name of a branch or tag, a full name (`refs/heads/main`), `HEAD`, or at least 4 digits of a
 * commit id. commits(), commit(), authors(), diff() and blame() look up the revision in the clone as it is now. If no
 * revision is given, they use the clone's `HEAD`. read(), folders() and paths() use the commit that was indexed for a
 * revision, if there is one. If no revision is given, they use the first indexed revision.
 *
 * Every call rejects with INVALID_GIT_REF if a revision is empty, begins with `-` or contains control characters. Every
 * call may also reject with HISTORY_NOT_AVAILABLE if the clone no longer exists, or with ABORTED.
 *
 * @example
 * const history = await engine.history("shop");
 * const { commits, total } = (await history?.commits({ path: "src", limit: 20 })) ?? {};
 * console.log(total, commits?.map(({ hash, message }) => `${hash.slice(0, 8)} ${message}`));
 */
export interface History {
  /** The repository's name. */
  readonly repository: string;
  /**
   * Lists commits in the order of `git log`, newest first. Rejects with INVALID_GIT_REF if the revision does not
   * exist.
   *
   * @example
   * const history = await engine.history("shop");
   * const page = await history?.commits({ revision: "main", author: "ada", since: "2 weeks ago" });
   */
  commits(options?: CommitsOptions): Promise<{
    /** One page of the commits. */
    commits: Commit[];
    /** The number of commits on all pages together. */
    total: number;
  }>;
  /**
   * Reads one commit. Resolves to undefined if the revision does not exist.
   *
   * @example
   * const history = await engine.history("shop");
   * const parents = (await history?.commit("v2.0"))?.parents;
   */
  commit(
    revision: string,
    options?: {
      /** Aborting ends the git process. */
      signal?: AbortSignal;
    },
  ): Promise<
    | (Commit & {
        /** The full ids of the parents, beginning with the first parent. Empty for a root commit. */
        parents: string[];
      })
    | undefined
  >;
  /**
   * Counts the commits of each author, as `git shortlog -sne` does. The authors with the most commits come first.
   * Rejects with INVALID_GIT_REF if the revision does not exist.
   *
   * @example
   * const history = await engine.history("shop");
   * const { authors } = (await history?.authors({ path: "src/cart.ts" })) ?? {};
   */
  authors(options?: AuthorsOptions): Promise<{
    /** One page of the authors. */
    authors: Author[];
    /** The number of authors on all pages together. */
    total: number;
  }>;
  /**
   * Compares two revisions, as `git diff base head` does. Renamed files are detected. Rejects with INVALID_GIT_REF if
   * one of the revisions does not exist, and with FILE_TOO_LARGE if the difference is larger than 32 MiB.
   *
   * @example
   * const history = await engine.history("shop");
   * const files = await history?.diff({ base: "v1.0", head: "main", path: "src" });
   */
  diff(options: DiffOptions): Promise<FileDiff[]>;
  /**
   * Finds the commit that each line of a file comes from, as `git blame` does. Resolves to undefined if the file or
   * the revision does not exist. Rejects with FILE_TOO_LARGE if the file is larger than 16 MiB, or if git's output
   * for it is larger than 32 MiB.
   *
   * @example
   * const history = await engine.history("shop");
   * const { ranges = [], commits = {} } = (await history?.blame({ path: "src/cart.ts" })) ?? {};
   * for (const { startLine, hash } of ranges) console.log(startLine, commits[hash]?.authorName);
   */
  blame(options: FileOptions): Promise<Blame | undefined>;
  /**
   * Reads any file of any revision. The content of a symbolic link is the path of its target. Resolves to undefined
   * if the file or the revision does not exist. Rejects with FILE_TOO_LARGE if the file is larger than 16 MiB, and
   * with BINARY_FILE if it is binary.
   *
   * @example
   * const history = await engine.history("shop");
   * const before = await history?.read({ path: "src/cart.ts", revision: "v1.0" });
   */
  read(options: FileOptions): Promise<FileContent | undefined>;
  /**
   * Resolves to the entries of folders in any revision, by the path of the folder. The result also has all parents of
   * these folders, up to the root, whose path is `""`. Paths that are not folders are left out. Resolves to undefined
   * if the revision does not exist.
   *
   * @example
   * const history = await engine.history("shop");
   * const folders = await history?.folders({ paths: ["src"], revision: "v1.0" });
   * console.log(folders?.get("src")?.map(({ name, type }) => `${type} ${name}`));
   */
  folders(options: FoldersOptions): Promise<Map<string, HistoryEntry[]> | undefined>;
  /**
   * Lists all files, symbolic links and submodules of any revision, in the byte order of their paths. Resolves to
   * undefined if the revision does not exist.
   *
   * @example
   * const history = await engine.history("shop");
   * const paths = (await history?.paths({ revision: "v1.0" }))?.map(({ path }) => path);
   */
  paths(options?: RevisionOptions): Promise<HistoryEntry[] | undefined>;
}

/**
 * Options of History.paths(), and of the calls that extend them.
 *
 * @example
 * const options: RevisionOptions = { revision: "v2.0", signal: AbortSignal.timeout(5_000) };
 */
export interface RevisionOptions {
  /**
   * The revision. The description of History explains which forms are accepted, and which revision is the default.
   */
  revision?: string;
  /** Aborting ends the git process. */
  signal?: AbortSignal;
}

/**
 * Options of History.commits().
 *
 * @example
 * const options: CommitsOptions = { path: "src", query: "fix", until: "2024-06-01", limit: 20 };
 */
export interface CommitsOptions extends RevisionOptions {
  /** Limits the list to commits that change this file or folder. */
  path?: string;
  /**
   * Limits the list to commits by matching authors. A POSIX basic regular expression, which must match in the
   * author's `name <email>`. Ignores case.
   */
  author?: string;
  /**
   * Limits the list to commits with matching messages. A POSIX basic regular expression, which must match in a line
   * of the message. Ignores case.
   */
  query?: string;
  /** Limits the list to commits after this date. The date is in ISO 8601, or relative as in git (`2 weeks ago`). */
  since?: string;
  /** Limits the list to commits before this date, which has the same forms as `since`. */
  until?: string;
  /** The number of commits to skip. Default 0. */
  skip?: number;
  /** The maximum number of commits to list, at most 1000. Default 50. */
  limit?: number;
}

/**
 * Options of History.authors().
 *
 * @example
 * const options: AuthorsOptions = { path: "docs", limit: 10 };
 */
export interface AuthorsOptions extends RevisionOptions {
  /** Counts only commits that change this file or folder. */
  path?: string;
  /** The number of authors to skip. Default 0. */
  skip?: number;
  /** The maximum number of authors to list, at most 1000. Default 50. */
  limit?: number;
}

/**
 * Options of History.diff().
 *
 * @example
 * const options: DiffOptions = { base: "v1.0", head: "HEAD" };
 */
export interface DiffOptions {
  /** The old revision. */
  base: string;
  /** The new revision. */
  head: string;
  /** Compares only this file or folder. */
  path?: string;
  /** Aborting ends the git process. */
  signal?: AbortSignal;
}

/**
 * Options of History.read() and History.blame().
 *
 * @example
 * const options: FileOptions = { path: "src/cart.ts", revision: "main" };
 */
export interface FileOptions extends RevisionOptions {
  /** The path from the repository's root, with '/' between folders. */
  path: string;
}

/**
 * Options of History.folders().
 *
 * @example
 * const options: FoldersOptions = { paths: ["", "src/cart"] };
 */
export interface FoldersOptions extends RevisionOptions {
  /** The paths of the folders, each from the repository's root with '/' between folders. */
  paths: readonly string[];
}

/**
 * A commit. Bytes that are not valid UTF-8 are replaced by U+FFFD.
 *
 * @example
 * const line = ({ hash, date, message }: Commit): string => `${hash} ${date} ${message}`;
 */
export interface Commit {
  /** The full id of the commit. */
  hash: string;
  /** The time at which the commit was written, in ISO 8601 with the author's time zone. */
  date: string;
  /** The subject, which is the first paragraph of the message on one line. */
  message: string;
  /**
   * The branches and tags that point to the commit, in the form of git's decorations, such as
   * `HEAD -> main, tag: v2.0`.
   */
  refs: string;
  /** The message after the subject. */
  body: string;
  /** The author's name, corrected by the repository's `.mailmap`. */
  authorName: string;
  /** The author's e-mail address, corrected by the repository's `.mailmap`. */
  authorEmail: string;
}

/**
 * An author and the number of their commits.
 *
 * @example
 * const most = (authors: readonly Author[]): string | undefined => authors[0]?.name;
 */
export interface Author {
  /** The author's name, corrected by the repository's `.mailmap`. */
  name: string;
  /** The author's e-mail address, corrected by the repository's `.mailmap`. */
  email: string;
  /** The number of commits. */
  commitCount: number;
}

/**
 * The differences in one file. There are no hunks if the file is binary or larger than 64 MiB, or if only its name or
 * its permissions have changed.
 *
 * @example
 * const isRenamed = ({ oldPath, newPath }: FileDiff): boolean =>
 *   oldPath !== null && newPath !== null && oldPath !== newPath;
 */
export interface FileDiff {
  /** The path in the old revision, or null if the file was added. */
  oldPath: string | null;
  /** The path in the new revision, or null if the file was deleted. */
  newPath: string | null;
  /** The parts of the file that differ, in order. */
  hunks: {
    /** The lines of the hunk in the old file. */
    oldRange: LineRange;
    /** The lines of the hunk in the new file. */
    newRange: LineRange;
    /** The function or section that encloses the hunk, if git finds one. */
    heading?: string;
    /**
     * The lines of the hunk, separated by line feeds. Each line begins with `+`, `-` or a blank. A line that begins
     * with `\` is a remark of git.
     */
    body: string;
  }[];
}

/**
 * A range of lines in a file.
 *
 * @example
 * const last = ({ start, lines }: LineRange): number => start + lines - 1;
 */
export interface LineRange {
  /** The 1-based number of the first line, or 0 if the file does not exist. */
  start: number;
  /** The number of lines. */
  lines: number;
}

/**
 * The commit that each line of a file comes from.
 *
 * @example
 * const owners = ({ ranges, commits }: Blame): string[] =>
 *   ranges.map(({ hash, lineCount }) => `${lineCount} ${commits[hash]?.authorName}`);
 */
export interface Blame {
  /** Ranges of lines, in order. Together they cover the file. */
  ranges: {
    /** The full id of the commit that the lines come from. */
    hash: string;
    /** The file's path in that commit. */
    path: string;
    /** The 1-based number of the first line in the requested file. */
    startLine: number;
    /** The number of lines. */
    lineCount: number;
  }[];
  /** The commits, by their full id. */
  commits: Record<string, BlamedCommit>;
}

/**
 * A commit that some lines of a blamed file come from.
 *
 * @example
 * const label = ({ authorName, date }: BlamedCommit): string => `${authorName}, ${date}`;
 */
export interface BlamedCommit {
  /** The full id of the commit. */
  hash: string;
  /** The time at which the commit was written, in ISO 8601 with the author's time zone. */
  date: string;
  /** The subject of the commit's message. */
  message: string;
  /** The author's name, corrected by the repository's `.mailmap`. */
  authorName: string;
  /** The author's e-mail address, corrected by the repository's `.mailmap`. */
  authorEmail: string;
  /** The previous state of the file. Absent if the file did not exist before the commit. */
  previous?: {
    /** The parent's full id. */
    hash: string;
    /** The file's path in the parent. */
    path: string;
  };
}

/**
 * An entry of a folder or of a revision.
 *
 * @example
 * const isCode = ({ type, name }: HistoryEntry): boolean => type === "file" && name.endsWith(".ts");
 */
export interface HistoryEntry {
  /** The kind of entry in git's tree. */
  type: "file" | "folder" | "symlink" | "submodule";
  /** The last part of the path. */
  name: string;
  /** The path from the repository's root, with '/' between folders. */
  path: string;
}
