/**
 * Defines what an engine is opened with besides the options of its host: what quern/cluster sets, and the bounds that
 * tests make small, so that they reach them with little data.
 */

import { RUN_BOUNDS, type RunBounds } from "./ingest/run/bounds.ts";
import type { Complete } from "./ingest/writes.ts";
import { LAYOUT, RETIRE_MS, type Layout } from "./store/format/format.ts";
import { WORKSPACE_BOUNDS, type WorkspaceBounds } from "./workspace/bounds.ts";

export interface Internals {
  /** Fetches what the directory lacks of segments. Undefined if the directory has all segments as a whole. */
  readonly complete: Complete | undefined;
  /** How long a retired segment is kept for other processes, in milliseconds. */
  readonly retireMs: number;
  /** How the text of new segments is cut, on disk and in memory. */
  readonly layout: Layout;
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
