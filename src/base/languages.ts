/**
 * The languages there are, by linguist's names, and how people call them. The table is split when it
 * is first asked for (about 1 ms), not at import.
 */

import { LANGUAGE_TABLE } from "./language-table.ts";

export interface Language {
  readonly name: string;
  /** All in lower case; extensions with their dot. */
  readonly aliases: readonly string[];
  readonly extensions: readonly string[];
  /** As they are. */
  readonly filenames: readonly string[];
  readonly interpreters: readonly string[];
}

let languages: readonly Language[] | undefined;

/** In the order of their names. */
export function allLanguages(): readonly Language[] {
  return (languages ??= LANGUAGE_TABLE.split("\n").map(parseRow));
}

function parseRow(row: string): Language {
  const [name = "", aliases = "", extensions = "", filenames = "", interpreters = ""] =
    row.split("\t");
  return {
    name,
    aliases: parts(aliases, " "),
    extensions: parts(extensions, " "),
    filenames: parts(filenames, "/"),
    interpreters: parts(interpreters, " "),
  };
}

const parts = (text: string, separator: string) => (text === "" ? [] : text.split(separator));

let byName: ReadonlyMap<string, string> | undefined;

/** Lower case names, aliases and extensions without their dot, the stronger claim last: a name beats an alias, an alias an extension. */
function names(): ReadonlyMap<string, string> {
  if (byName !== undefined) return byName;
  const map = new Map<string, string>();
  const claim = (key: string, name: string) => map.set(key, name);
  for (const { name, extensions } of allLanguages()) {
    // only the first extension is a language's own; the others are often shared
    const own = extensions[0]?.slice(1);
    if (own !== undefined && !map.has(own)) claim(own, name);
  }
  for (const { name, aliases } of allLanguages()) {
    claim(name.toLowerCase().replaceAll(" ", "-"), name);
    for (const alias of aliases) claim(alias, name);
  }
  for (const { name } of allLanguages()) claim(name.toLowerCase(), name);
  return (byName = map);
}

/** The linguist name for a name, alias or own extension in any case; undefined when nobody knows it. */
export function languageNamed(nameOrAlias: string): string | undefined {
  return names().get(nameOrAlias.toLowerCase());
}

/** The linguist name that was most likely meant, when languageNamed() finds none; undefined when nothing is near. */
export function nearestLanguage(name: string): string | undefined {
  const wanted = name.toLowerCase();
  if (wanted.length > 40) return undefined;
  // one slip in three letters, three slips at most
  let best = Math.min(3, Math.floor(wanted.length / 3)) + 1;
  let nearest: string | undefined;
  for (const [key, language] of names()) {
    if (Math.abs(key.length - wanted.length) >= best || key.length < 3) continue;
    const slips = editDistance(key, wanted);
    if (slips >= best) continue;
    best = slips;
    nearest = language;
  }
  return nearest;
}

/** Characters to insert, delete, replace or swap with their neighbour. Time |a| × |b|. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, replace);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
