/**
 * Watches bodies that wait for their reader. One that takes nothing for a minute is cut off, because it
 * holds memory that others need. An answer may take as long as its reader likes, so its caller is judged
 * again meanwhile; otherwise it could be read after a revocation.
 */

export const STALLED_MS = 60_000;
/** The longest time between a revocation and the end of a waiting body. */
const JUDGED_EVERY_MS = 1_000;
/**
 * The time between two judgements of a body that is being read. One for each piece would take longer than
 * the pieces.
 */
const JUDGED_AGAIN_MS = 100;

type Controller = ReadableStreamDefaultController<Uint8Array>;

export interface Stall {
  /** Starts the reader's time. */
  wait(controller: Controller): void;
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
