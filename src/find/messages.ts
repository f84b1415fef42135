/** Defines the data that the caller and the threads exchange for find(). */

import type { PackedSegment } from "../store/memory/memory-store.ts";
import type { RepositoryTable, SegmentInput } from "../search/messages/messages.ts";
import type { PackedPlan } from "../search/messages/plan.ts";
import type { Factor, Feature } from "./weights.ts";
import type { Question } from "./question.ts";

/** A segment, with the version of its word lists, or 0 if it has none. */
export interface FindSegment extends SegmentInput {
  readonly words: number;
}

/** The files that a question is asked of. */
export interface FindScope {
  readonly segments: readonly FindSegment[];
  /** The filters. */
  readonly plan: PackedPlan;
  readonly packed: readonly PackedSegment[];
  /** The position of each repository in the order of names. */
  readonly places: RepositoryTable["places"];
  /** The memory of a Control. */
  readonly shared: SharedArrayBuffer;
}

/** Why files in scope were not scored. */
export type Missing = "timed-out" | "damaged" | "no-word-lists" | "gone";

/** What a task could not do, by the positions of segments. */
export type Gaps = readonly (readonly [position: number, why: Missing])[];

export interface CountInput extends FindScope {
  readonly stems: readonly string[];
  readonly prefixes: readonly string[];
}

export interface CountOutput {
  /** The number of windows in scope that have each stem. Stems in no window are left out. */
  readonly windows: ReadonlyMap<string, number>;
  /** The number of all windows in scope. */
  readonly allWindows: number;
  readonly files: number;
  readonly gaps: Gaps;
}

/** A stem that may stand for a term. */
export interface WeightedStem {
  readonly stem: string;
  readonly term: number;
  readonly weight: number;
}

export interface RankInput extends FindScope {
  readonly stems: readonly WeightedStem[];
  /** The share of the question that each term has. The shares add up to 1. */
  readonly shares: readonly number[];
  readonly factors: Readonly<Record<Factor, number>>;
  /** The names whose definers are read in any case. */
  readonly names: readonly string[];
  /** The number of files to return, in addition to the definers. */
  readonly most: number;
}

/** A file that may have the answer. */
export interface Candidate {
  readonly position: number;
  readonly file: number;
  readonly path: string;
  /** The position of the file's repository in the order of names, and the hash of the content. */
  readonly repository: number;
  readonly hash: string;
  /** The rank of the first stage. */
  readonly score: number;
  /** The sum of the worths of the file's stems, times the shares of their terms. */
  readonly sum: number;
  /** Whether the file defines a name of the question. */
  readonly isDefiner: boolean;
}

export interface RankOutput {
  readonly candidates: readonly Candidate[];
  readonly gaps: Gaps;
}

export interface ReadInput extends FindScope {
  readonly candidates: readonly Candidate[];
  readonly question: Question;
  readonly stems: readonly WeightedStem[];
  readonly shares: readonly number[];
  readonly factors: Readonly<Record<Factor, number>>;
  /** The number of lines of a place to show. */
  readonly lines: number;
}

/** Lines, numbered from 1, both ends included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** The best place of a candidate. */
export interface ReadPlace {
  readonly candidate: Candidate;
  readonly score: number;
  readonly features: Readonly<Record<Feature, number>>;
  readonly kinds: readonly Factor[];
  readonly language: string;
  readonly definition?: PlaceDefinition | undefined;
  readonly lines: LineRange;
  readonly shown: LineRange;
  /** The text of the shown lines. */
  readonly content: string;
  /** The byte at which the shown lines begin. */
  readonly byteOffset: number;
  readonly others: readonly LineRange[];
  /** The terms of the question that each part of the place has. */
  readonly terms: PlaceTerms;
}

export interface PlaceDefinition {
  readonly name: string;
  readonly kind: string;
  readonly parent?: { readonly name: string; readonly kind: string };
}

export type PlaceTerms = Readonly<
  Record<"name" | "folder" | "definition" | "comment" | "words", readonly number[]>
>;

export interface ReadOutput {
  readonly places: readonly ReadPlace[];
  readonly gaps: Gaps;
}
