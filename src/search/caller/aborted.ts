/** Lets a promise reject as soon as the caller's signal is aborted. */

import { QuernError } from "../../base/errors.ts";

/** Settles as `work` does, or rejects with ABORTED as soon as the signal is aborted. */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
): Promise<T> {
  if (!signal) return work;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortedError());
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError();
}

const abortedError = (): QuernError =>
  new QuernError("ABORTED", "the caller's signal aborted the search");
