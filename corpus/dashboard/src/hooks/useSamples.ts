import { useCallback, useMemo } from "react";
import { fetchSamples, type Sample } from "../api.ts";
import { usePolling } from "./usePolling.ts";

const WINDOW_MS = 15 * 60_000;

export function useSamples(endpoint: string) {
  const load = useCallback(() => fetchSamples(endpoint, Date.now() - WINDOW_MS), [endpoint]);
  const { value, error } = usePolling(load, 5_000);
  const byMachine = useMemo(() => groupByMachine(value ?? []), [value]);
  return { byMachine, error };
}

export function groupByMachine(samples: readonly Sample[]): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const group = groups.get(sample.machine);
    if (group === undefined) groups.set(sample.machine, [sample]);
    else group.push(sample);
  }
  return groups;
}
