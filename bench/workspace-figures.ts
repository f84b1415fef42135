/** Defines the figures of a followed folder, as they are recorded. */

import type { Spread } from "./statistics.ts";

export interface WorkspaceFigures {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  /** Seconds from the call of workspace() for an indexed folder until the first search can start. */
  readonly openSeconds: number;
  /** The bytes of the heap that following adds, after a garbage collection. */
  readonly heapBytes: number;
  /** Figures at rest: the first minute after the last work, and the bytes written in three minutes. */
  readonly idle: Rest & { readonly written: number };
  /**
   * The same figures for the second and the third minute. In the third minute, V8 has collected all garbage. Older
   * records lack them.
   */
  readonly laterIdle?: readonly [Rest, Rest];
  /** Milliseconds from before a file is written until a search has found it. */
  readonly findable: Findable;
  /** The same search of the engine and of the workspace, alternately, while nothing changes. */
  readonly unchanged: { readonly engine: Cost; readonly workspace: Cost };
  /** Figures by number of changed files: the first search after the change, and the following ones. */
  readonly changed: readonly ChangedCost[];
  /** The same question with other tools. */
  readonly peers: readonly { readonly name: string; readonly cost: Cost }[];
  /** The mean number of processes that could run while this was measured, by the system's count. */
  readonly load: number;
}

/** Processor time of a minute in which nothing changes, in milliseconds. */
export interface Rest {
  readonly engineMs: number;
  readonly followedMs: number;
}

export interface Findable extends Spread {
  readonly p99: number;
  /** The median processor time of all threads. */
  readonly processorMs: number;
}

/** Medians. */
export interface Cost {
  readonly ms: number;
  /** Processor time of all threads and processes. */
  readonly processorMs: number;
}

export interface ChangedCost {
  readonly files: number;
  readonly first: Cost;
  readonly next: Cost;
}

/** The figures of a hundred followed work trees of one repository. */
export interface WorkTreeFigures {
  readonly trees: number;
  readonly files: number;
  readonly bytes: number;
  /** The bytes on disk of each work tree beyond the first. */
  readonly diskBytes: number;
  readonly heapBytes: number;
  readonly seconds: number;
}
