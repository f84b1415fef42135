/**
 * Shows text from repositories, never as markup. Characters that cannot be seen, or that turn the direction
 * of those around them, are shown by their numbers.
 */

import type { ComponentChildren } from "preact";
import { partsOf, type Mark } from "./marks.ts";

// control and format characters, including zero-width ones and those of the bidirectional algorithm
const UNSEEN = /((?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029])/u;

// scripts that are written from right to left must not turn the text around them
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

export function PlainText({ text }: { text: string }) {
  const shown = UNSEEN.test(text) ? text.split(UNSEEN).map(showPart) : text;
  return RIGHT_TO_LEFT.test(text) ? <bdi>{shown}</bdi> : <>{shown}</>;
}

function showPart(part: string, index: number): ComponentChildren {
  if (index % 2 === 0) return part;
  return (
    <span class="unseen" key={index}>
      {codeOf(part)}
    </span>
  );
}

const codeOf = (char: string): string =>
  `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;

/** Replaces the same characters in a string, for titles, names of controls and options. */
export const plainText = (text: string): string => text.replace(new RegExp(UNSEEN, "gu"), codeOf);

export function MarkedText({ text, marks }: { text: string; marks: readonly Mark[] }) {
  if (marks.length === 0) return <PlainText text={text} />;
  return (
    <>
      {partsOf(text, marks).map(({ text: part, marked }, index) =>
        marked ? (
          <mark key={index}>
            <PlainText text={part} />
          </mark>
        ) : (
          <PlainText key={index} text={part} />
        ),
      )}
    </>
  );
}
