/** Defines which generations of a cluster's shards a search must have seen. */

/** The oldest acceptable generation, by number of the shard. */
export type Generations = ReadonlyMap<number, number>;

/**
 * The key of an engine's method that resolves when its searches see these generations or newer ones. Rejects with
 * OVERLOADED if that takes too long. Internal, for quern/http.
 */
export const REACH_GENERATIONS: unique symbol = Symbol.for("quern.reachGenerations");

export interface ReachesGenerations {
  [REACH_GENERATIONS](generations: Generations, signal: AbortSignal): Promise<void>;
}

/** Formats generations, such as `3=17,4=2` for shard 3 at generation 17 and shard 4 at generation 2. */
export const showGenerations = (generations: Generations): string =>
  Array.from(generations, ([shard, generation]) => `${shard}=${generation}`).join(",");

/**
 * Parses the text of showGenerations(). Returns `undefined` for any other text. If a shard has two entries, the later
 * one counts.
 */
export function parseGenerations(text: string): Generations | undefined {
  const generations = new Map<number, number>();
  for (const part of text.split(",")) {
    const [, shard, generation] = /^\s*(\d{1,9})=(\d{1,15})\s*$/.exec(part) ?? [];
    if (shard === undefined) return undefined;
    generations.set(Number(shard), Number(generation));
  }
  return generations;
}
