/**
 * Interns immutable sets of ids: equal sets become one object, which can be recognized by identity and used
 * as a cache key. Two callers who may see the same repositories share one.
 */

const MOST_SETS = 64;
/** The most ids in all sets together, about 40 bytes each. */
const MOST_IDS = 500_000;

const members = new WeakSet<ReadonlySet<number>>();
/** Most recently used last. */
const kept: ReadonlySet<number>[] = [];
let keptIds = 0;

/** Returns the interned set of these ids, a copy if there is none yet. Takes 10 to 20 ns for each id. */
export function keepSet(ids: Iterable<number>): ReadonlySet<number> {
  const given: ReadonlySet<number> = ids instanceof Set ? (ids as Set<number>) : new Set(ids);
  return members.has(given) ? given : keepOne(given, () => new Set(given));
}

/** Does the same without a copy. REQUIRES: nobody changes the set any more. */
export const adoptSet = (own: ReadonlySet<number>): ReadonlySet<number> => keepOne(own, () => own);

function keepOne(given: ReadonlySet<number>, make: () => ReadonlySet<number>): ReadonlySet<number> {
  const at = kept.findLastIndex((one) => isEqual(one, given));
  const same = at < 0 ? make() : kept[at]!;
  if (at >= 0) kept.splice(at, 1);
  else keptIds += same.size;
  kept.push(same);
  members.add(same);
  while (kept.length > MOST_SETS || (keptIds > MOST_IDS && kept.length > 1))
    keptIds -= kept.shift()!.size;
  return same;
}

/** Whether the set is an interned one. */
export const isKept = (ids: ReadonlySet<number>): boolean => members.has(ids);

function isEqual(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  if (a.size !== b.size) return false;
  for (const id of b) if (!a.has(id)) return false;
  return true;
}
