/**
 * Queues the parts of a stream between the threads, which push them, and the reader, which iterates over them.
 * REQUIRES: end() or fail() is called after the last part, and the queue is iterated only once.
 */

export class PartQueue<T> implements AsyncIterable<T> {
  #parts: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #failure: unknown;

  push(part: T): void {
    this.#parts.push(part);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Calls end() when `work` resolves, or fail() when it rejects. */
  endWith(work: Promise<unknown>): void {
    work.then(
      () => this.end(),
      (error: unknown) => this.fail(error),
    );
  }

  /** Makes the iteration throw this error, after it has delivered all parts that were pushed before. */
  fail(error: unknown): void {
    this.#failure = error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#parts.shift();
      if (next !== undefined) yield next;
      else if (!this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if (this.#failure !== undefined) throw this.#failure;
      else return;
    }
  }
}

/** Yields everything from the first iterable, then everything from the second. */
export async function* concatenate<T>(
  first: AsyncIterable<T>,
  second: AsyncIterable<T>,
): AsyncGenerator<T> {
  yield* first;
  yield* second;
}
