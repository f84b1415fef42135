/** Converts pasted code to a query that finds exactly this code. */

import { escapeExpression, filterWord, wordsOf } from "./query-text.ts";

/** The filters that mean the same with and without regular expressions. */
const PLACES = /^(?:f|file|r|repo|reposet|context|lang|rev|archived|fork|visibility)$/;

interface Pasted {
  /** The text that replaces the selection. */
  text: string;
  regex: boolean;
}

/**
 * Returns what to paste instead of `text`, or undefined to paste it as it is. Several lines become one regular
 * expression, which matches them with any indentation and any line ends. If the box already contains terms, each line
 * is quoted instead, because these terms could have another meaning as regular expressions. A text that is one quoted
 * string stays as it is.
 */
export function pasteCode(text: string, rest: string): Pasted | undefined {
  if (/^"(?:[^"\\]|\\.)*"$/s.test(text.trim())) return undefined;
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (lines.length < 2) return undefined;
  return holdsOnlyFilters(rest)
    ? { text: `"${lines.map(expressionOf).join(String.raw`\s*\n\s*`)}"`, regex: true }
    : { text: lines.map((line) => `"${escapeQuoted(line)}"`).join(" "), regex: false };
}

function holdsOnlyFilters(query: string): boolean {
  return wordsOf(query).every((word) => PLACES.test(filterWord(word)?.keyword ?? ""));
}

const escapeQuoted = (line: string): string => line.replaceAll("\\", "\\\\").replaceAll('"', '\\"');

const expressionOf = (line: string): string =>
  line.includes("\\E") ? escapeQuoted(escapeExpression(line)) : `\\Q${escapeQuoted(line)}\\E`;
