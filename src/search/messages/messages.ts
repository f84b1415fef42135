/**
 * Defines the messages between threads during a search. All messages are plain data. Bitsets and tables are in shared
 * memory if possible.
 */

import type { Bitset } from "../../base/bitset.ts";
import type { PackedSegment } from "../../store/memory/memory-store.ts";
import type { PackedPlan } from "./plan.ts";
import type { PackedChunks } from "./packed-chunks.ts";
import type { Explanation, Range } from "./response.ts";
import type { PlanStats, Totals } from "./totals.ts";

export interface SegmentInput {
  readonly segment: number;
  readonly scope: Bitset;
  /** The bitset of each set of the plan, by the number of the set. */
  readonly sets: readonly Bitset[];
  /** The edition of the segment's symbols, or 0 if the segment has no symbols. */
  readonly symbols: number;
}

/** The properties of repositories that ranking needs. Each array is indexed by the repository's id. */
export interface RepositoryTable {
  /** The position of each repository in the order of names. */
  readonly places: Uint32Array;
  /** The rank of each repository, from 0 to 1. */
  readonly ranks: Float64Array;
}

/**
 * The position of a file in the ranking. No two files have the same position, because files of a repository with the
 * same path and content are stored as one file.
 */
export interface Place {
  readonly score: number;
  /** The repository's position in the order of names. */
  readonly repository: number;
  readonly path: Uint8Array;
  /** The hash of the file's content, HASH_BYTES long. */
  readonly hash: Uint8Array;
}

/**
 * The position in the ranking where a page ended. `ranges` is the number of ranges of the file at this position that
 * are on this page and earlier pages.
 */
export interface PagePlace extends Place {
  readonly ranges: number;
}

export interface SearchInput {
  readonly plan: PackedPlan;
  readonly segments: readonly SegmentInput[];
  /** The segments that are in memory instead of on disk. */
  readonly packed: readonly PackedSegment[];
  readonly repositories: RepositoryTable;
  readonly matches: number;
  /** The maximum number of ranges of one file that are returned. Infinity if all ranges are returned. */
  readonly matchesPerFile: number;
  /**
   * Present if a page was requested. `more` is the number of additional ranges to keep, to find out whether another
   * page follows. `after` is the position where the previous page ended.
   */
  readonly page?: { readonly more: number; readonly after?: PagePlace };
  /** If more ranges match than `matches` allows, this many files are returned, each with only its best range. */
  readonly bestIfMany?: number;
  /** Present if files are counted for facets. */
  readonly facets?: true;
  /** The number of threads that search. */
  readonly threads: number;
  /** The memory of the search's Control. */
  readonly shared: SharedArrayBuffer;
  /**
   * Describes how files are shown during the search (see thread/showing/show.ts). Absent if files are shown only
   * after the search.
   */
  readonly ahead?: {
    readonly contextLines: number;
    readonly whole: boolean;
    readonly enclosing: boolean;
    readonly isBestFirst: boolean;
  };
  /** Present for a stream, whose results are sent as they are found. */
  readonly stream?: {
    readonly contextLines: number;
    readonly whole: boolean;
    readonly enclosing: boolean;
  };
}

/** What one thread has done in one segment. */
export interface SegmentPart {
  /** The index of the segment in SearchInput.segments. */
  readonly position: number;
  /** The counters of the plan. Present if this thread began the segment. */
  readonly plan?: {
    readonly stats: PlanStats;
    readonly candidates: number;
    /** The number of files in scope that cannot be decided because their symbols are unknown. */
    readonly undecided: number;
    readonly steps: number;
    readonly nanoseconds: number;
  };
  readonly stats: Readonly<Totals>;
  readonly stepsDone: number;
  readonly nanoseconds: number;
  readonly failure?: { readonly kind: "gone" | "damaged"; readonly message: string };
}

/** Files in rank order, stored as columns. */
export interface RankedFiles {
  readonly scores: Int32Array;
  /** The indexes of the files' segments in SearchInput.segments. */
  readonly segments: Uint32Array;
  readonly files: Uint32Array;
  readonly counts: Uint32Array;
  /** The positions of the files' repositories in the order of names. */
  readonly repositories: Uint32Array;
  readonly pathStarts: Uint32Array;
  readonly paths: Uint8Array;
  /**
   * The hashes of the files' contents, with HASH_BYTES bytes each. They decide the order of files that are otherwise
   * equal in rank.
   */
  readonly hashes: Uint8Array;
}

