/**
 * The questions of the benchmark, read from a JSON file (queries.json, or the one of --queries).
 *
 * A question with one plain atom is put to each peer in the peer's own words by rule; where that is
 * not enough, the file holds the words itself, and where a peer cannot ask it, `null`.
 */

import { readFileSync } from "node:fs";
import type { PeerName } from "./peer-names.ts";

export interface Question {
  readonly name: string; // unique
  readonly group: string;
  /** In quern's language. */
  readonly query: string;
  readonly isRegex: boolean;
  readonly isCaseSensitive: boolean;
  /** A match may hold a newline: tools that read line by line must be told. */
  readonly isMultiline: boolean;
  /** A peer's own words (its arguments), or null: it cannot ask this. Absent: by rule. */
  readonly words: Readonly<Partial<Record<PeerName, readonly string[] | null>>>;
  /** Where a peer's count is another one by nature. */
  readonly differs: Readonly<Partial<Record<PeerName, Difference>>>;
}

export interface Difference {
  readonly why: string;
  /** Of the larger count: more than that has another reason. */
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

/** The one expression or literal the question asks for, without quern's quotes. REQUIRES: it has one plain atom. */
export function atomOf({ query }: Question): string {
  const quoted = /^"(.*)"$/s.exec(query)?.[1];
  return quoted === undefined ? query : quoted.replaceAll(/\\(["\\])/g, "$1");
}

/** The same atom as a regular expression. */
export const expressionOf = (question: Question) =>
  question.isRegex ? atomOf(question) : escapeExpression(atomOf(question));

export const escapeExpression = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** How often JavaScript's own expressions find it. REQUIRES: one plain atom. */
export function countIn(text: string, question: Question): number {
  // JavaScript refuses escapes of what needs none, and flags in front
  const [, inline, source] = /^(\(\?i\))?(.*)$/s.exec(expressionOf(question)) ?? [];
  const flags = question.isCaseSensitive && !inline ? "gmu" : "gimu";
  const expression = new RegExp((source ?? "").replaceAll(/\\([-"'&;,<>=~#@!%`: ])/g, "$1"), flags);
  return text.match(expression)?.length ?? 0;
}
