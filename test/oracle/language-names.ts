/** Languages by name or alias, in any case, straight from the list of languages. */

import * as languages from "linguist-languages";

/** The linguist name, or undefined if nobody knows it. */
export function languageNamed(nameOrAlias: string): string | undefined {
  const wanted = nameOrAlias.toLowerCase();
  const all = Object.values(languages) as { name: string; aliases?: readonly string[] }[];
  const named = all.find(({ name }) => name.toLowerCase() === wanted);
  return (named ?? all.find(({ aliases }) => aliases?.includes(wanted)))?.name;
}
