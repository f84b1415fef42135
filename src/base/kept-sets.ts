/**
 * Sets of ids that nobody changes, each kept once: whoever is handed one may recognize it by identity,
 * and keep what was worked out for it. Two callers who may see the same repositories share one.
 */

const MOST_SETS = 64;
/** Ids in all of them together: some 40 bytes each. */
const MOST_IDS = 500_000;

const members = new WeakSet<ReadonlySet<number>>();
/** The latest last. */
const kept: ReadonlySet<number>[] = [];
let keptIds = 0;

/** Returns a set of the same ids that never changes: the one kept for them, or a copy. Takes 10 to 20 ns an id. */
export function keepSet(ids: Iterable<number>): ReadonlySet<number> {
  const given: ReadonlySet<number> = ids instanceof Set ? (ids as Set<number>) : new Set(ids);
  return members.has(given) ? given : keepOne(given, () => new Set(given));
}

/** The same for a set of one's own, which becomes the one that is kept. REQUIRES: nobody changes it any more. */
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

/** Whether the set is one that never changes. */
export const isKept = (ids: ReadonlySet<number>): boolean => members.has(ids);

function isEqual(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  if (a.size !== b.size) return false;
  for (const id of b) if (!a.has(id)) return false;
  return true;
}
