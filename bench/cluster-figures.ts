/** What a cluster on one machine costs, as the record has it. */

import type { Spread } from "./statistics.ts";

export interface ClusterFigures {
  readonly files: number;
  readonly contentBytes: number;
  /** Processes that could run, in the mean, by the system's count, while this was measured. */
  readonly load: number;
  /** One engine with the whole index, without threads of its own, as the nodes. */
  readonly single: Asked;
  /** A front over so many nodes. */
  readonly fronts: readonly (Asked & {
    readonly nodes: number;
    readonly slices: number;
    /** Of all nodes together, for a rare search. */
    readonly nodesProcessorMs: number;
  })[];
  /** What a node takes to fetch the whole index. */
  readonly fetch: {
    readonly bytes: number;
    readonly seconds: number;
    readonly processorMs: number;
  };
  /** From the commit of 10 MB of text until a front searches it, ms; and index() as a whole. */
  readonly publish: { readonly bytes: number; readonly ready: Spread; readonly index: Spread };
  readonly memory: { readonly segments: number; readonly anonymousBytes: number };
  readonly many: ManyInCluster;
}

/** Of this process: the medians, ms. */
export interface Asked {
  readonly rare: Spread;
  readonly frequent: Spread;
  /** Processor time of a search for a rare literal in the process that asks. */
  readonly processorMs: number;
}

export interface ManyInCluster {
  readonly repositories: number;
  /** Of a node that holds them, which is a front, too: until it is ready. */
  readonly start: { readonly seconds: number; readonly processorMs: number };
  readonly anonymousBytes: number;
  /** Of one more small repository, until a front searches it: ms. */
  readonly publish: Spread;
}
