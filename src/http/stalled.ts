/**
 * Bodies that wait for their reader. One that takes nothing for a minute is cut off: what the body
 * holds is others'. And as an answer may be on its way for as long as its reader likes, its caller is
 * judged again as it goes, or what was revoked would still be read.
 */

export const STALLED_MS = 60_000;
/** A body that waits is cut off so long after its credential was revoked, at most. */
const JUDGED_EVERY_MS = 1_000;
/** Between the pieces of a body that is read; a look-up for each would take longer than the pieces. */
const JUDGED_AGAIN_MS = 100;

type Controller = ReadableStreamDefaultController<Uint8Array>;

export interface Stall {
  /** From now on the reader has its time. */
  wait(controller: Controller): void;
  stop(): void;
  /** Before a piece leaves. Rejects if it may not. */
  confirm(): Promise<void>;
}

export interface StallOptions {
  readonly ms: number;
  /** Called before the body breaks off, with the reason. */
  readonly leave: (reason: unknown) => void;
  /** Rejects if the caller may not be answered any more. */
  readonly confirm: () => Promise<void>;
}

export function stallAfter({ ms, leave, confirm }: StallOptions): Stall {
  let timer: NodeJS.Timeout | undefined;
  let judging: NodeJS.Timeout | undefined;
  let judgedAt = performance.now();
  const stop = (): void => {
    clearTimeout(timer);
    clearInterval(judging);
    judging = undefined;
  };
  return {
    wait(controller) {
      const cutOff = (reason: unknown): void => {
        stop();
        leave(reason);
        controller.error(reason);
      };
      timer = setTimeout(() => cutOff(new Error("nobody read this body")), ms).unref();
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
