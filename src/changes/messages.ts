/** Defines what the calling thread and the threads send each other to search histories. */

import type { Bitset } from "../base/bitset.ts";
import type { PackedChunks } from "../search/messages/packed-chunks.ts";
import type { ChangePlan } from "./plan.ts";

/** One history segment to search. */
export interface SegmentScope {
  readonly segment: number;
  /** The commits in scope. */
  readonly commits: Bitset;
  /** For each host atom, the commits for which it is true. */
  readonly hosts: readonly Bitset[];
  /** The position where the previous page ended, in this segment. Absent for the first page. */
  readonly after?: SegmentPlace;
}

/**
 * A position in the order of a segment's results. Of the results with the same date, those up to `commit` and `place`
 * come before the position. `place` is that of a change among those of its commit.
 */
export interface SegmentPlace {
  /** Seconds since 1970. */
  readonly date: number;
  readonly commit: number;
  readonly place: number;
}

export interface ChangesInput {
  readonly plan: ChangePlan;
  readonly scope: SegmentScope;
  /** The maximum number of results to return. */
  readonly most: number;
  /** The memory of the search's Control. */
  readonly shared: SharedArrayBuffer;
}

export type Failure = "gone" | "damaged" | "stopped";

export interface ChangesOutput {
  /** The number of changes or commits that match, whether or not they are returned. */
  readonly units: number;
  /** The number of their ranges. */
  readonly ranges: number;
  /** The best results, in order. */
  readonly found: FoundUnits;
  readonly stats: ScanStats;
}

/** A unit is a change with type:diff, and a commit with type:commit. */
export interface FoundUnits {
  readonly units: Uint32Array;
  readonly commits: Uint32Array;
  /** The place of each change among those of its commit. */
  readonly places: Uint32Array;
  readonly dates: Float64Array;
  /** The number of ranges of each unit. At least 1, because the name counts if nothing else matches. */
  readonly ranges: Uint32Array;
  /** The text atoms whose ranges are shown, for each unit. */
  readonly texts: readonly (readonly number[])[];
}

export interface ScanStats {
  readonly considered: number;
  readonly contentBytes: number;
  readonly grams: number;
  readonly pages: number;
}

export interface ShowChangesInput {
  readonly plan: ChangePlan;
  readonly segment: number;
  readonly units: readonly UnitToShow[];
  readonly contextLines: number;
  readonly shared: SharedArrayBuffer;
}

export interface UnitToShow {
  readonly unit: number;
  /** The text atoms whose ranges are shown. */
  readonly texts: readonly number[];
  /** The ranges to show are those from `skip` on, at most `count` of them. */
  readonly skip: number;
  readonly count: number;
}

export interface ShownUnit {
  /** The path of a change, or the id of a commit. */
  readonly name: string;
  /** Whether the name is the only range. */
  readonly isNamed: boolean;
  readonly commit: {
    readonly hash: string;
    readonly parents: readonly string[];
    /** `name <mail>` */
    readonly author: string;
    /** Seconds since 1970. */
    readonly date: number;
    readonly message: string;
  };
  readonly parts: readonly ShownPart[];
}

/** The chunks of consecutive lines on one side of a change, or of a message. */
export interface ShownPart {
  readonly side: "added" | "removed" | undefined;
  /** The line and the offset that the first line of the part has. */
  readonly firstLine: number;
  readonly firstByte: number;
  readonly chunks: PackedChunks;
}
