/** Lets a thread write the values and the text of one segment in any number of transactions. */

import type { Environment, Writer } from "../lmdb/environment.ts";
import { checkLease } from "../lmdb/lease.ts";

export interface SegmentTarget {
  /** Opens snapshots that contain everything written so far. */
  readonly environment: Pick<Environment, "snapshot">;
  readonly segment: number;
  /** Runs one transaction on this thread. Throws INDEX_LOCKED if the lease was lost. */
  write<T>(work: (writer: Writer) => T): T;
  /**
   * Appends blocks to the segment's file. Absent if the segment cannot have a file. REQUIRES: the call is within
   * write().
   */
  appendText?(from: number, blocks: readonly Uint8Array[]): void;
}

/** Returns the target for a segment on disk. Each transaction checks that `owner` still has the lease. */
export const segmentTarget = (
  environment: Environment,
  segment: number,
  owner: string,
): SegmentTarget => ({
  environment,
  segment,
  write: (work) =>
    environment.writeSync((writer) => {
      checkLease(writer, owner);
      return work(writer);
    }),
  appendText: (from, blocks) => environment.texts.append(segment, from, blocks),
});
