/**
 * Which lines of a file come first, by looking at every line for itself: the slow twin of
 * src/search/thread/showing/best-lines.ts. It takes the weights and the classes from docs/ranking.md.
 */

import { WEIGHTS } from "../../src/search/thread/ranking/score.ts";

export type Span = readonly [start: number, end: number];

export interface Named {
  readonly span: Span;
  readonly isConstructor: boolean;
}

/** The spans that a file shows, best lines first. `terms`: where each term occurs. */
export function bestFirst(
  bytes: Uint8Array,
  found: { readonly shown: readonly Span[]; readonly terms: readonly (readonly Span[])[] },
  names: readonly Named[],
): Span[] {
  const lineOf = ([start]: Span) => newlinesBefore(bytes, start);
  const scoreOf = (line: number) =>
    found.terms
      .map((spans) => spans.filter((span) => lineOf(span) === line))
      .map((spans) => Math.max(0, ...spans.map((span) => scoreOfSpan(bytes, span, names))))
      .reduce((sum, score) => sum + score, 0);
  const scored = found.shown.map((span) => ({
    span,
    line: lineOf(span),
    score: scoreOf(lineOf(span)),
  }));
  // sorting keeps equal ones in place
  return scored.sort((a, b) => b.score - a.score || a.line - b.line).map(({ span }) => span);
}

function newlinesBefore(bytes: Uint8Array, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at++) if (bytes[at] === 10) count++;
  return count;
}

function scoreOfSpan(bytes: Uint8Array, span: Span, names: readonly Named[]): number {
  const classes = names.map((name) => classOf(bytes, span, name));
  return (
    WEIGHTS.edge[edges(bytes, span, [0, bytes.length])]! +
    WEIGHTS.definition[Math.max(0, ...classes)]!
  );
}

function classOf(bytes: Uint8Array, span: Span, { span: name, isConstructor }: Named): number {
  const [[start, end], [from, to]] = [span, name];
  if (start < from || end > to || start === end) return 0;
  if (start === from && end === to) return isConstructor ? 2 : 3;
  if (start !== from && end !== to) return 1;
  return edges(bytes, span, name) >= 3 ? 2 : 1;
}

/** Of an empty span none. */
function edges(bytes: Uint8Array, [start, end]: Span, [from, to]: Span): number {
  if (start === end) return 0;
  const text = Buffer.from(bytes.subarray(from, to)).toString("latin1");
  return (
    edge(text[start - from - 1], text[start - from]) + edge(text[end - from - 1], text[end - from])
  );
}

const isWord = (char: string | undefined) => char !== undefined && /[\w\x80-\xff]/.test(char);

function edge(left: string | undefined, right: string | undefined): number {
  if (!isWord(left) || !isWord(right)) return 2;
  if (left === "_" || right === "_") return 1;
  if (/[a-z]/.test(left!) && /[A-Z]/.test(right!)) return 1;
  return /\d/.test(left!) === /\d/.test(right!) ? 0 : 1;
}
