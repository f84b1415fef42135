import { useCallback } from "react";
import { fetchQueues, type QueueState } from "../api.ts";
import { usePolling } from "./usePolling.ts";

const NONE: readonly QueueState[] = [];

export function useQueues(endpoint: string): readonly QueueState[] {
  const load = useCallback(() => fetchQueues(endpoint), [endpoint]);
  return usePolling(load, 10_000).value ?? NONE;
}
