/** Where a thread writes what belongs to one segment, in any number of transactions. */

import type { Environment, Writer } from "../lmdb/environment.ts";
import { checkLease } from "../lmdb/lease.ts";

export interface SegmentTarget {
  /** What was written can be read in its snapshots. */
  readonly environment: Pick<Environment, "snapshot">;
  readonly segment: number;
  /** One transaction, on this thread. Throws INDEX_LOCKED when the lease is lost. */
  write(work: (writer: Writer) => void): void;
}

/** REQUIRES: the lease is, or was, `owner`'s. */
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
      work(writer);
    }),
});
