/** Makes a query of code that is pasted, so that it is found as it stands. */

import { escapeExpression, filterWord, wordsOf } from "./query-text.ts";

/** Filters that mean the same whether or not terms are expressions. */
const PLACES = /^(?:f|file|r|repo|reposet|context|lang|rev|archived|fork|visibility)$/;

interface Pasted {
  /** Takes the place of what was selected. */
  text: string;
  regex: boolean;
}

/**
 * Lines that stand together become one expression: line by line, however each is indented and whatever
 * ends it, which a quotation would have to repeat exactly. What is one quotation already stays. Where the box holds more than filters, which an expression might change,
 * each line is put in quotes instead. Undefined: the text is best pasted as it is.
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
