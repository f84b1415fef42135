/** Creates the errors of calls that were aborted. */

import { QuernError } from "./errors.ts";

/** The parts of an AbortSignal that quern reads. */
export type Stop = Pick<AbortSignal, "aborted" | "reason">;

/** What a signal aborts, for the message of the error. */
type Aborted = "run" | "search";

export function throwIfAborted(signal: Stop | undefined, what?: Aborted): void {
  if (signal?.aborted) throw aborted(signal, what);
}

/** Returns the error of a call that was aborted, with the signal's reason as its cause. */
export const aborted = ({ reason }: Pick<Stop, "reason">, what: Aborted = "run"): QuernError =>
  new QuernError("ABORTED", `the caller's signal aborted the ${what}`, { cause: reason });

/** Settles as `work` does, or rejects with ABORTED as soon as the signal is aborted. */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
  what?: Aborted,
): Promise<T> {
  if (!signal) return work;
  let onAbort = () => {};
  const stopped = new Promise<never>((_, reject) => {
    onAbort = () => reject(aborted(signal, what));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
