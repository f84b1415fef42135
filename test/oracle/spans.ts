/** Finds where an atom occurs in bytes, and which occurrences remain if several atoms occur. */

import { orbit } from "../../src/kernel/folding.ts";
import type { Span } from "./re2.ts";

/** Returns the places of a literal. Tries every place. REQUIRES: `literal` is not empty. */
export function spansOfLiteral(literal: string, caseSensitive: boolean, text: Uint8Array): Span[] {
  const characters = Array.from(literal, (character) => {
    const codePoint = character.codePointAt(0)!;
    const forms = caseSensitive ? [codePoint] : orbit(codePoint);
    return forms.map((form) => Buffer.from(String.fromCodePoint(form)));
  });
  const spans: Span[] = [];
  for (let at = 0; at < text.length;) {
    const end = endOfLiteral(characters, text, at);
    if (end !== undefined) spans.push({ start: at, end });
    at = end ?? at + 1;
  }
  return spans;
}

function endOfLiteral(characters: Buffer[][], text: Uint8Array, at: number): number | undefined {
  for (const forms of characters) {
    const form = forms.find((bytes) => bytes.every((byte, i) => text[at + i] === byte));
    if (form === undefined) return undefined;
    at += form.length;
  }
  return at;
}

/**
 * Sorts spans by offset, longer ones first. Drops a span that overlaps an earlier kept one, and keeps those that only
 * touch.
 */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const kept: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const before = kept.at(-1)?.end ?? -1;
    const isEmpty = span.start === span.end;
    if (isEmpty ? span.start > before : span.start >= before) kept.push(span);
  }
  return kept;
}
