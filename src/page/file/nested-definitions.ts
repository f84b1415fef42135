/** Puts the definitions of a file below their parents. */

export interface FoundDefinition {
  symbol: string;
  kind: string;
  parent: { symbol: string; kind: string } | undefined;
  line: number;
}

export interface Definition {
  /** The name. If the parent is in another file, it begins with the name of the parent. */
  name: string;
  kind: string;
  line: number;
  /** The number of definitions around it that are shown. */
  depth: number;
}

const MOST_DEPTH = 3;

/**
 * Returns definitions below their parents, each group in the order of the file. A definition names its parent, which
 * need not come directly before it: the methods of a type in Go may be anywhere. Of several definitions with the name
 * of the parent, the nearest one before is the parent.
 */
export function nest(found: readonly FoundDefinition[]): Definition[] {
  const places = new Map<string, number[]>();
  for (const [index, { kind, symbol }] of found.entries()) {
    const key = `${kind} ${symbol}`;
    places.set(key, [...(places.get(key) ?? []), index]);
  }
  const children = new Map<number | undefined, number[]>();
  for (const index of found.keys()) {
    const parent = parentOf(found, places, index);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [index]);
    else siblings.push(index);
  }
  const nested: Definition[] = [];
  const add = (of: number | undefined, depth: number): void => {
    for (const index of children.get(of) ?? []) {
      const { symbol, kind, parent, line } = found[index]!;
      const isApart = of === undefined && parent !== undefined;
      const name = isApart ? `${parent.symbol}.${symbol}` : symbol;
      nested.push({ name, kind, line, depth: Math.min(depth, MOST_DEPTH) });
      add(index, depth + 1);
    }
  };
  add(undefined, 0);
  return nested;
}

/** Returns the index of the parent. A parent that comes later must have none itself, so that there are no cycles. */
function parentOf(
  found: readonly FoundDefinition[],
  places: ReadonlyMap<string, readonly number[]>,
  index: number,
): number | undefined {
  const { parent } = found[index]!;
  const candidates = (parent && places.get(`${parent.kind} ${parent.symbol}`)) ?? [];
  const before = candidates.findLast((place) => place < index);
  return before ?? candidates.find((place) => place > index && !found[place]!.parent);
}
