/**
 * Estimates how often names are used, so that the most used ones are shown first. Exact counts of a thousand names
 * took seconds in a repository of 1 GB. So the estimate has two steps. The first step counts all words in some files
 * of the folder. The second step searches the whole repository for the names that are most frequent in these files,
 * and counts the best matches.
 */

import { quote } from "../query/ast.ts";
import { alternations } from "./alternations.ts";
import { queryWith, scopeOf, searchOptions } from "./scope.ts";
import type { Filters, ToolContext } from "./tool.ts";

/** The maximum number of names that are searched in the whole repository. */
const MOST_NAMES = 250;
/** The maximum number of matches that one search of the repository returns. */
const MOST_PLACES = 1_000;
const PER_FILE = 50;
/**
 * The maximum number of files of the folder whose words are counted, and the maximum length of these files together,
 * in UTF-16 units.
 */
const MOST_FILES = 100;
const MOST_TEXT = 4 * 2 ** 20;

type Uses = Map<string, number>;

/**
 * Estimates the number of uses of each name. `namesOfFiles` contains a list of names for each file. `inFolder` is a
 * filter for the files of the folder, or '' for the whole repository.
 */
export async function usesOf(
  namesOfFiles: readonly (readonly string[])[],
  { repository, revision, inFolder }: Filters & { readonly inFolder: string },
  context: ToolContext,
): Promise<Uses> {
  const { filter, viewer } = await scopeOf({ repository, revision }, context);
  const options = searchOptions(context, viewer);
  const folder = { query: queryWith(inFolder || "file:.", filter), matches: MOST_FILES };
  const { files } = await context.engine.search({ ...folder, whole: true }, options);
  const near: Uses = new Map();
  let left = MOST_TEXT;
  for (const { content = "" } of files) {
    countWords(content.slice(0, left), near);
    left -= Math.min(left, content.length);
  }
  const far: Uses = new Map();
  for (const names of alternations(mostUsed(namesOfFiles, near))) {
    const query = queryWith(`content:${quote(`\\b(?:${names})\\b`)}`, filter);
    const places = { matches: MOST_PLACES, matchesPerFile: PER_FILE };
    const found = await context.engine.search(
      { query, isRegexEnabled: true, isCaseSensitivityEnabled: true, ...places },
      options,
    );
    for (const { chunks } of found.files)
      for (const { content } of chunks) countWords(content, far);
  }
  for (const [name, count] of far) near.set(name, Math.max(count, near.get(name) ?? 0));
  return near;
}

const NAME = /^[\w$]{3,100}$/;

/**
 * Selects the names that are searched in the whole repository. For each file, selects the names that the folder uses
 * most, up to the same number per file.
 */
function mostUsed(namesOfFiles: readonly (readonly string[])[], uses: Uses): string[] {
  const share = Math.ceil(MOST_NAMES / namesOfFiles.length);
  const chosen = namesOfFiles.flatMap((names) =>
    names
      .filter((name) => NAME.test(name))
      .toSorted((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0))
      .slice(0, share),
  );
  return [...new Set(chosen)].slice(0, MOST_NAMES);
}

function countWords(text: string, uses: Uses): void {
  for (const [word] of text.matchAll(/[\w$]+/g)) uses.set(word, (uses.get(word) ?? 0) + 1);
}
