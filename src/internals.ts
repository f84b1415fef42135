/**
 * Defines the internal settings of an engine. A host cannot set them with the options of open(). quern/cluster sets
 * some of them. Tests set small bounds, so that a little data is enough to reach the bounds.
 */

import { RUN_BOUNDS, type RunBounds } from "./ingest/run/bounds.ts";
import type { Complete } from "./ingest/writes.ts";
import { LAYOUT, RETIRE_MS, type NewLayout } from "./store/format/format.ts";
import { WORKSPACE_BOUNDS, type WorkspaceBounds } from "./workspace/bounds.ts";
import { systemNotices, type MakeNotices } from "./workspace/notices.ts";

export interface Internals {
  /** Fetches the missing parts of segments. Undefined if the directory never lacks parts of a segment. */
  readonly complete: Complete | undefined;
  /** How long a retired segment is kept, in milliseconds. Searches of other processes may still read it. */
  readonly retireMs: number;
  /** How the text of new segments is cut into pages and blocks, on disk and in memory. */
  readonly layout: NewLayout;
  readonly runs: RunBounds;
  readonly workspaces: WorkspaceBounds;
  /** Watches the folders of workspaces. */
  readonly notices: MakeNotices;
  /** The maximum size of the segments' tables that threads share, in bytes. */
  readonly tableBytes: number;
}

export const INTERNALS: Internals = {
  complete: undefined,
  retireMs: RETIRE_MS,
  layout: LAYOUT,
  runs: RUN_BOUNDS,
  workspaces: WORKSPACE_BOUNDS,
  notices: systemNotices,
  tableBytes: 96 * 2 ** 20, // those of a gigabyte of source code take 9 MB; docs/limits.md promises this bound
};
