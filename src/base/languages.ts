/**
 * Finds languages by their names in GitHub Linguist, by their aliases and by their extensions. The table is parsed on
 * first use (about 1 ms), not at import.
 */

import { editDistance, mostEdits } from "./edit-distance.ts";
import { LANGUAGE_TABLE } from "./language-table.ts";

export interface Language {
  readonly name: string;
  /** Other names of the language, in lower case. */
  readonly aliases: readonly string[];
  /** File name extensions, in lower case and with the dot. */
  readonly extensions: readonly string[];
  /** Whole file names, such as Makefile. Case matters. */
  readonly filenames: readonly string[];
  readonly interpreters: readonly string[];
}

let languages: readonly Language[] | undefined;

/** Returns all languages, sorted by name. */
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
 * Returns a map that has names, aliases and extensions as its keys, all in lower case. The values are the names of the
 * languages. A name takes precedence over an alias, and an alias over an extension. An extension counts if only one
 * language has it, or if it is the first extension of a language.
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

/**
 * Returns the Linguist name of the language that has this name, alias or extension, regardless of case. Returns
 * undefined if there is no such language.
 */
export function languageNamed(nameOrAlias: string): string | undefined {
  return names().get(nameOrAlias.toLowerCase());
}

/**
 * Returns the language that was most likely meant by an unknown name. Returns undefined if no language has a similar
 * name.
 */
export function nearestLanguage(name: string): string | undefined {
  const wanted = name.toLowerCase();
  if (wanted.length > 40) return undefined;
  // if two keys are equally near, a name is preferred to an alias
  let best = mostEdits(wanted) + 1;
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
