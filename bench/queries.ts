/**
 * Reads the questions of the benchmark from a JSON file (queries.json, or that of --queries). If a question has one
 * plain atom, rules translate it to each peer's own words. Otherwise the file contains these words, or `null` if a peer
 * cannot answer the question.
 */

import { readFileSync } from "node:fs";
import type { PeerName } from "./peer-names.ts";

export interface Question {
  readonly name: string; // unique
  readonly group: string;
  /** The question in quern's query language. */
  readonly query: string;
  readonly isRegex: boolean;
  readonly isCaseSensitive: boolean;
  /** Whether a match may contain a newline. Tools that read line by line need an option for this. */
  readonly isMultiline: boolean;
  /** A peer's own words (its arguments), or null if it cannot answer this. If absent, rules make the words. */
  readonly words: Readonly<Partial<Record<PeerName, readonly string[] | null>>>;
  /** The peers whose counts differ because of the nature of the question. */
  readonly differs: Readonly<Partial<Record<PeerName, Difference>>>;
}

export interface Difference {
  readonly why: string;
  /** The largest difference, as a part of the larger count. A larger one has another reason. */
  readonly most: number;
}

type Row = Pick<Question, "name" | "group" | "query"> & {
  readonly regex?: boolean;
  readonly case?: boolean;
  readonly multiline?: boolean;
  readonly words?: Question["words"];
  readonly differs?: Question["differs"];
};

export function readQuestions(path: string | URL): Question[] {
  const rows = JSON.parse(readFileSync(path, "utf8")) as Row[];
  const names = new Set(rows.map(({ name }) => name));
  if (names.size !== rows.length) throw new Error(`${String(path)}: names must be unique`);
  return rows.map((row) => ({
    name: row.name,
    group: row.group,
    query: row.query,
    isRegex: row.regex ?? false,
    isCaseSensitive: row.case ?? false,
    isMultiline: row.multiline ?? false,
    words: row.words ?? {},
    differs: row.differs ?? {},
  }));
}

/**
 * Returns the only expression or literal of the question, without quern's quotes. REQUIRES: the question has one plain
 * atom.
 */
export function atomOf({ query }: Question): string {
  const quoted = /^"(.*)"$/s.exec(query)?.[1];
  return quoted === undefined ? query : quoted.replaceAll(/\\(["\\])/g, "$1");
}

/** Returns the atom as a regular expression. */
export const expressionOf = (question: Question) =>
  question.isRegex ? atomOf(question) : escapeExpression(atomOf(question));

export const escapeExpression = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Counts the matches with JavaScript's own expressions. REQUIRES: the question has one plain atom. */
export function countIn(text: string, question: Question): number {
  // JavaScript rejects unnecessary escapes, and flags at the beginning
  const [, inline, source] = /^(\(\?i\))?(.*)$/s.exec(expressionOf(question)) ?? [];
  const flags = question.isCaseSensitive && !inline ? "gmu" : "gimu";
  const expression = new RegExp((source ?? "").replaceAll(/\\([-"'&;,<>=~#@!%`: ])/g, "$1"), flags);
  return text.match(expression)?.length ?? 0;
}
