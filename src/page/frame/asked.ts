/** Provides hooks with which a component loads data from the server. */

import { useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "../wire/client.ts";

export type Asking<T> =
  | { state: "waiting" }
  | { state: "there"; value: T }
  | { state: "failed"; error: unknown };

const WAITING = { state: "waiting" } as const;

/**
 * Sends a request, and returns its state. When `key` changes, aborts the request and sends a new one. If the key is
 * undefined, nothing is sent.
 */
export function useAsked<T>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
): Asking<T> {
  const [asking, setAsking] = useState<{ key: string | undefined; asking: Asking<T> }>();
  useEffect(() => {
    if (key === undefined) return;
    const abort = new AbortController();
    ask(abort.signal).then(
      (value) => abort.signal.aborted || setAsking({ key, asking: { state: "there", value } }),
      (error: unknown) => isAbort(error) || setAsking({ key, asking: { state: "failed", error } }),
    );
    return () => abort.abort();
  }, [key]);
  return asking !== undefined && asking.key === key ? asking.asking : WAITING;
}

/** Returns the previous state while the next value is loading, so that a list does not vanish. */
export function useKept<T>(asking: Asking<T>): Asking<T> {
  const last = useRef<Asking<T>>(asking);
  if (asking.state !== "waiting") last.current = asking;
  return last.current;
}
