/** Shows a line of code with its colours and its marks. */

import type { Token } from "../colours/colour-lines.ts";
import { partsOf, type Mark } from "../frame/marks.ts";
import { PlainText } from "../frame/plain-text.tsx";

interface CodeTextProps {
  text: string;
  marks: readonly Mark[];
  /** The coloured parts, in order. */
  tokens: readonly Token[];
}

export function CodeText({ text, marks, tokens }: CodeTextProps) {
  let at = 0;
  return (
    <>
      {partsOf(text, marks).map(({ text: part, marked }, index) => {
        const from = at;
        at += part.length;
        const pieces = coloured(part, from, tokens).map(({ piece, classes }, n) =>
          classes === "" ? (
            <PlainText key={n} text={piece} />
          ) : (
            <span key={n} class={classes}>
              <PlainText text={piece} />
            </span>
          ),
        );
        return marked ? <mark key={index}>{pieces}</mark> : pieces;
      })}
    </>
  );
}

/** Splits a part of a line, which begins at `from`, at its tokens. */
function coloured(
  part: string,
  from: number,
  tokens: readonly Token[],
): { piece: string; classes: string }[] {
  const pieces: { piece: string; classes: string }[] = [];
  const add = (start: number, end: number, classes: string): void => {
    if (end > start) pieces.push({ piece: part.slice(start - from, end - from), classes });
  };
  const to = from + part.length;
  let at = from;
  for (const token of tokens) {
    if (token.to <= at) continue;
    if (token.from >= to) break;
    add(at, Math.max(at, token.from), "");
    add(Math.max(at, token.from), Math.min(token.to, to), token.classes);
    at = Math.min(token.to, to);
  }
  add(at, to, "");
  return pieces;
}
