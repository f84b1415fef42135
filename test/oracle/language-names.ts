/** Languages by name or alias, in upper or lower case, directly from the list of languages. */

import * as languages from "linguist-languages";

/** Returns the linguist name, or undefined if it is unknown. */
export function languageNamed(nameOrAlias: string): string | undefined {
  const wanted = nameOrAlias.toLowerCase();
  const all = Object.values(languages) as { name: string; aliases?: readonly string[] }[];
  const named = all.find(({ name }) => name.toLowerCase() === wanted);
  return (named ?? all.find(({ aliases }) => aliases?.includes(wanted)))?.name;
}
