/** Lets a caller require that a search sees certain generations of a cluster's shards, or newer ones. */

/** Maps the number of each shard to the oldest generation that is acceptable. */
export type Generations = ReadonlyMap<number, number>;

/** Formats generations as text: `3=17,4=2` means shard 3 at generation 17 and shard 4 at generation 2. */
export const formatGenerations = (generations: Generations): string =>
  Array.from(generations, ([shard, generation]) => `${shard}=${generation}`).join(",");

/**
 * Parses a text that formatGenerations() has returned. Returns `undefined` for any other text. If a shard occurs twice,
 * its last entry is used.
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
