/**
 * Implements an LRU cache whose values have a limited total cost. A value may grow while it is in the cache. So
 * getOrMake() computes two costs again: that of the value that it returns, and that of the value that was used before.
 * When a value is added, all costs are computed again.
 */

export interface LruOptions<V> {
  /** The maximum total cost. The most recently used value is kept even if it alone costs more. */
  readonly most: number;
  /**
   * Returns the current cost of a value. By default, each value costs 1, so that `most` limits the number of values.
   */
  readonly costOf?: (value: V) => number;
  /** Called with each value that is evicted. */
  readonly onEvict?: (value: V) => void;
}

export class LruCache<K, V extends object | number> {
  readonly #options: LruOptions<V>;
  readonly #values = new Map<K, V>(); // in the order of last use, the most recently used value last
  /** The cost of each value when it was last computed. #cost is the sum of these costs. */
  readonly #costs = new Map<K, number>();
  #cost = 0;
  /** The value that was used last, with its key. */
  #last: readonly [K, V] | undefined;

  constructor(options: LruOptions<V>) {
    this.#options = options;
  }

  has(key: K): boolean {
    return this.#values.has(key);
  }

  /** Returns the value and marks it as the most recently used one. Returns undefined if there is no such value. */
  get(key: K): V | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#last = [key, value];
      this.#values.delete(key);
      this.#values.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    this.#last = [key, value];
    this.#values.delete(key);
    this.#values.set(key, value);
    this.#evict();
  }

  /** Returns the cached value. If there is none, returns what `make` returns, and caches it unless it is undefined. */
  getOrMake<M extends V | undefined>(key: K, make: () => M): V | M {
    const last = this.#last;
    const known = this.get(key);
    if (known !== undefined) {
      if (last) this.#count(...last);
      this.#count(key, known);
      if (this.#cost > this.#options.most) this.#evict();
      return known;
    }
    const value = make();
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** Yields the keys, beginning with that of the least recently used value. */
  keys(): Iterable<K> {
    return this.#values.keys();
  }

  delete(key: K): void {
    if (this.#last?.[0] === key) this.#last = undefined;
    this.#values.delete(key);
    this.#cost -= this.#costs.get(key) ?? 0;
    this.#costs.delete(key);
  }

  clear(): void {
    this.#last = undefined;
    this.#values.clear();
    this.#costs.clear();
    this.#cost = 0;
  }

  #count(key: K, value: V): void {
    const cost = this.#options.costOf?.(value) ?? 1;
    this.#cost += cost - (this.#costs.get(key) ?? 0);
    this.#costs.set(key, cost);
  }

  #evict(): void {
    const { most, onEvict } = this.#options;
    for (const [key, value] of this.#values) this.#count(key, value);
    for (const [key, value] of this.#values) {
      if (this.#cost <= most || this.#values.size === 1) return;
      this.delete(key);
      onEvict?.(value);
    }
  }
}
