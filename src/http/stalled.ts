/**
 * Watches bodies that wait for their reader, because they hold memory and a slot that others need. A body is
 * cut off if its reader takes nothing for a minute, or is two minutes later than one that takes 256 KiB a
 * second: 64 readers that trickle would otherwise hold every slot for hours. A long answer may still take
 * minutes, so its caller is judged again meanwhile; otherwise it could be read after a revocation.
 */

export const STALLED_MS = 60_000;
/** How late a reader may be, if nobody needs its slot. */
const MOST_LATE_MS = 120_000;
/** The bytes that a reader is expected to take in a millisecond. */
const LEAST_RATE = (256 * 1024) / 1_000;
/** The longest time between a revocation and the end of a waiting body. */
const JUDGED_EVERY_MS = 1_000;
/**
 * The time between two judgements of a body that is being read. One for each piece would take longer than
 * the pieces.
 */
const JUDGED_AGAIN_MS = 100;

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** Somebody who reads a body. */
export interface Reader {
  /** Returns how much longer the reader has taken than one that reads at the expected rate. */
  lateMs(): number;
  /** Breaks the body off. */
  cutOff(reason: unknown): void;
}

export interface Stall {
  /** Starts the reader's time, for so many bytes. */
  wait(controller: Controller, bytes: number): void;
  stop(): void;
  /** Called before a piece leaves. Rejects if it must not leave. */
  confirm(): Promise<void>;
}

export interface StallOptions {
  readonly ms: number;
  /** Called with the reason before the body breaks off. */
  readonly leave: (reason: unknown) => void;
  /** Rejects if the caller may no longer be answered. */
  readonly confirm: () => Promise<void>;
  /** Called with the reader once it is waited for. */
  readonly onReader?: ((reader: Reader) => void) | undefined;
}

export function stallAfter({ ms, leave, confirm, onReader }: StallOptions): Stall {
  let timer: NodeJS.Timeout | undefined;
  let judging: NodeJS.Timeout | undefined;
  let judgedAt = performance.now();
  let waitsSince: number | undefined;
  let [waitedMs, expectedMs] = [0, 0];
  const lateMs = (): number =>
    waitedMs + (waitsSince === undefined ? 0 : performance.now() - waitsSince) - expectedMs;
  const stop = (): void => {
    clearTimeout(timer);
    clearInterval(judging);
    judging = undefined;
    if (waitsSince !== undefined) waitedMs += performance.now() - waitsSince;
    waitsSince = undefined;
  };
  return {
    wait(controller, bytes) {
      const cutOff = (reason: unknown): void => {
        stop();
        leave(reason);
        controller.error(reason);
      };
      onReader?.({ lateMs, cutOff });
      expectedMs += bytes / LEAST_RATE;
      waitsSince = performance.now();
      const leftMs = MOST_LATE_MS - lateMs();
      const reason = leftMs < ms ? "this body was read too slowly" : "nobody read this body";
      timer = setTimeout(() => cutOff(new Error(reason)), Math.min(ms, leftMs)).unref();
      const own = setInterval(() => {
        confirm().catch((reason: unknown) => judging === own && cutOff(reason));
      }, JUDGED_EVERY_MS).unref();
      judging = own;
    },
    stop,
    async confirm() {
      const now = performance.now();
      if (now - judgedAt < JUDGED_AGAIN_MS) return;
      judgedAt = now;
      await confirm();
    },
  };
}
