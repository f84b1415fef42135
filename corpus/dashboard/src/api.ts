import { parseDuration, retryWithBackoff } from "task-queue";

export interface Sample {
  readonly machine: string;
  readonly at: number;
  readonly load: number;
  readonly memoryBytes: number;
}

export interface QueueState {
  readonly name: string;
  readonly waiting: number;
  readonly failed: number;
  /** How long the oldest task has been waiting, as the server writes it: `2m30s`. */
  readonly oldest: string;
}

export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, url: string) {
    super(`${url} answered ${status}`);
    this.status = status;
  }
}

export async function fetchSamples(endpoint: string, since: number): Promise<Sample[]> {
  return fetchJson<Sample[]>(`${endpoint}/samples?since=${since}`);
}

export async function fetchQueues(endpoint: string): Promise<QueueState[]> {
  return fetchJson<QueueState[]>(`${endpoint}/queues`);
}

export function isStuck(queue: QueueState): boolean {
  return parseDuration(queue.oldest) > parseDuration("5m");
}

/** Tries again for answers that another try may cure: 429 and all of 5xx. */
function fetchJson<T>(url: string): Promise<T> {
  return retryWithBackoff(
    async () => {
      const response = await fetch(url, { headers: { accept: "application/json" } });
      if (!response.ok) throw new ApiError(response.status, url);
      return (await response.json()) as T;
    },
    { attempts: 4, retryable: (e) => e instanceof ApiError && (e.status === 429 || e.status >= 500) },
  );
}
