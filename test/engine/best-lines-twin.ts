/**
 * The slow twin of src/search/thread/showing/best-lines.ts: finds which lines of a file come first by looking at each
 * line on its own. It takes the weights and the classes from docs/ranking.md.
 */

import { WEIGHTS } from "../../src/search/thread/ranking/score.ts";

export type Span = readonly [start: number, end: number];

export interface Named {
  readonly span: Span;
  readonly isMember: boolean;
}

/** Returns the spans that a file shows, best lines first. `terms` contains the places of each term. */
export function bestFirst(
  bytes: Uint8Array,
  found: { readonly shown: readonly Span[]; readonly terms: readonly (readonly Span[])[] },
  names: readonly Named[],
): Span[] {
  const lines = lineNumbers(bytes);
  const lineOf = ([start]: Span) => lines[start]!;
  const scores = new Map<number, number>();
  for (const spans of found.terms) {
    const best = new Map<number, number>();
    for (const span of spans)
      best.set(
        lineOf(span),
        Math.max(best.get(lineOf(span)) ?? 0, scoreOfSpan(bytes, span, names)),
      );
    for (const [line, score] of best) scores.set(line, (scores.get(line) ?? 0) + score);
  }
  const scored = found.shown.map((span) => {
    const line = lineOf(span);
    return { span, line, score: scores.get(line)! };
  });
  // sorting is stable
  return scored.sort((a, b) => b.score - a.score || a.line - b.line).map(({ span }) => span);
}

/** Returns the line number of each byte, and of the end of the text. */
function lineNumbers(bytes: Uint8Array): number[] {
  const numbers = [1];
  for (const byte of bytes) numbers.push(numbers.at(-1)! + (byte === 10 ? 1 : 0));
  return numbers;
}

function scoreOfSpan(bytes: Uint8Array, span: Span, names: readonly Named[]): number {
  const classes = names.map((name) => classOf(bytes, span, name));
  return (
    WEIGHTS.edge[edges(bytes, span, [0, bytes.length])]! +
    WEIGHTS.definition[Math.max(0, ...classes)]!
  );
}

function classOf(bytes: Uint8Array, span: Span, { span: name, isMember }: Named): number {
  const [[start, end], [from, to]] = [span, name];
  if (start < from || end > to || start === end) return 0;
  if (start === from && end === to) return isMember ? 2 : 3;
  if (start !== from && end !== to) return 1;
  return edges(bytes, span, name) >= 3 ? 2 : 1;
}

/** Returns how well the ends of a span fit the words around it. An empty span counts 0. */
function edges(bytes: Uint8Array, [start, end]: Span, [from, to]: Span): number {
  if (start === end) return 0;
  const at = (place: number) =>
    place < from || place >= to ? undefined : String.fromCharCode(bytes[place]!);
  return edge(at(start - 1), at(start)) + edge(at(end - 1), at(end));
}

const isWord = (char: string | undefined) => char !== undefined && /[\w\x80-\xff]/.test(char);

function edge(left: string | undefined, right: string | undefined): number {
  if (!isWord(left) || !isWord(right)) return 2;
  if (left === "_" || right === "_") return 1;
  if (/[a-z]/.test(left!) && /[A-Z]/.test(right!)) return 1;
  return /\d/.test(left!) === /\d/.test(right!) ? 0 : 1;
}
