/**
 * Sorts the names of all repositories, and searches them. A generation reuses the names of the previous one, unless a
 * repository was added, removed or renamed.
 *
 * To search for parts of names, about a thousand names at a time are joined into one text. A text contains each
 * repository as `name NUL display name NUL`, in lower case. In such texts, String.indexOf() searches a hundred thousand
 * names in a millisecond.
 */

import { firstIndex } from "../../base/binary-search.ts";
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
  /** The repositories, sorted by the UTF-16 code units of their names. */
  readonly ordered: readonly Named[];
  /** For each id, the index in `ordered` of the repository with this id. The array is in shared memory. */
  readonly places: Uint32Array;
  readonly byName: Pick<WideMap<number>, "get" | "copy">;
  /** For each result of asciiFolded(), the ids of the repositories whose names have this result, in any order. */
  readonly byFolded: Pick<WideMap<readonly number[]>, "get" | "copy">;
  readonly texts: readonly NamesText[];
}

interface NamesText {
  readonly text: string;
  /** The offset of each name in the text, followed by the end of the last name. */
  readonly starts: Uint32Array;
  /** The index in `ordered` of the first name in the text. */
  readonly first: number;
}

const A_TEXT = 1024;
const SEPARATOR = "\0";

/** Sorts the names and builds their indexes. REQUIRES: `nextId` is greater than any id. */
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

/** The names that were removed from a generation, and those that were added. */
export interface NameChanges {
  readonly gone: readonly Named[];
  readonly arrived: readonly Named[];
}

/**
 * Returns what orderNames() would return after a few changes to `before`. The time hardly depends on the number of
 * names. One change among 100 000 names takes 1 ms. REQUIRES: `nextId` is greater than any id.
 */
export function changeNames(before: Names, { gone, arrived }: NameChanges, nextId: number): Names {
  const coming = arrived.toSorted((a, b) => compareText(a.name, b.name));
  const left = gone.map(({ id }) => before.places[id]!).sort((a, b) => a - b);
  const ordered: Named[] = [];
  const texts: NamesText[] = [];
  let [next, leaving] = [0, 0]; // indexes in `coming` and `left`
  const last = before.texts.at(-1);
  for (const text of before.texts.length > 0 ? before.texts : [NO_TEXT]) {
    const first = ordered.length;
    const end = text.first + text.starts.length - 1;
    let [at, isChanged] = [text.first, false];
    for (;;) {
      const name = coming[next]?.name;
      const place = name === undefined ? Infinity : placeOfName(before, name);
      const isHere = place < end || (place < Infinity && (text === last || text === NO_TEXT));
      const to = Math.min(isHere ? place : end, left[leaving] ?? Infinity, end);
      for (; at < to; at++) ordered.push(before.ordered[at]!);
      if (to === left[leaving] && to < end) [at, leaving] = [at + 1, leaving + 1];
      else if (isHere) ordered.push(coming[next++]!);
      else break;
      isChanged = true;
    }
    if (isChanged) texts.push(...textsOf(ordered, first));
    else texts.push({ ...text, first });
  }
  const places = new Uint32Array(new SharedArrayBuffer(4 * nextId));
  ordered.forEach(({ id }, place) => (places[id] = place));
  return { ordered, places, texts, ...changeLookups(before, { gone, arrived }) };
}

/** Returns the index in `ordered` of this name, or of the first name that sorts after it. */
const placeOfName = ({ ordered }: Names, name: string): number =>
  firstIndex(0, ordered.length, (place) => compareText(ordered[place]!.name, name) >= 0);

const NO_TEXT: NamesText = { text: "", starts: new Uint32Array(1), first: 0 };

function* textsOf(ordered: readonly Named[], from: number): Generator<NamesText> {
  const pieces = Math.ceil((ordered.length - from) / (2 * A_TEXT));
  const each = Math.ceil((ordered.length - from) / pieces);
  for (let first = from; first < ordered.length; first += each)
    yield textOf(ordered.slice(first, first + each), first);
}

function changeLookups(
  before: Names,
  { gone, arrived }: NameChanges,
): Pick<Names, "byName" | "byFolded"> {
  const byName = before.byName.copy();
  const byFolded = before.byFolded.copy();
  for (const { id, name } of gone) {
    byName.delete(name);
    const others = byFolded.get(asciiFolded(name))!.filter((one) => one !== id);
    if (others.length > 0) byFolded.set(asciiFolded(name), others);
    else byFolded.delete(asciiFolded(name));
  }
  for (const { id, name } of arrived) {
    byName.set(name, id);
    byFolded.set(asciiFolded(name), [...(byFolded.get(asciiFolded(name)) ?? []), id]);
  }
  return { byName, byFolded };
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
 * Folds a name to lower case. Two characters beyond ASCII also become ASCII letters: the Kelvin sign and the long s. So
 * all names that equal the same ASCII name regardless of case get the same form.
 */
export const asciiFolded = (name: string): string =>
  name.replaceAll("\u212a", "k").replaceAll("\u017f", "s").toLowerCase();

/** Returns the index in `ordered` of the first name that sorts after `after`. */
export const placeAfter = ({ ordered }: Names, after: string): number =>
  firstIndex(0, ordered.length, (place) => compareText(ordered[place]!.name, after) > 0);

/**
 * Yields the indexes in `ordered` of the repositories whose name or display name contains `part` regardless of case,
 * starting at index `from`. If `part` is empty, yields all indexes. Now and then yields undefined, so that the caller
 * can pause.
 */
export function* placesContaining(
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

/** Returns the last index for which the value in `starts` is at most `at`. */
const lastStart = (starts: Uint32Array, at: number): number =>
  firstIndex(0, starts.length - 1, (index) => starts[index]! > at) - 1;
