/**
 * Watches response bodies that wait for their reader. Such a body holds memory, and a slot that other callers may
 * need. A body is cut off if its reader reads nothing for a minute, or falls two minutes behind a rate of 32 KiB a
 * second. If other callers need the slot, the body is cut off as soon as its reader is ten seconds behind a rate of
 * 256 KiB a second. Without these limits, 64 very slow readers could hold all slots for hours. A long response may
 * still take minutes, so the access of its caller is checked repeatedly. A caller whose access was revoked thus
 * cannot read the rest.
 */

export const STALLED_MS = 60_000;
/** How far a reader may fall behind SLOWEST_RATE, in milliseconds. */
const MOST_LATE_MS = 120_000;
/** The number of bytes that a reader is expected to read per millisecond if other callers need its slot. */
const LEAST_RATE = (256 * 1024) / 1_000;
/**
 * The number of bytes that a reader is expected to read per millisecond if nobody needs its slot. At this rate,
 * reading 128 MiB takes 70 minutes. During this time, the segments that the response needs are not deleted.
 */
const SLOWEST_RATE = (32 * 1024) / 1_000;
/** The time between two checks of the caller while a body waits. A revocation takes effect within this time. */
const JUDGED_EVERY_MS = 1_000;
/**
 * The time between two checks of the caller while a body is read. A check for each piece would take longer than
 * sending the pieces.
 */
const JUDGED_AGAIN_MS = 100;

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** The reader of a response body. */
export interface Reader {
  /** Returns by how many milliseconds the reader is behind a reader at LEAST_RATE. */
  lateMs(): number;
  /** Cuts off the body. */
  cutOff(reason: unknown): void;
}

export interface Stall {
  /** Starts to measure the time until the reader wants the next piece. `bytes` is the length of the last piece. */
  wait(controller: Controller, bytes: number): void;
  stop(): void;
  /** Called before a piece is sent. Rejects if the piece must not be sent. */
  confirm(): Promise<void>;
}

export interface StallOptions {
  readonly ms: number;
  /** Called with the reason before the body is cut off. */
  readonly leave: (reason: unknown) => void;
  /** Rejects if the caller has lost access. */
  readonly confirm: () => Promise<void>;
  /** Called with the reader when the body first waits for it. */
  readonly onReader?: ((reader: Reader) => void) | undefined;
}

export function stallAfter({ ms, leave, confirm, onReader }: StallOptions): Stall {
  let timer: NodeJS.Timeout | undefined;
  let judging: NodeJS.Timeout | undefined;
  let judgedAt = performance.now();
  let waitsSince: number | undefined;
  let [waitedMs, readBytes] = [0, 0];
  const lateMs = (): number =>
    waitedMs +
    (waitsSince === undefined ? 0 : performance.now() - waitsSince) -
    readBytes / LEAST_RATE;
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
      readBytes += bytes;
      waitsSince = performance.now();
      const leftMs = MOST_LATE_MS - (waitedMs - readBytes / SLOWEST_RATE);
      const reason = leftMs < ms ? "the response was read too slowly" : "the response was not read";
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
