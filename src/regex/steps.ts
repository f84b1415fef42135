/** Divides work into steps of a fraction of a millisecond or a few, so that a shared thread can yield between them. */

export type Steps<T> = Generator<void, T>;

/** Takes all steps at once. */
export function takeAll<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
