/** Defines the messages between the calling thread and the thread that navigates. All messages are plain data. */

import type { Bitset } from "../base/bitset.ts";
import type { PackedSegment } from "../store/memory/memory-store.ts";
import type { Ask, NavigationAnswer, NavigationPlace } from "./request.ts";

/** A place in the repository that is asked about. */
export type FoundPlace = Omit<NavigationPlace, "repository">;

export interface NavigationInput {
  readonly ask: Ask;
  /** The name, or the place where it is named. */
  readonly target:
    | { readonly symbol: string; readonly parent: string | undefined }
    | { readonly path: string; readonly line: number; readonly column: number };
  /** The segments with files in scope, and those files. */
  readonly segments: readonly { readonly segment: number; readonly scope: Bitset }[];
  /** The segments that are in memory instead of on disk. */
  readonly packed: readonly PackedSegment[];
  /** The memory of the Control, which ends the task. */
  readonly shared: SharedArrayBuffer;
  /** The maximum number of calls between a caller and the target. */
  readonly depth: number;
  /** Whether places are posted as they are found. */
  readonly isStreamed: boolean;
}

/** Places of files that were resolved since the last message of the task. */
export interface NavigationMessage {
  readonly places: readonly FoundPlace[];
  readonly filesRead: number;
  readonly filesLeft: number;
}

export interface FoundCaller extends FoundPlace {
  readonly depth: number;
  readonly via: FoundPlace;
}

export interface NavigationOutput {
  readonly targets: readonly FoundPlace[];
  /** Empty if they were posted. */
  readonly places: readonly (FoundPlace | FoundCaller)[];
  readonly leftOut: NavigationAnswer["leftOut"];
  readonly filesResolved: number;
  readonly isComplete: boolean;
}

/** 'gone': a segment was merged away. */
export type NavigationResult = NavigationOutput | "gone";
