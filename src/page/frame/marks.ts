/** Splits a text at its marks. */

/** A marked part of a text, in UTF-16 units. `to` is the position after its last unit. */
export interface Mark {
  from: number;
  to: number;
}

/** Splits a text into plain and marked parts, in order. Marks may touch and overlap. */
export function partsOf(text: string, marks: readonly Mark[]): { text: string; marked: boolean }[] {
  const parts: { text: string; marked: boolean }[] = [];
  let at = 0;
  for (const { from, to } of [...marks].sort((a, b) => a.from - b.from)) {
    if (to <= at) continue;
    if (from > at) parts.push({ text: text.slice(at, from), marked: false });
    parts.push({ text: text.slice(Math.max(from, at), to), marked: true });
    at = to;
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at), marked: false });
  return parts;
}
