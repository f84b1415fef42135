/**
 * Renews a lease. A lease is a row in PostgreSQL with the name of its holder and the time when it ends, by PostgreSQL's
 * clock.
 */

/** How long a lease lasts. A process that takes over from a dead one waits at most this long. */
export const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

export interface Renewal extends Disposable {
  /** Aborts when another process has taken the lease. */
  readonly lost: AbortSignal;
}

/**
 * Renews a lease until the result is disposed of. `renew` resolves to whether the lease is still held. If `renew`
 * rejects, the next renewal tries again, because PostgreSQL may be back before the lease ends. A writer that has lost
 * its lease cannot publish.
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
