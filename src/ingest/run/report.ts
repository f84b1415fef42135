/** Defines the progress of an index run, and its report for each repository. */

import type { SkippedFile } from "../../store/format/records.ts";

/**
 * Progress of an index run.
 *
 * @example
 * const show = ({ stage, done, total }: IndexProgress) => console.error(`${stage} ${done}/${total}`);
 * await engine.index(git("./shop"), { onProgress: show });
 */
export interface IndexProgress {
  /** The repository's name, or '' if the stage concerns the whole index. */
  repository: string;
  /**
   * The stage. A run goes through 'list', 'content' and 'publish' for each repository, and through 'symbols' and
   * 'merge' once at its end.
   */
  stage: "list" | "content" | "symbols" | "publish" | "merge";
  /**
   * The number of files done. For 'symbols' it counts contents, which several files may share; for 'merge' it counts
   * segments.
   */
  done: number;
  /**
   * The total of what `done` counts, as known so far. For 'list', 'content' and 'publish' it is the number of files
   * listed so far, which is final after the last 'list'. For 'symbols' it is the number of all contents, for 'merge'
   * the number of segments in the merges that have begun.
   */
  total: number;
  /** Bytes of content read from the source (unchanged content is not read), parsed, or merged. */
  bytes: number;
  /**
   * The total of `bytes`, as known so far. If the source does not give the size of a content, the size is added when
   * the content is read.
   */
  totalBytes: number;
}

/**
 * A file without known definitions, because quern gave up parsing it. Its content is searchable.
 *
 * @example
 * const [report] = await engine.index(git("./shop"));
 * for (const { path, reason } of report?.withoutSymbols ?? []) console.error(path, reason);
 */
export interface FileWithoutSymbols {
  /** The path from the repository's root. */
  path: string;
  /**
   * The reason. 'too-large': over 4 MiB, or over 256 KiB for a data format such as JSON or YAML. 'too-long': parsing
   * took over 3 s of processor time, or 30 s of wall-clock time. 'failed': the grammar failed on it. 'killed-thread':
   * two workers died while parsing it, or were silent for 60 s. 'damaged': its content in the index cannot be read.
   */
  reason: "too-large" | "too-long" | "failed" | "killed-thread" | "damaged";
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
    /** Files that can be found by path, including binary ones. */
    files: number;
  }[];
  /** Files whose path or content is new. */
  added: number;
  /** Files that are no longer in any revision with this path and content. */
  removed: number;
  /** Files that were indexed before and are unchanged. */
  unchanged: number;
  /** Files that are listed but whose content is not searchable. */
  skipped: SkippedFile[];
  /** Bytes of content that were read from the source. */
  bytesRead: number;
  /** Definitions in the files that this run parsed. */
  symbols: number;
  /** Files that this run gave up parsing, sorted by path. */
  withoutSymbols: FileWithoutSymbols[];
  /**
   * Milliseconds from the start of its listing to its publication. Includes symbol extraction if the repository has
   * new symbols.
   */
  durationMs: number;
}
