/**
 * Implements the list of published repositories, each with the generation in which it last changed. The list consists
 * of two columns, ordered by id. Copying a list of 100 000 repositories and adding one takes 0.1 ms. When the list
 * consisted of pairs, reading and writing it took 60 ms.
 */

import { bytesOf } from "../../base/growable.ts";
import { firstIndex } from "../../base/binary-search.ts";

/** The difference between two lists, as ascending ids. */
export interface RepositoryChanges {
  /** The repositories that are new in the later list or have changed between the two. */
  readonly arrived: readonly number[];
  readonly gone: readonly number[];
}

export class RepositoryList implements Iterable<readonly [repository: number, changed: number]> {
  readonly ids: Uint32Array;
  readonly changed: Uint32Array;

  /** Makes a list from its columns. REQUIRES: the ids are in ascending order, and nobody changes the columns later. */
  constructor(ids: Uint32Array, changed: Uint32Array) {
    this.ids = ids;
    this.changed = changed;
  }

  static readonly EMPTY = new RepositoryList(new Uint32Array(), new Uint32Array());

  /** Joins lists into one. REQUIRES: no repository is in two of them. */
  static union(lists: readonly RepositoryList[]): RepositoryList {
    if (lists.length === 1) return lists[0]!;
    const end = 1 + Math.max(-1, ...lists.map(({ ids }) => ids.at(-1) ?? -1));
    const listOf = new Uint32Array(end);
    const placeOf = new Uint32Array(end);
    lists.forEach(({ ids }, list) => {
      ids.forEach((id, place) => {
        listOf[id] = list + 1;
        placeOf[id] = place;
      });
    });
    const ids = new Uint32Array(lists.reduce((sum, one) => sum + one.length, 0));
    const changed = new Uint32Array(ids.length);
    for (let id = 0, place = 0; id < end; id++) {
      if (listOf[id] === 0) continue;
      ids[place] = id;
      changed[place++] = lists[listOf[id]! - 1]!.changed[placeOf[id]!]!;
    }
    return new RepositoryList(ids, changed);
  }

  get length(): number {
    return this.ids.length;
  }

  /** Returns the generation in which a repository last changed, or undefined if the repository is not in the list. */
  get(repository: number): number | undefined {
    const place = this.#placeOf(repository);
    return this.ids[place] === repository ? this.changed[place] : undefined;
  }

  /** Returns the index of a repository, or of the first repository with a greater id if it is not in the list. */
  #placeOf(repository: number): number {
    return firstIndex(0, this.ids.length, (place) => this.ids[place]! >= repository);
  }

  /**
   * Returns a copy of the list without the repositories in `gone`. The repositories in `arrived` are added, or marked
   * as changed in `generation`.
   */
  with(
    { arrived, gone }: Partial<RepositoryChanges>,
    generation: number | ((repository: number) => number) = 0,
  ): RepositoryList {
    const generationOf = typeof generation === "number" ? () => generation : generation;
    const leaving = new Set([...(arrived ?? []), ...(gone ?? [])]);
    const coming = (arrived ?? []).toSorted((a, b) => a - b);
    const ids = new Uint32Array(this.length + coming.length);
    const changed = new Uint32Array(ids.length);
    let [from, length, next] = [0, 0, 0];
    const copyTo = (to: number): void => {
      ids.set(this.ids.subarray(from, to), length);
      changed.set(this.changed.subarray(from, to), length);
      length += to - from;
      from = to;
    };
    for (const id of [...leaving].sort((a, b) => a - b)) {
      copyTo(this.#placeOf(id));
      if (this.ids[from] === id) from++;
      if (coming[next] !== id) continue;
      ids[length] = id;
      changed[length++] = generationOf(id);
      next++;
    }
    copyTo(this.length);
    return new RepositoryList(ids.subarray(0, length), changed.subarray(0, length));
  }

  /** Returns which repositories were added, changed or removed since `before`. */
  since(before: RepositoryList): RepositoryChanges {
    const [arrived, gone]: [number[], number[]] = [[], []];
    for (let [here, there] = [0, 0]; here < this.length || there < before.length;) {
      const id = here < this.length ? this.ids[here]! : Infinity;
      const other = there < before.length ? before.ids[there]! : Infinity;
      if (id < other || (id === other && this.changed[here] !== before.changed[there]))
        arrived.push(id);
      if (other < id) gone.push(other);
      if (id <= other) here++;
      if (other <= id) there++;
    }
    return { arrived, gone };
  }

  equals(other: RepositoryList): boolean {
    return (
      this.length === other.length &&
      Buffer.compare(bytesOf(this.ids), bytesOf(other.ids)) === 0 &&
      Buffer.compare(bytesOf(this.changed), bytesOf(other.changed)) === 0
    );
  }

  *[Symbol.iterator](): Generator<readonly [repository: number, changed: number]> {
    for (const [place, id] of this.ids.entries()) yield [id, this.changed[place]!];
  }
}
