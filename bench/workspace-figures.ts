/** What following a folder costs, as the record has it. */

import type { Spread } from "./statistics.ts";

export interface WorkspaceFigures {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  /** Seconds from workspace() of a folder that is indexed to the first search that may be asked. */
  readonly openSeconds: number;
  /** Of the heap, after a collection: what following adds. */
  readonly heapBytes: number;
  /** Processor time of a minute in which nothing changes, in ms: of the engine alone, and with the folder followed. */
  readonly idle: {
    readonly engineMs: number;
    readonly followedMs: number;
    readonly written: number;
  };
  /** From before a file is written until a search has found it, ms. */
  readonly findable: Findable;
  /** The same search of the engine and of the workspace, in turns, nothing having changed. */
  readonly unchanged: { readonly engine: Cost; readonly workspace: Cost };
  /** By number of changed files: the first search after the change, and those behind it. */
  readonly changed: readonly ChangedCost[];
  /** The same question to other tools. */
  readonly peers: readonly { readonly name: string; readonly cost: Cost }[];
  /** Processes that could run, in the mean, by the system's count, while this was measured. */
  readonly load: number;
}

export interface Findable extends Spread {
  readonly p99: number;
  /** Processor time of all threads, the median. */
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

/** A hundred work trees of one repository, each followed. */
export interface WorkTreeFigures {
  readonly trees: number;
  readonly files: number;
  readonly bytes: number;
  /** Of each, beyond the first. */
  readonly diskBytes: number;
  readonly heapBytes: number;
  readonly seconds: number;
}
