/** What an index run tells its caller: its progress, and a report for each repository. */

import type { SkippedFile } from "../../store/format/records.ts";

/**
 * Where an index run is.
 *
 * @example
 * const show = ({ stage, done, total }: IndexProgress) => console.error(`${stage} ${done}/${total}`);
 * await engine.index(git("./shop"), { onProgress: show });
 */
export interface IndexProgress {
  /** '' where a stage is not about one repository. */
  repository: string;
  /** In this order for each repository; 'symbols' and 'merge' come at the end of the run. */
  stage: "list" | "content" | "symbols" | "publish" | "merge";
  /** Files; 'symbols': contents, of which several files may share one; 'merge': segments merged away. */
  done: number;
  /**
   * How many are known by now. 'list', 'content', 'publish': the files listed so far, which are all
   * from the last 'list' on. 'symbols': all. 'merge': those of the merges begun so far.
   */
  total: number;
  /** Bytes of content: read from the source (what is unchanged is not), parsed, or merged. */
  bytes: number;
  /**
   * Bytes known by now. 'list', 'content': read ones, and those to be read of the files listed so
   * far; content whose size its source does not tell counts once it is read.
   */
  totalBytes: number;
}

/**
 * A file that is searched as any other, and whose definitions are not known: its parse was given up.
 *
 * @example
 * const [report] = await engine.index(git("./shop"));
 * for (const { path, reason } of report?.withoutSymbols ?? []) console.error(path, reason);
 */
export interface FileWithoutSymbols {
  /** From the repository's root. */
  path: string;
  /** 'too-large': over 4 MiB, data over 256 KiB; 'too-long': its thread worked on it for over 3 s, or had it for 30 s; 'failed': the grammar failed on it; 'killed-thread': a worker died of it, or was silent for 60 s, twice; 'damaged': its content in the index cannot be read. */
  reason: "too-large" | "too-long" | "failed" | "killed-thread" | "damaged";
}

/**
 * What a run did to one repository.
 *
 * @example
 * const [report] = await engine.index(git("./shop"));
 * console.log(report?.added, report?.removed, report?.skipped.length, report?.durationMs);
 */
export interface IndexReport {
  /** Repository.id: it never changes, and is never given to another repository. */
  repositoryId: number;
  /** Its name. */
  repository: string;
  /** The first is the default one. */
  revisions: {
    /** As `rev:` finds it. */
    name: string;
    /** Full id, where there is one. */
    commit?: string;
    /** Files that are found by path, binary ones too. */
    files: number;
  }[];
  /** Files (path and content) that were not there before. */
  added: number;
  /** Files (path and content) that no revision names any more. */
  removed: number;
  /** Files that were there before and still are. */
  unchanged: number;
  /** Files that are listed and whose content is not searchable. */
  skipped: SkippedFile[];
  /** Bytes of content that were read from the source. */
  bytesRead: number;
  /** Definitions in its files that this run has parsed: 0 where all were known. */
  symbols: number;
  /** Files whose parse this run has given up, in the order of paths: empty where all were known. */
  withoutSymbols: FileWithoutSymbols[];
  /** Milliseconds from its turn in the run to its publication, and of finding the symbols where it had new ones. */
  durationMs: number;
}
