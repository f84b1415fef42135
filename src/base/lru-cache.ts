/** An LRU cache, bounded by the total cost of its values. */

export interface LruOptions<V> {
  /** The most that the values may cost together. The most recently used value is kept whatever it costs. */
  readonly most: number;
  /** Returns the present cost of a value. Default: 1, so that `most` limits the number of values. */
  readonly costOf?: (value: V) => number;
  /** Called with each value that is evicted. */
  readonly onEvict?: (value: V) => void;
}

export class LruCache<K, V extends object | number> {
  readonly #options: LruOptions<V>;
  readonly #values = new Map<K, V>(); // in the order of use, most recent last

  constructor(options: LruOptions<V>) {
    this.#options = options;
  }

  has(key: K): boolean {
    return this.#values.has(key);
  }

  /** Returns the value and marks it as most recently used, or returns undefined if there is none. */
  get(key: K): V | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    this.#evict();
  }

  /** Returns the cached value. If there is none, caches and returns what `make` returns, unless it is undefined. */
  getOrMake<M extends V | undefined>(key: K, make: () => M): V | M {
    const value = this.get(key) ?? make();
    if (value !== undefined) this.set(key, value);
    return value;
  }

  delete(key: K): void {
    this.#values.delete(key);
  }

  clear(): void {
    this.#values.clear();
  }

  #evict(): void {
    const { most, costOf = () => 1, onEvict } = this.#options;
    let cost = 0;
    for (const value of this.#values.values()) cost += costOf(value);
    for (const [key, value] of this.#values) {
      if (cost <= most || this.#values.size === 1) return;
      cost -= costOf(value);
      this.#values.delete(key);
      onEvict?.(value);
    }
  }
}
