/**
 * Decides when `quern mcp` begins to read its folders. It waits until the first call has been answered, because
 * reading 80 000 files keeps two cores busy for seconds and would delay the answer. If the client makes no call at
 * first, reading begins anyway.
 */

import { JoinedSignal } from "../base/joined-signal.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Guard } from "../mcp/guard.ts";

/** How long to wait for the first call. A client that has a question calls as soon as the server has started. */
const QUIET_MS = 1_000;
/** The longest time for which the first call may delay the reading of the folders. */
const MOST_MS = 5_000;

export interface FirstAnswer {
  /** Wraps each call of a tool. */
  readonly guard: Guard;
  /** Resolves when the first call has ended, or takes longer than MOST_MS, or when no call has come for QUIET_MS. */
  readonly given: Promise<void>;
}

export function firstAnswer(
  signal: AbortSignal,
  quietMs = QUIET_MS,
  mostMs = MOST_MS,
): FirstAnswer {
  let begin: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let end: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const within = async (ms: number, event: Promise<void>): Promise<boolean> => {
    const stop = new AbortController();
    using either = new JoinedSignal([signal, stop.signal]);
    const timer = sleep(ms, false, { signal: either.signal });
    try {
      return await Promise.race([event.then(() => true), timer.catch(() => false)]);
    } finally {
      stop.abort();
    }
  };
  const guard: Guard = async (_, run) => {
    begin();
    try {
      return await run(() => {});
    } finally {
      end();
    }
  };
  const given = (async () => {
    if (await within(quietMs, begun)) await within(mostMs, ended);
  })();
  return { guard, given };
}
