/**
 * Completes segments of which a writer's directory has only the tables. To find unchanged files, an index run reads
 * only the tables. A merge reads whole segments, and so does the symbol pass if a segment lacks symbols.
 */

import { throwIfAborted } from "../../base/abort.ts";
import type { Environment } from "../../store/lmdb/environment.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import type { Damage } from "../catalog/damage.ts";
import { fetchSegmentRest, fetchSymbolsRest } from "../objects/segment-object.ts";
import type { SegmentStore } from "../objects/segment-store.ts";
import { putContents, readContents, reading } from "./contents.ts";
import { DamagedObjects } from "./damaged-objects.ts";
import { eachOf } from "./each-of.ts";

export interface Completion {
  readonly environment: Environment;
  readonly store: SegmentStore;
  readonly damage: Pick<Damage, "report">;
  /** The owner of the directory's write lease. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

/**
 * Completes `segments`. Resolves to the other segments of the directory that still have only tables. If the call
 * fails, or the process is killed, none of `segments` counts as complete.
 */
export async function completeSegments(
  { environment, store, damage, owner, signal }: Completion,
  segments: readonly number[],
): Promise<ReadonlySet<number>> {
  const wanted = new Set(segments);
  const partial = reading(environment, readContents).segments.filter(({ isPartial }) => isPartial);
  const coming = partial.filter(({ here }) => wanted.has(here));
  const left = partial.filter(({ here }) => !wanted.has(here));
  const stoppable = { get: (key: string) => store.get(key, undefined, signal) };
  const damaged = new DamagedObjects();
  await eachOf(coming, async ({ shard, segment: number, ...one }) => {
    throwIfAborted(signal);
    const { here: segment, object, bytes, symbols: edition, symbolsObject } = one;
    const as = (key: string) => ({ object: key, shard, segment: number });
    const of = { key: object, segment, bytes };
    await damaged.orDamaged(as(object), () => fetchSegmentRest(environment, of, stoppable));
    if (symbolsObject === undefined) return;
    const ofSymbols = { key: symbolsObject, segment, edition };
    await damaged.orDamaged(as(symbolsObject), () =>
      fetchSymbolsRest(environment, ofSymbols, stoppable),
    );
  });
  await damaged.check(damage);
  await environment.texts.sync(coming.map(({ here }) => here));
  if (coming.length > 0)
    await environment.write((writer) => {
      checkLease(writer, owner);
      const contents = readContents(writer);
      const all = contents.segments.map((one) =>
        wanted.has(one.here) ? { ...one, isPartial: false } : one,
      );
      putContents(writer, { ...contents, segments: all });
    });
  return new Set(left.map(({ here }) => here));
}
