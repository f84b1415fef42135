/**
 * Tells that a thread is stuck. A thread beats its pulse, a word of shared memory, whenever one of
 * its tasks comes to a pause(); nothing is sent. Whoever watches looks at it ten times in the time
 * allowed: were it one timer, a host that was itself blocked or stopped would blame the thread.
 */

const LOOKS = 10;

export type Pulse = Int32Array<SharedArrayBuffer>;

export const newPulse = (): Pulse => new Int32Array(new SharedArrayBuffer(4));

/** Calls `onSilence` once, when the pulse has stood still for so long. Returns what ends the watch. */
export function watch(pulse: Pulse, silentMs: number, onSilence: () => void): () => void {
  let last = Atomics.load(pulse, 0);
  let still = 0;
  const timer = setInterval(() => {
    const now = Atomics.load(pulse, 0);
    still = now === last ? still + 1 : 0;
    last = now;
    if (still < LOOKS) return;
    clearInterval(timer);
    onSilence();
  }, silentMs / LOOKS).unref();
  return () => clearInterval(timer);
}
