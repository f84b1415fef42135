/**
 * Chooses the slices that fit on a node's disk. The slices that the node owns come first. The remaining space is for
 * foreign slices, which the node keeps only until their owners have them ready.
 */

import type { WantedShard } from "../local/bring.ts";

export type Owns = (shard: number, slice: number) => boolean;

export interface WithinDisk {
  readonly wanted: readonly WantedShard[];
  /** The number of the node's own slices that do not fit. */
  readonly leftOut: number;
}

export function withinDisk(
  wanted: readonly WantedShard[],
  owns: Owns,
  diskBytes: number,
): WithinDisk {
  const slices = wanted.flatMap((one) =>
    one.own!.own.map((slice) => ({ one, slice, isOwn: owns(one.shard, slice) })),
  );
  const kept = new Map(wanted.map((one) => [one.shard, [] as number[]]));
  let [left, leftOut] = [diskBytes, 0];
  for (const { one, slice, isOwn } of [
    ...slices.filter(({ isOwn }) => isOwn),
    ...slices.filter(({ isOwn }) => !isOwn),
  ]) {
    const bytes = bytesOf(one, (segment) => segment % one.slices === slice);
    if (bytes <= left) {
      left -= bytes;
      kept.get(one.shard)!.push(slice);
    } else if (isOwn) leftOut++;
  }
  return { wanted: wanted.map((one) => ofSlices(one, kept.get(one.shard)!)), leftOut };
}

/** Returns the wanted slices without the foreign ones. */
export const ownAlone = (wanted: readonly WantedShard[], owns: Owns): WantedShard[] =>
  wanted.map((one) =>
    ofSlices(
      one,
      one.own!.own.filter((slice) => owns(one.shard, slice)),
    ),
  );

/** Returns the total size in bytes of the segments that are in `wanted` but not in `held`. */
export function missingBytes(wanted: readonly WantedShard[], held: readonly WantedShard[]): number {
  const here = new Map(held.map((one) => [one.shard, segmentsOf(one)]));
  const missing = wanted.map((one) => {
    const has = here.get(one.shard);
    const own = segmentsOf(one);
    return bytesOf(one, (segment) => own.has(segment) && has?.has(segment) !== true);
  });
  return missing.reduce((sum, bytes) => sum + bytes, 0);
}

export const ofSlices = (one: WantedShard, slices: readonly number[]): WantedShard => ({
  ...one,
  own: { own: slices.toSorted((a, b) => a - b), of: one.slices },
});

const segmentsOf = ({ segments, slices, own }: WantedShard): ReadonlySet<number> =>
  new Set(segments.flatMap(({ segment }) => (own!.own.includes(segment % slices) ? segment : [])));

const bytesOf = ({ segments }: WantedShard, has: (segment: number) => boolean): number =>
  segments.reduce((sum, { segment, bytes }) => sum + (has(segment) ? bytes : 0), 0);
