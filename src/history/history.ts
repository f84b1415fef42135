/** What git knows of a repository, as hosts see it. */

import type { FileContent } from "../repository.ts";

/**
 * The history of one repository, read with the git command from the folder that was indexed. Nothing
 * is kept open between calls.
 *
 * A revision is the name of a branch or tag, a full name (`refs/heads/main`), `HEAD`, or a commit id of
 * at least 4 digits. commits(), commit(), authors(), diff() and blame() take it as the clone has it now,
 * and default to the clone's `HEAD`. read(), folders() and paths() take an indexed revision as it was
 * indexed, and default to the first one.
 *
 * Every call rejects with INVALID_GIT_REF where a revision is empty, begins with `-` or holds control
 * characters, with HISTORY_NOT_AVAILABLE where the clone is gone, and with ABORTED.
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
   * Lists commits as `git log` does, newest first. Rejects with INVALID_GIT_REF if there is no such
   * revision.
   *
   * @example
   * const history = await engine.history("shop");
   * const page = await history?.commits({ revision: "main", author: "ada", since: "2 weeks ago" });
   */
  commits(options?: CommitsOptions): Promise<{
    /** One page of them. */
    commits: Commit[];
    /** How many commits there are on all pages. */
    total: number;
  }>;
  /**
   * Reads one commit. Resolves to undefined if there is none of this name.
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
        /** Full ids, of the first parent first; a root has none. */
        parents: string[];
      })
    | undefined
  >;
  /**
   * Counts commits by author as `git shortlog -sne` does, most first. Rejects with INVALID_GIT_REF if
   * there is no such revision.
   *
   * @example
   * const history = await engine.history("shop");
   * const { authors } = (await history?.authors({ path: "src/cart.ts" })) ?? {};
   */
  authors(options?: AuthorsOptions): Promise<{
    /** One page of them. */
    authors: Author[];
    /** How many authors there are on all pages. */
    total: number;
  }>;
  /**
   * Compares two revisions as `git diff base head` does, with renames found. Rejects with
   * INVALID_GIT_REF if one of them does not exist, and with FILE_TOO_LARGE over 32 MiB.
   *
   * @example
   * const history = await engine.history("shop");
   * const files = await history?.diff({ base: "v1.0", head: "main", path: "src" });
   */
  diff(options: DiffOptions): Promise<FileDiff[]>;
  /**
   * Tells which commit each line of a file comes from, as `git blame` does. Resolves to undefined if
   * there is no such file or revision; rejects with FILE_TOO_LARGE over 16 MiB.
   *
   * @example
   * const history = await engine.history("shop");
   * const { ranges = [], commits = {} } = (await history?.blame({ path: "src/cart.ts" })) ?? {};
   * for (const { startLine, hash } of ranges) console.log(startLine, commits[hash]?.authorName);
   */
  blame(options: FileOptions): Promise<Blame | undefined>;
  /**
   * Reads any file of any revision; a symbolic link is read as its target's path. Resolves to undefined
   * if there is none. Rejects with FILE_TOO_LARGE over 16 MiB, and with BINARY_FILE.
   *
   * @example
   * const history = await engine.history("shop");
   * const before = await history?.read({ path: "src/cart.ts", revision: "v1.0" });
   */
  read(options: FileOptions): Promise<FileContent | undefined>;
  /**
   * Lists folders of any revision and those above them, by path; `""` is the root. Paths that are no
   * folder are left out. Resolves to undefined if there is no such revision.
   *
   * @example
   * const history = await engine.history("shop");
   * const folders = await history?.folders({ paths: ["src"], revision: "v1.0" });
   * console.log(folders?.get("src")?.map(({ name, type }) => `${type} ${name}`));
   */
  folders(options: FoldersOptions): Promise<Map<string, HistoryEntry[]> | undefined>;
  /**
   * Lists every file, symbolic link and submodule of any revision, in the order of their paths' bytes.
   * Resolves to undefined if there is no such revision.
   *
   * @example
   * const history = await engine.history("shop");
   * const paths = (await history?.paths({ revision: "v1.0" }))?.map(({ path }) => path);
   */
  paths(options?: RevisionOptions): Promise<HistoryEntry[] | undefined>;
}

/**
 * Which state of a repository.
 *
 * @example
 * const options: RevisionOptions = { revision: "v2.0", signal: AbortSignal.timeout(5_000) };
 */
export interface RevisionOptions {
  /** See History for what is a revision, and for the default. */
  revision?: string;
  /** Aborting ends the git process. */
  signal?: AbortSignal;
}

/**
 * Which commits.
 *
 * @example
 * const options: CommitsOptions = { path: "src", query: "fix", until: "2024-06-01", limit: 20 };
 */
export interface CommitsOptions extends RevisionOptions {
  /** Only commits that change this file or folder. */
  path?: string;
  /** Part of the author's `name <email>`: a POSIX basic expression, in any case. */
  author?: string;
  /** Part of a line of the message: a POSIX basic expression, in any case. */
  query?: string;
  /** Only commits after this date: ISO 8601, or git's relative forms (`2 weeks ago`). */
  since?: string;
  /** Only commits before this date. */
  until?: string;
  /** How many commits are passed over. Default 0. */
  skip?: number;
  /** How many commits are listed, at most 1000. Default 50. */
  limit?: number;
}

