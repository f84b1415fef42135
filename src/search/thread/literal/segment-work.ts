/**
 * The work of a search in one segment, after it was planned. The work consists of steps, which threads claim one by one.
 * A search for one literal is left to the kernel (literal-work.ts) if the kernel can read the tables of the segment. Every
 * other search scans one window after another (thread/window-work.ts).
 */

import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import type { PlanStats, Totals } from "../../messages/totals.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";

export const STEPS = { WINDOWS: 0, CHUNKS: 1 } as const;

export interface SegmentWork {
  readonly reader: SegmentReader;
  /** The definitions of the segment. Undefined if none are known. */
  readonly symbols: SegmentSymbols | undefined;
  /** The counters of the plan. */
  readonly stats: PlanStats;
  /** The number of files that may match. */
  readonly candidates: number;
  /** The number of files in scope that may or may not match, because their symbols are not known. */
  readonly undecided: number;
  readonly steps: number;
  /** What the steps are. Two plans of a segment have the same steps if they are of one kind. */
  readonly kind: (typeof STEPS)[keyof typeof STEPS];
  /** Whether other threads may plan the segment again and help with its steps. */
  readonly isShared: boolean;
  /** Does a step. Adds what it has counted to `totals`, also if damage ends it. */
  step(number: number, totals: Totals, found: OnFound): Promise<void> | void;
  /** Releases the memory of the plan. No step is done after this. */
  end(): void;
}

export interface OnFound {
  /** Files with a lower score need not be passed to `file`. */
  readonly threshold: () => number;
  /** Called with each matching file. */
  readonly file: (file: number, score: number, count: number) => void;
}
