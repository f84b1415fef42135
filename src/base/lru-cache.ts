/** An LRU cache, bounded by the total cost of its values. */

export interface LruOptions<V> {
  /** What the values may cost together; the one used last is kept whatever it costs. */
  readonly most: number;
  /** What a value costs at the moment; default: 1, so that `most` is their number. */
  readonly costOf?: (value: V) => number;
  /** Called with a value that is dropped to make room. */
  readonly onEvict?: (value: V) => void;
}

export class LruCache<K, V extends object | number> {
  readonly #options: LruOptions<V>;
  readonly #values = new Map<K, V>(); // the one used last stands last

  constructor(options: LruOptions<V>) {
    this.#options = options;
  }

  has(key: K): boolean {
    return this.#values.has(key);
  }

  /** Returns the value, which becomes the one used last, or undefined if none is kept. */
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

  /** Returns the kept value, or else what `make` returns, which is kept unless it is undefined. */
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
