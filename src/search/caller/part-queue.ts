/** A queue from those who find to the one who reads: push, then end() or fail(); iterated once. */

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

  /** Ends as the work does that pushes. */
  endWith(work: Promise<unknown>): void {
    work.then(
      () => this.end(),
      (error: unknown) => this.fail(error),
    );
  }

  /** What was pushed before is still delivered, then the iteration throws. */
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

/** All of one, then all of another. */
export async function* inTurn<T>(
  first: AsyncIterable<T>,
  second: AsyncIterable<T>,
): AsyncGenerator<T> {
  yield* first;
  yield* second;
}
