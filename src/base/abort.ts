/** Errors of calls that were aborted. */

import { QuernError } from "./errors.ts";

/** The parts of an AbortSignal that quern reads. */
export type Stop = Pick<AbortSignal, "aborted" | "reason">;

export function throwIfAborted(signal: Stop): void {
  if (signal.aborted) throw aborted(signal);
}

export const aborted = ({ reason }: Pick<Stop, "reason">): QuernError =>
  new QuernError("ABORTED", "the caller's signal aborted the run", { cause: reason });
