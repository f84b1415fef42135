/**
 * Stands in the place of the browser's requestIdleCallback (scripts/build-page.mjs puts it there).
 * CodeMirror parses for as long as the browser says that it is idle, which is up to 50 ms; somebody who
 * begins to scroll meanwhile waits for that long. Told of less it stops after 25 ms, its shortest slice.
 */

const MOST_MS = 10;

const soon = (work: IdleRequestCallback): number =>
  setTimeout(() => work({ didTimeout: false, timeRemaining: () => MOST_MS }));

const whenIdle = (work: IdleRequestCallback, options?: IdleRequestOptions): number =>
  globalThis.requestIdleCallback(
    ({ didTimeout }) => work({ didTimeout, timeRemaining: () => MOST_MS }),
    options,
  );

export const requestIdleCallback = "requestIdleCallback" in globalThis ? whenIdle : soon;
export const cancelIdleCallback =
  "cancelIdleCallback" in globalThis
    ? (handle: number): void => globalThis.cancelIdleCallback(handle)
    : clearTimeout;
