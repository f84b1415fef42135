/** Retries with exponential backoff and full jitter: the delay is random between 0 and the cap. */

export interface RetryOptions {
  /** Tries in total, the first included. */
  attempts?: number;
  baseMs?: number;
  maxMs?: number;
  signal?: AbortSignal;
  /** False for errors that no retry can cure. */
  retryable?: (error: unknown) => boolean;
}

export class RetryError extends Error {
  readonly attempts: number;

  constructor(attempts: number, cause: unknown) {
    super(`gave up after ${attempts} attempts`, { cause });
    this.attempts = attempts;
  }
}

export async function retryWithBackoff<T>(
  operation: () => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { attempts = 3, baseMs = 100, maxMs = 30_000, signal, retryable = () => true } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation();
    } catch (error) {
      if (!retryable(error)) throw error;
      if (attempt >= attempts) throw new RetryError(attempt, error);
      await sleep(backoffDelay(attempt, baseMs, maxMs), signal);
    }
  }
}

export function backoffDelay(attempt: number, baseMs: number, maxMs: number): number {
  const cap = Math.min(maxMs, baseMs * 2 ** (attempt - 1));
  return Math.random() * cap;
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
