/**
 * Defines the internal settings with which an engine is opened, in addition to the host's options. quern/cluster passes
 * some of them. Tests pass small bounds, which they reach with little data.
 */

import { RUN_BOUNDS, type RunBounds } from "./ingest/run/bounds.ts";
import type { Complete } from "./ingest/writes.ts";
import { LAYOUT, RETIRE_MS, type NewLayout } from "./store/format/format.ts";
import { WORKSPACE_BOUNDS, type WorkspaceBounds } from "./workspace/bounds.ts";

export interface Internals {
  /** Fetches the missing parts of segments. Undefined if the directory never lacks parts of a segment. */
  readonly complete: Complete | undefined;
  /** How long a retired segment is kept for other processes, in milliseconds. */
  readonly retireMs: number;
  /** How the text of new segments is cut, on disk and in memory. */
  readonly layout: NewLayout;
  readonly runs: RunBounds;
  readonly workspaces: WorkspaceBounds;
}

export const INTERNALS: Internals = {
  complete: undefined,
  retireMs: RETIRE_MS,
  layout: LAYOUT,
  runs: RUN_BOUNDS,
  workspaces: WORKSPACE_BOUNDS,
};