/**
 * Whose commits are counted.
 *
 * @example
 * const options: AuthorsOptions = { path: "docs", limit: 10 };
 */
export interface AuthorsOptions extends RevisionOptions {
  /** Only commits that change this file or folder. */
  path?: string;
  /** How many authors are passed over. Default 0. */
  skip?: number;
  /** How many authors are listed, at most 1000. Default 50. */
  limit?: number;
}

/**
 * What is compared.
 *
 * @example
 * const options: DiffOptions = { base: "v1.0", head: "HEAD" };
 */
export interface DiffOptions {
  /** The revision that is the old side. */
  base: string;
  /** The revision that is the new side. */
  head: string;
  /** Only this file, or what is in this folder. */
  path?: string;
  /** Aborting ends the git process. */
  signal?: AbortSignal;
}

/**
 * Which file.
 *
 * @example
 * const options: FileOptions = { path: "src/cart.ts", revision: "main" };
 */
export interface FileOptions extends RevisionOptions {
  /** With '/' between folders, relative to the repository's root. */
  path: string;
}

/**
 * Which folders.
 *
 * @example
 * const options: FoldersOptions = { paths: ["", "src/cart"] };
 */
export interface FoldersOptions extends RevisionOptions {
  /** With '/' between folders, relative to the repository's root. */
  paths: readonly string[];
}

/**
 * A commit. Bytes that are not UTF-8 are U+FFFD.
 *
 * @example
 * const line = ({ hash, date, message }: Commit): string => `${hash} ${date} ${message}`;
 */
export interface Commit {
  /** Its full id. */
  hash: string;
  /** When it was written: ISO 8601 with the author's time zone. */
  date: string;
  /** The subject: the first paragraph of the message on one line. */
  message: string;
  /** Branches and tags that point to it, as git decorates: `HEAD -> main, tag: v2.0`. */
  refs: string;
  /** The rest of the message. */
  body: string;
  /** As the repository's mail map has it. */
  authorName: string;
  /** As the repository's mail map has it. */
  authorEmail: string;
}

/**
 * Somebody who wrote commits.
 *
 * @example
 * const most = (authors: readonly Author[]): string | undefined => authors[0]?.name;
 */
export interface Author {
  /** As the repository's mail map has it. */
  name: string;
  /** As the repository's mail map has it. */
  email: string;
  /** How many commits. */
  commitCount: number;
}

/**
 * How one file differs. Without hunks where only its name or its permissions changed, and where it is
 * binary.
 *
 * @example
 * const isRenamed = ({ oldPath, newPath }: FileDiff): boolean =>
 *   oldPath !== null && newPath !== null && oldPath !== newPath;
 */
export interface FileDiff {
  /** Null where the file was added. */
  oldPath: string | null;
  /** Null where it was deleted. */
  newPath: string | null;
  /** Stretches that differ, in order. */
  hunks: {
    /** Of the old file. */
    oldRange: LineRange;
    /** Of the new file. */
    newRange: LineRange;
    /** The function or section that it is in, where git knows one. */
    heading?: string;
    /** Lines that begin with `+`, `-`, a blank, or `\` for git's own remark, with line feeds between them. */
    body: string;
  }[];
}

/**
 * Lines of a file.
 *
 * @example
 * const last = ({ start, lines }: LineRange): number => start + lines - 1;
 */
export interface LineRange {
  /** The first of the lines, 1-based; 0 in a file that does not exist. */
  start: number;
  /** How many lines. */
  lines: number;
}

/**
 * Which commit each line comes from.
 *
 * @example
 * const owners = ({ ranges, commits }: Blame): string[] =>
 *   ranges.map(({ hash, lineCount }) => `${lineCount} ${commits[hash]?.authorName}`);
 */
export interface Blame {
  /** In order, covering the file. */
  ranges: {
    /** The commit's full id. */
    hash: string;
    /** The file's path in that commit. */
    path: string;
    /** The first of the lines, 1-based, in the file that was asked for. */
    startLine: number;
    /** How many lines. */
    lineCount: number;
  }[];
  /** By full id. */
  commits: Record<string, BlamedCommit>;
}

/**
 * A commit that lines come from.
 *
 * @example
 * const label = ({ authorName, date }: BlamedCommit): string => `${authorName}, ${date}`;
 */
export interface BlamedCommit {
  /** Its full id. */
  hash: string;
  /** When it was written: ISO 8601 with the author's time zone. */
  date: string;
  /** The subject. */
  message: string;
  /** As the repository's mail map has it. */
  authorName: string;
  /** As the repository's mail map has it. */
  authorEmail: string;
  /** Where the lines were before, if the file was there before. */
  previous?: {
    /** The parent's full id. */
    hash: string;
    /** The file's path in the parent. */
    path: string;
  };
}

/**
 * What is in a folder, or in a revision.
 *
 * @example
 * const isCode = ({ type, name }: HistoryEntry): boolean => type === "file" && name.endsWith(".ts");
 */
export interface HistoryEntry {
  /** What git's tree says it is. */
  type: "file" | "folder" | "symlink" | "submodule";
  /** The last part of the path. */
  name: string;
  /** From the repository's root, with '/' between folders. */
  path: string;
}