/** The number of files for each value, counted by one thread. */
export interface FacetCounts {
  /** The keys are the ids of repositories. */
  readonly repositories: ReadonlyMap<number, number>;
  readonly languages: ReadonlyMap<string, number>;
  /** Counts by folder. Empty if the files belong to several repositories. */
  readonly folders: ReadonlyMap<string, number>;
}

/** A file that a thread has shown as part of the search, before the caller requested it. */
export interface ShownAhead {
  /** The index of the file's segment in SearchInput.segments. */
  readonly position: number;
  readonly file: number;
  /** The maximum number of ranges that could be shown, counted from the file's first range. */
  readonly most: number;
  readonly shown: ShownFile;
  readonly contentBytesLoaded: number;
  readonly disagreements: readonly string[];
}

export interface SearchOutput {
  /** The value of performance.timeOrigin + performance.now() when the thread began. */
  readonly beganAt: number;
  readonly parts: readonly SegmentPart[];
  readonly ranked: RankedFiles;
  readonly facets?: FacetCounts;
  readonly ahead?: readonly ShownAhead[];
}

/** Returns the output of a thread that was stopped before it has begun a segment. */
export const nothingFound = (): SearchOutput => ({
  beganAt: performance.timeOrigin + performance.now(),
  parts: [],
  ranked: {
    scores: new Int32Array(),
    segments: new Uint32Array(),
    files: new Uint32Array(),
    counts: new Uint32Array(),
    repositories: new Uint32Array(),
    pathStarts: new Uint32Array(1),
    paths: new Uint8Array(),
    hashes: new Uint8Array(),
  },
});

export interface ShowInput {
  readonly plan: PackedPlan;
  /** The memory of the Control whose limits apply to this task. */
  readonly shared: SharedArrayBuffer;
  /** The segments that are in memory instead of on disk. */
  readonly packed: readonly PackedSegment[];
  readonly files: readonly ShowFile[];
  readonly contextLines: number;
  readonly whole: boolean;
  readonly enclosing: boolean;
  /** Whether the best lines of a file come first, because the request limits the number of ranges of a file. */
  readonly isBestFirst: boolean;
}

export interface ShowFile {
  readonly segment: number;
  readonly file: number;
  /** For each set of the plan, whether the file is in that set. */
  readonly sets: readonly boolean[];
  /** The number of ranges to skip before the first range that is shown. */
  readonly skip: number;
  /** The maximum number of ranges to show. */
  readonly most: number;
  /** The edition of the segment's symbols, or 0 if the segment has no symbols. */
  readonly symbols: number;
}

/**
 * The part of a file's result that comes from its segment. The calling thread adds the repository, the branches and
 * the addresses.
 */
export interface ShownFile {
  readonly path: string;
  readonly language: string;
  readonly nameRanges: Range[];
  readonly chunks: PackedChunks;
  readonly count: number;
  readonly content?: string;
}

export interface ShowOutput {
  /**
   * The files in the order of ShowInput.files. If the answer is full, the last ones are missing. An entry is undefined
   * if the file's content is damaged.
   */
  readonly files: readonly (ShownFile | undefined)[];
  readonly contentBytesLoaded: number;
  readonly disagreements: readonly string[];
}

/** The output of the task, or "gone" if a segment no longer exists. */
export type ShowResult = ShowOutput | "gone";

/** A part of a stream. A thread sends it while the search is running. */
export interface StreamPart {
  readonly files: readonly (ShownFile & { readonly position: number; readonly file: number })[];
  readonly contentBytesLoaded: number;
  readonly disagreements: readonly string[];
  readonly stats: SegmentPart["stats"];
  /** The size of the shown files, in bytes. These bytes count as unread until the reader takes this part. */
  readonly bytes: number;
}

export interface ExplainedSegment extends Omit<
  Explanation["segments"][number],
  "outcome" | "excludedBy"
> {
  /**
   * The operands of the query that exclude all files. Empty if there are candidate files, or if the segment is
   * damaged.
   */
  readonly excludedBy: readonly ExcludingOperand[];
}

/** An operand that excludes all files. `operand` is the index of this operand in the query's conjunction. */
type ExcludingOperand = { readonly operand: number } & Omit<
  NonNullable<Explanation["segments"][number]["excludedBy"]>[number],
  "query"
>;

/** The explained segments, or "gone" if a segment or its symbols no longer exist. */
export type ExplainResult = readonly ExplainedSegment[] | "gone";
