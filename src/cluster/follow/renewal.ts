/**
 * Renews a lease. A lease is a row in PostgreSQL that contains the name of the holder and the time when the lease
 * ends, by PostgreSQL's clock.
 */

/** How long a lease lasts. A process that takes over from a dead process waits at most this long. */
export const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

export interface Renewal extends Disposable {
  /** Aborts when another process has taken the lease. */
  readonly lost: AbortSignal;
}

/**
 * Renews a lease until the result is disposed of. `renew` resolves to true if the lease is still held. If `renew`
 * rejects, it is called again after RENEW_MS, because PostgreSQL may be back before the lease ends. This is safe,
 * because a writer that has lost its lease cannot publish.
 */
export function keepRenewing(renew: () => Promise<boolean>): Renewal {
  const lost = new AbortController();
  const timer = setInterval(() => {
    renew().then(
      (isHeld) => void (isHeld || lost.abort()),
      () => undefined,
    );
  }, RENEW_MS).unref();
  return { lost: lost.signal, [Symbol.dispose]: () => clearInterval(timer) };
}
