/** Counts of the files shown, by repository, language and folder, and which files are copies of others. */

import type { FileResult } from "../wire/answers.ts";

export interface FacetValue {
  value: string;
  files: number;
}

export interface Facets {
  repositories: FacetValue[];
  languages: FacetValue[];
  /** First folders of paths, if all files are of one repository. */
  folders: FacetValue[];
}

export function facetsOf(files: readonly FileResult[]): Facets {
  const repositories = count(files.map(({ repository }) => repository));
  const folders = files.map(({ fileName: { text } }) => folderOf(text));
  return {
    repositories,
    languages: count(files.map(({ language }) => language)),
    folders: repositories.length === 1 ? count(folders) : [],
  };
}

/** Two levels at most: `src/page` of `src/page/search/facets.ts`. */
const folderOf = (path: string): string => path.split("/").slice(0, -1).slice(0, 2).join("/");

/** The most files first; without empty values. */
function count(values: readonly string[]): FacetValue[] {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== "") counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, files]) => ({ value, files }))
    .sort((a, b) => b.files - a.files || (a.value < b.value ? -1 : 1));
}

/** A file and those that show the same lines under the same name. */
export interface Folded {
  file: FileResult;
  copies: FileResult[];
}

/** Puts copies behind the first file that has the same matches; the order stays. */
export function foldCopies(files: readonly FileResult[]): Folded[] {
  const byContent = new Map<string, Folded>();
  const folded: Folded[] = [];
  for (const file of files) {
    const known = file.chunks.length === 0 ? undefined : byContent.get(contentKey(file));
    if (known !== undefined) known.copies.push(file);
    else {
      const first = { file, copies: [] };
      folded.push(first);
      if (file.chunks.length > 0) byContent.set(contentKey(file), first);
    }
  }
  return folded;
}

const contentKey = ({ fileName: { text }, chunks }: FileResult): string =>
  JSON.stringify([
    text.split("/").at(-1),
    chunks.map(({ content, contentStart }) => [contentStart.lineNumber, content]),
  ]);
