/** The values that were asked for last, as many as are worth keeping; any other is made anew. */

export class Recent<T extends object> {
  readonly #most: number;
  readonly #values = new Map<string, T>(); // the latest last

  constructor(most: number) {
    this.#most = most;
  }

  /** What `make` throws is thrown, and nothing is kept of it. */
  get(key: string, make: () => T): T {
    const value = this.#values.get(key) ?? make();
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#most) this.#values.delete(oldest!);
    return value;
  }
}
