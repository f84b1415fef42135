/**
 * Implements maps that grow without blocking for long. When a Map doubles its size, V8 moves all its entries. At 65 536
 * entries, this takes 5 to 10 ms, which is longer than the calling thread may be blocked.
 */

import { GrowableWords } from "./growable.ts";

/** The number of small maps. With 100 000 keys, each small map has about 800. */
const PARTS = 128;
const HASHED_CHARACTERS = 16;

/** Maps strings to values, with 128 small maps instead of a large one. */
export class WideMap<Value> {
  #parts = Array.from({ length: PARTS }, () => new Map<string, Value>());
  /** The small maps that a copy still shares with its original. */
  #shared: ReadonlySet<Map<string, Value>> = NONE;

  get(key: string): Value | undefined {
    return this.#parts[partOf(key)]!.get(key);
  }

  set(key: string, value: Value): void {
    this.#own(key).set(key, value);
  }

  delete(key: string): void {
    this.#own(key).delete(key);
  }

  /**
   * Returns a copy, which shares the small maps of the original. Before the copy changes a small map, it replaces that
   * map by a copy of its own. REQUIRES: the original does not change afterwards.
   */
  copy(): WideMap<Value> {
    const copy = new WideMap<Value>();
    copy.#parts = this.#parts.slice();
    copy.#shared = new Set(this.#parts);
    return copy;
  }

  #own(key: string): Map<string, Value> {
    const part = partOf(key);
    const held = this.#parts[part]!;
    return this.#shared.has(held) ? (this.#parts[part] = new Map(held)) : held;
  }
}

const NONE: ReadonlySet<never> = new Set();

/**
 * Returns the index of the small map for a key. This index depends on the last characters of the key, because names of
 * repositories often begin alike.
 */
export function partOf(key: string): number {
  let hash = key.length;
  for (let at = Math.max(0, key.length - HASHED_CHARACTERS); at < key.length; at++)
    hash = Math.imul(hash, 31) + key.charCodeAt(at);
  return (hash ^ (hash >>> 7) ^ (hash >>> 14)) & (PARTS - 1);
}

/**
 * Maps ids to values, in ascending order of the ids. The map consists of an array of values, and an array with the
 * index of each id's value. It takes 4 bytes for every id up to the largest.
 */
export class IdMap<Value> implements ReadonlyMap<number, Value> {
  readonly #ids: Uint32Array;
  readonly #values: readonly Value[];
  /** For each id, 1 + the index of its value, or 0 if the id is not in the map. */
  readonly #places: Uint32Array;

  private constructor(ids: Uint32Array, values: readonly Value[], places: Uint32Array) {
    this.#ids = ids;
    this.#values = values;
    this.#places = places;
  }

  /** Makes a map of entries with ascending ids. REQUIRES: `end` is greater than any id. */
  static async from<Value>(
    entries: Iterable<readonly [id: number, value: Value]>,
    end: number,
    pause: () => Promise<void> | undefined,
  ): Promise<IdMap<Value>> {
    const ids = new GrowableWords();
    const values: Value[] = [];
    const places = new Uint32Array(end);
    for (const [id, value] of entries) {
      ids.push(id);
      places[id] = values.push(value);
      await pause();
    }
    return new IdMap(ids.view, values, places);
  }

  get size(): number {
    return this.#values.length;
  }

  get(id: number): Value | undefined {
    const place = this.#places[id] ?? 0;
    return place === 0 ? undefined : this.#values[place - 1];
  }

  has(id: number): boolean {
    return (this.#places[id] ?? 0) !== 0;
  }

  /**
   * Returns a copy with other values for some of its ids. Takes 0.1 ms for 100 000 ids. REQUIRES: the map has these
   * ids.
   */
  with(changed: Iterable<readonly [id: number, value: Value]>): IdMap<Value> {
    const values = this.#values.slice();
    for (const [id, value] of changed) values[this.#places[id]! - 1] = value;
    return new IdMap(this.#ids, values, this.#places);
  }

  /**
   * Returns a copy that has exactly these ascending ids, with new values for those in `changed`. Takes 1 ms for 100 000
   * ids. REQUIRES: `changed` has a value for each id that the map does not have, and `end` is greater than any id.
   */
  moved(ids: Uint32Array, changed: ReadonlyMap<number, Value>, end: number): IdMap<Value> {
    const values: Value[] = [];
    const places = new Uint32Array(end);
    for (const id of ids) places[id] = values.push(this.get(id)!);
    for (const [id, value] of changed) values[places[id]! - 1] = value;
    return new IdMap(ids, values, places);
  }

  keys(): MapIterator<number> {
    return this.#ids.values();
  }

  values(): MapIterator<Value> {
    return this.#values.values();
  }

  *entries(): MapIterator<[number, Value]> {
    for (const [place, value] of this.#values.entries()) yield [this.#ids[place]!, value];
  }

  [Symbol.iterator](): MapIterator<[number, Value]> {
    return this.entries();
  }

  forEach(visit: (value: Value, id: number, map: ReadonlyMap<number, Value>) => void): void {
    for (const [id, value] of this) visit(value, id, this);
  }
}
