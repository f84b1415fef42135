/** What crosses threads in a search. Plain data; bitsets and tables lie in shared memory where they can. */

import type { Bitset } from "../../base/bitset.ts";
import type { PackedSegment } from "../../store/memory/memory-store.ts";
import type { PackedPlan } from "./plan.ts";
import type { PackedChunks } from "./packed-chunks.ts";
import type { Explanation, Range } from "./response.ts";
import type { PlanStats, Totals } from "./totals.ts";

export interface SegmentInput {
  readonly segment: number;
  readonly scope: Bitset;
  /** By the numbers of the plan's sets. */
  readonly sets: readonly Bitset[];
  /** The edition of its symbols, 0 for none. */
  readonly symbols: number;
}

/** Repositories as ranking needs them, each under its id. */
export interface RepositoryTable {
  /** In the order of all names. */
  readonly places: Uint32Array;
  /** 0 to 1. */
  readonly ranks: Float64Array;
}

/** Where a file stands in the ranking. No other does: equal paths with equal content are one file. */
export interface Place {
  readonly score: number;
  /** Position in RepositoryTable. */
  readonly repository: number;
  readonly path: Uint8Array;
  /** HASH_BYTES of its content. */
  readonly hash: Uint8Array;
}

/** Where a page ended: so many ranges of the file are on it or on a page before. */
export interface PagePlace extends Place {
  readonly ranges: number;
}

export interface SearchInput {
  readonly plan: PackedPlan;
  readonly segments: readonly SegmentInput[];
  /** Of the whole index. */
  readonly textBytes: number;
  /** Segments that lie in memory. */
  readonly packed: readonly PackedSegment[];
  readonly repositories: RepositoryTable;
  readonly matches: number;
  /** Ranges that count of one file at most; Infinity: all. */
  readonly matchesPerFile: number;
  /** Only of a page: how many ranges more are kept, to know whether there is another one, and where the page before ended. */
  readonly page?: { readonly more: number; readonly after?: PagePlace };
  /** Only where files are counted by what they have. */
  readonly facets?: true;
  /** How many threads were asked. */
  readonly threads: number;
  /** See Control. */
  readonly shared: SharedArrayBuffer;
  /** Only to stream: results are posted as they are found. */
  readonly stream?: { readonly contextLines: number; readonly whole: boolean };
}

/** One thread's share of one segment. */
export interface SegmentPart {
  /** Position in SearchInput.segments. */
  readonly position: number;
  /** Of the thread that began the segment. */
  readonly plan?: {
    readonly stats: PlanStats;
    readonly candidates: number;
    /** Files in scope that no evaluation decides: their symbols are not known. */
    readonly undecided: number;
    readonly steps: number;
    readonly nanoseconds: number;
  };
  readonly stats: Readonly<Totals>;
  readonly stepsDone: number;
  readonly nanoseconds: number;
  readonly failure?: { readonly kind: "gone" | "damaged"; readonly message: string };
}

/** Files in rank order, as columns. */
export interface RankedFiles {
  readonly scores: Int32Array;
  /** Positions in SearchInput.segments. */
  readonly segments: Uint32Array;
  readonly files: Uint32Array;
  readonly counts: Uint32Array;
  /** Place of the repository in the order of names. */
  readonly repositories: Uint32Array;
  readonly pathStarts: Uint32Array;
  readonly paths: Uint8Array;
  /** HASH_BYTES of content each, for files that differ in nothing else. */
  readonly hashes: Uint8Array;
}

/** How many files have each value, as far as one thread has found them. */
export interface FacetCounts {
  /** By the repository's id. */
  readonly repositories: ReadonlyMap<number, number>;
  readonly languages: ReadonlyMap<string, number>;
  /** Empty where the files are of several repositories. */
  readonly folders: ReadonlyMap<string, number>;
}

export interface SearchOutput {
  /** performance.timeOrigin + performance.now() when the thread began. */
  readonly beganAt: number;
  readonly parts: readonly SegmentPart[];
  readonly ranked: RankedFiles;
  readonly facets?: FacetCounts;
}

export interface ShowInput {
  readonly plan: PackedPlan;
  /** Control.shared of the search that found them. */
  readonly shared: SharedArrayBuffer;
  /** As in SearchInput. */
  readonly packed: readonly PackedSegment[];
  readonly files: readonly ShowFile[];
  readonly contextLines: number;
  readonly whole: boolean;
  /** See Showing. */
  readonly isBestFirst: boolean;
}

export interface ShowFile {
  readonly segment: number;
  readonly file: number;
  /** Whether the file is in each of the plan's sets. */
  readonly sets: readonly boolean[];
  /** Ranges that are not shown, before those that are. */
  readonly skip: number;
  /** Ranges that may be shown. */
  readonly most: number;
  /** As in SegmentInput. */
  readonly symbols: number;
}

/** A file result as far as the segment knows it. */
export interface ShownFile {
  readonly path: string;
  readonly language: string;
  readonly nameRanges: Range[];
  readonly chunks: PackedChunks;
  readonly count: number;
  readonly content?: string;
}

export interface ShowOutput {
  /** By place in ShowInput.files, without the last ones where the answer is full; undefined: its content is damaged. */
  readonly files: readonly (ShownFile | undefined)[];
  readonly contentBytesLoaded: number;
  readonly disagreements: readonly string[];
}

/** "gone": a segment is not there any more. */
export type ShowResult = ShowOutput | "gone";

/** Posted while a stream runs. */
export interface StreamPart {
  readonly files: readonly (ShownFile & { readonly position: number; readonly file: number })[];
  readonly contentBytesLoaded: number;
  readonly disagreements: readonly string[];
  readonly stats: SegmentPart["stats"];
  /** Of what the files show: so much the reader is behind until it takes this part. */
  readonly bytes: number;
}

export interface ExplainedSegment extends Omit<
  Explanation["segments"][number],
  "outcome" | "excludedBy"
> {
  /** Where there is no candidate file: by which operands of the query. */
  readonly excludedBy: readonly ExcludingOperand[];
}

/** `operand`: its position among what must all hold. */
type ExcludingOperand = { readonly operand: number } & Omit<
  NonNullable<Explanation["segments"][number]["excludedBy"]>[number],
  "query"
>;

/** A segment that is gone, or whose symbols are: it was merged away. */
export type ExplainResult = readonly ExplainedSegment[] | "gone";
