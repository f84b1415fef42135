/** Keeps a lease: a row of PostgreSQL that says, by PostgreSQL's clock, until when its holder has something. */

/** How long a lease holds without being renewed. Whoever takes over from a dead process waits for so long. */
export const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

export interface Renewal extends Disposable {
  /** Aborts when another process has taken the lease. */
  readonly lost: AbortSignal;
}

/**
 * Renews until it is disposed of. `renew` resolves to whether the lease is still held. It may reject, because
 * PostgreSQL may be back before the lease ends; whoever has lost it meanwhile finds out when it publishes.
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
