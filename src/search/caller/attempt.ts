/** Defines an attempt to answer a query. An attempt works on one catalog from its beginning to its end. */

import type { Catalog } from "../../store/catalog/catalog.ts";
import type { View } from "../../store/catalog/view.ts";
import { STOPPED, type Control } from "../messages/control.ts";
import type { SearchOutput, SegmentInput } from "../messages/messages.ts";
import type { SearchOptions } from "../messages/request.ts";
import type { SearchStats } from "../messages/stats.ts";
import { unlessAborted } from "../../base/abort.ts";
import type { Understood } from "./understand.ts";

export interface Attempt {
  readonly understood: Understood;
  readonly options: SearchOptions;
  readonly view: View;
  /** The catalog of the view. */
  readonly catalog: Catalog;
  readonly segments: readonly SegmentInput[];
  readonly control: Control;
  /** The value of performance.now() when the host called the engine, before the first attempt. */
  readonly startedAt: number;
}

/**
 * Calls `run`, and stops the threads if the caller's signal is aborted. The time-out is not handled here, but by the
 * control.
 */
export async function stoppable<T>(
  { options, control }: Attempt,
  run: () => Promise<T>,
): Promise<T> {
  const onAbort = () => control.stop(STOPPED.ABORTED);
  options.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await unlessAborted(options.signal, run(), "search");
  } finally {
    options.signal?.removeEventListener("abort", onAbort);
    control.stop(STOPPED.ABORTED); // stops threads that are still working on the search
  }
}

/** Sets the times of the whole search in `stats`. If the time-out ended the search early, also sets `flushReason`. */
export function timeStats(
  stats: SearchStats,
  outputs: readonly SearchOutput[],
  { control, startedAt }: Pick<Attempt, "control" | "startedAt">,
): void {
  stats.duration = Math.round((performance.now() - startedAt) * 1e6);
  const began = outputs.map(({ beganAt }) => beganAt - performance.timeOrigin - startedAt);
  stats.wait = began.length === 0 ? 0 : Math.max(0, Math.round(Math.min(...began) * 1e6));
  if (control.stopped === STOPPED.TIMED_OUT && stats.shardsSkipped > 0)
    stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
}

/** Returns whether every match was delivered. */
export function isExhaustive(stats: SearchStats): boolean {
  const { actualMatchCount, totalMatchCount, crashes, shardsSkipped, filesSkipped } = stats;
  return actualMatchCount === totalMatchCount && crashes + shardsSkipped + filesSkipped === 0;
}
