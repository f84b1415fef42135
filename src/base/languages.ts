/**
 * The languages there are, by linguist's names, and how people call them. The table is split when it
 * is first asked for (about 1 ms), not at import.
 */

import { editDistance, slips } from "./edit-distance.ts";
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
    aliases: parts(aliases, ","),
    extensions: parts(extensions, " "),
    filenames: parts(filenames, "/"),
    interpreters: parts(interpreters, " "),
  };
}

const parts = (text: string, separator: string) => (text === "" ? [] : text.split(separator));

let byName: ReadonlyMap<string, string> | undefined;

/**
 * All keys in lower case. A name beats an alias, an alias an extension; an extension counts where it is
 * one language's alone, or its first.
 */
function names(): ReadonlyMap<string, string> {
  if (byName !== undefined) return byName;
  const map = new Map<string, string>();
  const claim = (key: string, name: string) => void (map.has(key) || map.set(key, name));
  const languages = allLanguages();
  for (const { name } of languages) claim(name.toLowerCase(), name);
  for (const { name, aliases } of languages) {
    for (const alias of [name.toLowerCase(), ...aliases]) {
      claim(alias, name);
      claim(alias.replaceAll(" ", "-"), name);
    }
  }
  for (const { name, extensions } of languages) {
    const [first] = extensions;
    if (first !== undefined) claim(first.slice(1), name);
  }
  for (const [extension, name] of unsharedExtensions(languages)) claim(extension.slice(1), name);
  return (byName = map);
}

function unsharedExtensions(languages: readonly Language[]): Map<string, string> {
  const owners = new Map<string, string>();
  const shared = new Set<string>();
  for (const { name, extensions } of languages) {
    for (const extension of extensions) {
      if (owners.has(extension)) shared.add(extension);
      owners.set(extension, name);
    }
  }
  for (const extension of shared) owners.delete(extension);
  return owners;
}

/** The linguist name for a name, alias or own extension in any case; undefined when nobody knows it. */
export function languageNamed(nameOrAlias: string): string | undefined {
  return names().get(nameOrAlias.toLowerCase());
}

/** The linguist name that was most likely meant, when languageNamed() finds none; undefined when nothing is near. */
export function nearestLanguage(name: string): string | undefined {
  const wanted = name.toLowerCase();
  if (wanted.length > 40) return undefined;
  // of keys as near, a name goes before an alias
  let best = slips(wanted) + 1;
  let nearest: string | undefined;
  for (const [key, language] of names()) {
    if (Math.abs(key.length - wanted.length) >= best || key.length < 3) continue;
    const isAlias = key === language.toLowerCase() ? 0 : 0.5;
    const distance = editDistance(key, wanted) + isAlias;
    if (distance >= best) continue;
    best = distance;
    nearest = language;
  }
  return nearest;
}
