/** Quotes the lines of pasted code if the search box already contains terms. */

import { filterWord, wordsOf } from "./query-text.ts";

/** The filters that mean the same with and without regular expressions. */
const PLACES = /^(?:f|file|r|repo|reposet|context|lang|rev|archived|fork|visibility)$/;

/**
 * Returns what to paste instead of `text`, or undefined to paste it as it is. Several lines are a passage, unless the
 * box already contains terms. These would become a part of the passage, so each line is quoted instead.
 */
export function quotedLines(text: string, rest: string): string | undefined {
  if (holdsOnlyFilters(rest)) return undefined;
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.length < 2 ? undefined : lines.map((line) => `"${escapeQuoted(line)}"`).join(" ");
}

function holdsOnlyFilters(query: string): boolean {
  return wordsOf(query).every((word) => PLACES.test(filterWord(word)?.keyword ?? ""));
}

const escapeQuoted = (line: string): string => line.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
