import { useEffect, useState } from "react";

interface Polled<T> {
  value: T | undefined;
  error: Error | undefined;
}

/** Calls `load` at once and then every `intervalMs` while the tab can be seen. */
export function usePolling<T>(load: () => Promise<T>, intervalMs: number): Polled<T> {
  const [state, setState] = useState<Polled<T>>({ value: undefined, error: undefined });
  useEffect(() => {
    let stopped = false;
    const tick = async () => {
      if (document.hidden) return;
      try {
        const value = await load();
        if (!stopped) setState({ value, error: undefined });
      } catch (error) {
        if (!stopped) setState((old) => ({ ...old, error: error as Error }));
      }
    };
    void tick();
    const timer = setInterval(() => void tick(), intervalMs);
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  }, [load, intervalMs]);
  return state;
}
