/** Bodies that nobody takes anything of are cut off: what they hold is others'. */

export const STALLED_MS = 60_000;

type Controller = ReadableStreamDefaultController<Uint8Array>;

export interface Stall {
  /** From now on the reader has its time. */
  wait(controller: Controller): void;
  stop(): void;
}

/** `leave` is called before the body breaks off. */
export function stallAfter(ms: number, leave: () => void): Stall {
  let timer: NodeJS.Timeout | undefined;
  return {
    wait(controller) {
      const cutOff = (): void => {
        leave();
        controller.error(new Error("nobody read this body"));
      };
      timer = setTimeout(cutOff, ms).unref();
    },
    stop: () => clearTimeout(timer),
  };
}
