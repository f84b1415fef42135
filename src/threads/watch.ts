/**
 * Detects a stuck thread. A thread increments its pulse, a word of shared memory, whenever a task calls pause(). The
 * watcher reads the pulse ten times during the allowed time. A single timer would not be enough. If the host itself was
 * blocked or suspended, such a timer would report a working thread as stuck.
 */

const LOOKS = 10;

export type Pulse = Int32Array<SharedArrayBuffer>;

export const newPulse = (): Pulse => new Int32Array(new SharedArrayBuffer(4));

/**
 * Calls `onSilence` once, when the pulse has not changed for `silentMs` milliseconds. Returns a function that ends the
 * watch.
 */
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
