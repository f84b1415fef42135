/** Creates the errors of calls that were aborted. */

import { QuernError } from "./errors.ts";

/** The parts of an AbortSignal that quern reads. */
export type Stop = Pick<AbortSignal, "aborted" | "reason">;

export function throwIfAborted(signal: Stop): void {
  if (signal.aborted) throw aborted(signal);
}

/** Returns the error of a call that was aborted, with the signal's reason as its cause. */
export const aborted = ({ reason }: Pick<Stop, "reason">): QuernError =>
  new QuernError("ABORTED", "the caller's signal aborted the run", { cause: reason });
