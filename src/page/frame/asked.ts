/** Asks a route, and asks again when what is asked for is another. */

import { useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "../wire/client.ts";

export type Asking<T> =
  { state: "waiting" } | { state: "there"; value: T } | { state: "failed"; error: unknown };

const WAITING = { state: "waiting" } as const;

/** `key` says what is asked for; undefined asks for nothing. The signal aborts when it changes. */
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

/** Keeps the last value while the next one is asked for, so that a list does not vanish meanwhile. */
export function useKept<T>(asking: Asking<T>): Asking<T> {
  const last = useRef<Asking<T>>(asking);
  if (asking.state !== "waiting") last.current = asking;
  return last.current;
}
