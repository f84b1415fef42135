/** Defines the figures of a cluster on one machine, as they are recorded. */

import type { Spread } from "./statistics.ts";

export interface ClusterFigures {
  readonly files: number;
  readonly contentBytes: number;
  /** The mean number of processes that could run during the measurement, as counted by the system. */
  readonly load: number;
  /** A single engine with the whole index. Like the nodes, it has no threads of its own. */
  readonly single: Asked;
  /** A front over `nodes` nodes. */
  readonly fronts: readonly (Asked & {
    readonly nodes: number;
    readonly slices: number;
    /** The processor time of all nodes together, for a rare search. */
    readonly nodesProcessorMs: number;
  })[];
  /** How long a node takes to fetch the whole index. */
  readonly fetch: {
    /** Bytes of the objects before they are packed. */
    readonly bytes: number;
    readonly seconds: number;
    readonly processorMs: number;
  };
  /** Milliseconds from the commit of 10 MB of text until a front searches it, and those of the whole index(). */
  readonly publish: { readonly bytes: number; readonly ready: Spread; readonly index: Spread };
  readonly memory: { readonly segments: number; readonly anonymousBytes: number };
  readonly many: ManyInCluster;
}

/** The medians of this process, in milliseconds. */
export interface Asked {
  readonly rare: Spread;
  readonly frequent: Spread;
  /** The processor time of a search for a rare literal, in the process that sends it. */
  readonly processorMs: number;
}

export interface ManyInCluster {
  readonly repositories: number;
  /** The start, until it is ready, of a node that holds the repositories and is a front, too. */
  readonly start: { readonly seconds: number; readonly processorMs: number };
  readonly anonymousBytes: number;
  /** Milliseconds until a front searches one more small repository. */
  readonly publish: Spread;
}
