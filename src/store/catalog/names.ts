/**
 * The names of all repositories, in order, and ready to be looked through: carried over from one
 * generation to the next as long as no repository comes, goes or is renamed.
 *
 * A part of a name is looked for in texts that hold a thousand names each, `name NUL display name NUL`
 * in lower case: String.indexOf() goes through a hundred thousand names in a millisecond.
 */

import { compareText } from "../../base/compare.ts";
import { sortInSlices } from "../../base/sort.ts";
import { WideMap } from "../../base/wide-map.ts";
import type { Pause } from "../../base/yield.ts";

export interface Named {
  readonly id: number;
  readonly name: string;
  readonly displayName?: string | undefined;
}

export interface Names {
  /** By name, in UTF-16 code units. */
  readonly ordered: readonly Named[];
  /** Positions in `ordered`, by id. In memory that threads share. */
  readonly places: Uint32Array;
  readonly byName: Pick<WideMap<number>, "get">;
  /** Ids under asciiFolded() of their names. */
  readonly byFolded: Pick<WideMap<readonly number[]>, "get">;
  readonly texts: readonly NamesText[];
}

interface NamesText {
  readonly text: string;
  /** Where each name begins in the text; one more, the end. */
  readonly starts: Uint32Array;
  /** Position in `ordered` of the first. */
  readonly first: number;
}

const A_TEXT = 1024;
const SEPARATOR = "\0";

/** `nextId`: more than any id. */
export async function orderNames(
  named: readonly Named[],
  nextId: number,
  pause: Pause,
): Promise<Names> {
  const ordered = await sortInSlices(named, (a, b) => compareText(a.name, b.name), pause);
  const places = new Uint32Array(new SharedArrayBuffer(4 * nextId));
  const byName = new WideMap<number>();
  const byFolded = new WideMap<number[]>();
  for (const [place, { id, name }] of ordered.entries()) {
    places[id] = place;
    byName.set(name, id);
    const folded = asciiFolded(name);
    const others = byFolded.get(folded);
    if (others) others.push(id);
    else byFolded.set(folded, [id]);
    await pause();
  }
  const texts: NamesText[] = [];
  for (let first = 0; first < ordered.length; first += A_TEXT) {
    texts.push(textOf(ordered.slice(first, first + A_TEXT), first));
    await pause();
  }
  return { ordered, places, byName, byFolded, texts };
}

function textOf(some: readonly Named[], first: number): NamesText {
  const starts = new Uint32Array(some.length + 1);
  const parts = some.map((one) => searchedText(one) + SEPARATOR);
  parts.forEach((part, i) => (starts[i + 1] = starts[i]! + part.length));
  return { text: parts.join(""), starts, first };
}

const searchedText = ({ name, displayName = "" }: Named): string =>
  `${name.toLowerCase()}${SEPARATOR}${displayName.toLowerCase()}`;

/**
 * A form that two names have in common if they are equal without regard to case and one of them is
 * ASCII: beyond ASCII only two characters fold to letters of it.
 */
export const asciiFolded = (name: string): string =>
  name.replaceAll("\u212a", "k").replaceAll("\u017f", "s").toLowerCase();

/** Position in `ordered` of the first name behind `after`. */
export function placeBehind({ ordered }: Names, after: string): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareText(ordered[middle]!.name, after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Positions in `ordered`, from `from` on, of names that hold `part` in any case, or whose display
 * names do; '' is in all. An undefined one comes now and then, for the asker to pause.
 */
export function* placesHolding(
  { ordered, texts }: Names,
  part: string,
  from: number,
): Generator<number | undefined> {
  const wanted = part.toLowerCase();
  if (wanted === "") {
    for (let place = from; place < ordered.length; place++) yield place;
    return;
  }
  if (wanted.includes(SEPARATOR)) return;
  for (const { text, starts, first } of texts) {
    if (first + starts.length - 1 <= from) continue;
    yield undefined;
    for (let i = Math.max(0, from - first); ;) {
      const at = text.indexOf(wanted, starts[i]!);
      if (at < 0) break;
      i = lastStart(starts, at);
      yield first + i;
      if (++i === starts.length - 1) break;
    }
  }
}

/** The last one that is not behind `at`. */
function lastStart(starts: Uint32Array, at: number): number {
  let [low, high] = [0, starts.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
