/**
 * Converts between the text in the search box and the query that is sent. The query is what addresses contain, so an
 * address means the same whatever the box does.
 *
 * With regular expressions, the box without its filters is one expression, which may contain blanks. It is sent in
 * quotes, because a query would be split at the blanks. Without regular expressions, several lines are a passage of
 * code. It is sent as one expression, which matches the lines with any indentation and any line ends.
 */

import { escapeExpression, filterWord, wordsOf } from "./query-text.ts";

export interface BoxText {
  text: string;
  regex: boolean;
}

export interface Sent {
  query: string;
  regex: boolean;
}

const KEYWORDS = new Set(
  `f file r repo reposet context lang rev sym content archived fork visibility type select author committer before after
message added removed at`.split(/\s+/),
);

const isFilter = (word: string): boolean => KEYWORDS.has(filterWord(word)?.keyword ?? "");

interface Parts {
  /** The filters at the start, with the blanks behind them. */
  lead: string;
  body: string;
  /** The filters at the end, with the blanks before them. */
  trail: string;
}

/** Splits a text at the filters at its start and at its end. */
function partsOf(text: string): Parts {
  const words = wordsOf(text);
  let [from, to] = [0, text.length];
  let [first, last] = [0, words.length - 1];
  for (; first <= last && isFilter(words[first]!); first++)
    from = text.indexOf(words[first]!, from) + words[first]!.length;
  from += /^\s*/.exec(text.slice(from))![0].length;
  for (; last >= first && isFilter(words[last]!); last--)
    to = text.lastIndexOf(words[last]!, to - 1);
  const body = text.slice(from, Math.max(from, to)).trimEnd();
  return { lead: text.slice(0, from), body, trail: text.slice(from + body.length) };
}

export function sentFor({ text, regex }: BoxText): Sent {
  const { lead, body, trail } = partsOf(text);
  if (regex) {
    const isOne = isSplit(body) && !/(?:^|\s)[-(]*"/.test(body) && !wordsOf(body).some(isFilter);
    return { query: isOne ? `${lead}"${escapeQuoted(body)}"${trail}` : text, regex };
  }
  const lines = linesOf(body);
  if (lines.length < 2 || QUOTED.test(body)) return { query: text, regex };
  return { query: `${lead}"${lines.map(expressionOf).join(BETWEEN)}"${trail}`, regex: true };
}

const QUOTED = /^"((?:\\.|[^"\\])*)"$/s;

const isSplit = (body: string): boolean => /\S\s+\S/.test(body);

const linesOf = (body: string): string[] =>
  body
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const BETWEEN = String.raw`\s*\n\s*`;

const expressionOf = (line: string): string =>
  line.includes("\\E") ? escapeQuoted(escapeExpression(line)) : `\\Q${escapeQuoted(line)}\\E`;

const escapeQuoted = (line: string): string => line.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
const unescapeQuoted = (text: string): string => text.replace(/\\(["\\])/g, "$1");

/** Returns what the box shows for a query. Shows the query itself if no text of the box leads to it. */
export function boxFor({ query, regex }: Sent): BoxText {
  const asIs = { text: query, regex };
  if (!regex) return asIs;
  const { lead, body, trail } = partsOf(query);
  const [, quoted] = QUOTED.exec(body) ?? [];
  if (quoted === undefined) return asIs;
  const lines = quoted.split(BETWEEN).map((line) => /^\\Q(.*)\\E$/s.exec(line)?.[1] ?? line);
  const candidates = [
    { text: lead + lines.map(unescapeQuoted).join("\n") + trail, regex: false },
    { text: lead + unescapeQuoted(quoted) + trail, regex: true },
  ];
  return candidates.find((box) => isSame(sentFor(box), { query, regex })) ?? asIs;
}

const isSame = (a: Sent, b: Sent): boolean => a.query === b.query && a.regex === b.regex;

/** How a query was read, and the other way to read the text of the box. */
export interface Reading {
  kind: "expression" | "parts" | "passage";
  /** The parts of the query, such as the lines of a passage. */
  parts: string[];
  other: Sent;
}

/** Returns how a query was read if the same text can be read in two ways. */
export function readingOf(sent: Sent): Reading | undefined {
  if (!sent.regex) return undefined;
  const box = boxFor(sent);
  const { lead, body, trail } = partsOf(box.text);
  if (!box.regex) {
    const words = `${lead}${body.replace(/\s*\n\s*/g, " ")}${trail}`;
    return { kind: "passage", parts: linesOf(body), other: { query: words, regex: false } };
  }
  const parts = wordsOf(body);
  const asOne = sentFor(box);
  if (box.text !== sent.query)
    return { kind: "expression", parts: [body], other: { query: box.text, regex: true } };
  return isSame(asOne, sent) ? undefined : { kind: "parts", parts, other: asOne };
}
