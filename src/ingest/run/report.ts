/** Defines the progress messages of an index run, and the report that it returns for each repository. */

import type { SkippedFile } from "../../store/format/records.ts";

/**
 * The progress of an index run.
 *
 * @example
 * const show = ({ stage, done, total }: IndexProgress) => console.error(`${stage} ${done}/${total}`);
 * await engine.index(git("./shop"), { onProgress: show });
 */
export interface IndexProgress {
  /** The repository's name, or '' if the stage concerns the whole index. */
  repository: string;
  /**
   * The stage. A run goes through 'list', 'content' and 'publish' for each repository, and through 'symbols',
   * 'words' and 'merge' once at its end.
   */
  stage: "list" | "content" | "symbols" | "words" | "history" | "publish" | "merge";
  /**
   * The number of files that the stage has processed. For 'symbols' this is the number of contents, which several
   * files may share. For 'words' and 'merge' it is the number of segments.
   */
  done: number;
  /**
   * The total of what `done` counts, as far as it is known. For 'list', 'content' and 'publish' it is the number of
   * files listed so far, which is final after the last 'list'. For 'symbols' it is the number of all contents. For
   * 'merge' it is the number of segments in all merges that have begun.
   */
  total: number;
  /**
   * The number of bytes that the stage has read from the source, parsed, or merged. Unchanged content is not read.
   */
  bytes: number;
  /**
   * The total that `bytes` will reach, as far as it is known. If the source does not report the size of a file, the
   * size is added when the file is read.
   */
  totalBytes: number;
}

/**
 * A file whose definitions are unknown, because quern could not parse it. Its content is searchable.
 *
 * @example
 * const [report] = await engine.index(git("./shop"));
 * for (const { path, reason } of report?.withoutSymbols ?? []) console.error(path, reason);
 */
export interface FileWithoutSymbols {
  /** The path from the repository's root. */
  path: string;
  /**
   * The reason. 'too-large': the file is larger than 4 MiB, or than 256 KiB if it is in a data format such as JSON or
   * YAML. 'too-long': parsing took more than 3 s of processor time, or 30 s of wall-clock time. 'failed': the grammar
   * could not parse the file. 'killed-thread': two workers died while they parsed the file, or reported nothing for
   * 60 s. 'damaged': the content of the file in the index cannot be read.
   */
  reason: "too-large" | "too-long" | "failed" | "killed-thread" | "damaged";
}

/**
 * The part of a report that describes the indexed history.
 *
 * @example
 * const [report] = await engine.index(git("./shop", { history: true }));
 * console.log(report?.history?.commits, report?.history?.withoutLines.length);
 */
export interface HistoryReport {
  /** The number of commits that this run has read. */
  commits: number;
  /**
   * The ids of those commits whose changes have no searchable lines, because the clone lacks a blob that they need. Such
   * commits are found by their messages and paths.
   */
  withoutLines: string[];
}

/**
 * The result of an index run for one repository.
 *
 * @example
 * const [report] = await engine.index(git("./shop"));
 * console.log(report?.added, report?.removed, report?.skipped.length, report?.durationMs);
 */
export interface IndexReport {
  /** The repository's id, which never changes and is never reused. */
  repositoryId: number;
  /** The repository's name. */
  repository: string;
  /** The indexed revisions, the default one first. */
  revisions: {
    /** The name that `rev:` matches. */
    name: string;
    /** The full commit id, if there is one. */
    commit?: string;
    /** The number of files that a search can find by path, including binary files. */
    files: number;
  }[];
  /** The number of files whose path or content is new. */
  added: number;
  /** The number of indexed files that are gone. No revision has a file with the same path and content any more. */
  removed: number;
  /** The number of files that were indexed before and are unchanged. */
  unchanged: number;
  /** The files that are listed, but whose content is not searchable. */
  skipped: SkippedFile[];
  /** The amount of content that was read from the source, in bytes. */
  bytesRead: number;
  /** The number of definitions in the files that this run parsed. */
  symbols: number;
  /** The files that this run could not parse, sorted by path. */
  withoutSymbols: FileWithoutSymbols[];
  /** What this run has read of the history. Absent if the repository has no indexed history. */
  history?: HistoryReport;
  /**
   * The repository's part of the time of the run, in milliseconds: the time of its own listing and reading, and a part
   * of the rest in proportion to the bytes that were read. The parts of all repositories add up to the run's time.
   */
  durationMs: number;
}
