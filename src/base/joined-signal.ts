/**
 * A signal that aborts with the first of several signals, or when a time has passed. It replaces AbortSignal.any() and
 * AbortSignal.timeout(). Node 20 may collect the signals of these functions as garbage while an operation still waits
 * for them. The abort or the time-out is then lost, and the operation never ends. A joined signal is not lost, because
 * its sources and its timer refer to it until it is disposed of.
 */

import { setMaxListeners } from "node:events";

export class JoinedSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout | undefined;
  #isLate = false;
  readonly #onAbort = () => this.#end(this.#sources.find(({ aborted }) => aborted)?.reason);

  /**
   * Joins signals. If `timeoutMs` is given, the joined signal also aborts after this many milliseconds. Until it is
   * disposed of, sources that outlive the operation refer to it, and the timer keeps the process alive.
   */
  constructor(sources: Iterable<AbortSignal | undefined>, timeoutMs?: number) {
    this.#sources = [...sources].filter((source) => source !== undefined);
    setMaxListeners(0, this.signal, ...this.#sources); // many operations may share a signal, which is no leak
    if (this.#sources.some(({ aborted }) => aborted)) {
      this.#onAbort();
      return;
    }
    for (const source of this.#sources)
      source.addEventListener("abort", this.#onAbort, { once: true });
    if (timeoutMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#end(new DOMException(`timed out after ${timeoutMs} ms`, "TimeoutError"));
    }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the time had passed before a source was aborted. */
  get isLate(): boolean {
    return this.#isLate;
  }

  #end(reason: unknown): void {
    this[Symbol.dispose]();
    this.#controller.abort(reason);
  }

  /** Removes the listeners and the timer. Does not abort the signal. May be called more than once. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const source of this.#sources) source.removeEventListener("abort", this.#onAbort);
  }
}

const requests = new WeakMap<AbortSignal, Request>();

/**
 * Returns the signal of a request, and keeps the request in memory as long as the signal is in use. In Node 20, the
 * signal of a request that was collected as garbage never aborts.
 */
export function holdRequest(request: Request): AbortSignal {
  requests.set(request.signal, request);
  return request.signal;
}
