/**
 * Shows text from repositories as plain text, never as markup. Characters that cannot be seen, or that change the
 * direction of the text around them, are replaced by their code points. Only the beginning of a long text is shown,
 * because a stranger's commit message or README may have megabytes, and the browser would lay them out all at once.
 */

import type { ComponentChildren } from "preact";
import { partsOf, type Mark } from "./marks.ts";

// control and format characters, including zero-width ones and those of the bidirectional algorithm
const UNSEEN = /((?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029])/u;

// scripts that are written from right to left must not change the direction of the text around them
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The default maximum number of characters that are shown of a text. No path is longer. */
const MOST_SHOWN = 5_000;
/** The maximum number of characters of a title, a tooltip or the name of a control. */
const MOST_TOLD = 1_000;
/**
 * The maximum number of unseen characters whose code points are highlighted. If a text has more, all code points look
 * like the rest of the text.
 */
const MOST_MARKED = 50;

export function PlainText({ text, most = MOST_SHOWN }: { text: string; most?: number }) {
  const begun = beginningOf(text, most);
  const parts = begun.split(UNSEEN, 2 * MOST_MARKED + 2);
  const isMarked = parts.length > 1 && parts.length <= 2 * MOST_MARKED + 1;
  const shown = isMarked ? parts.map(showPart) : plainText(begun, Infinity);
  return RIGHT_TO_LEFT.test(begun) ? <bdi>{shown}</bdi> : <>{shown}</>;
}

const beginningOf = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)} …` : text;

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

/**
 * Replaces the unseen characters of a text by their code points. Used for titles, for the names of controls, and for
 * options.
 */
export const plainText = (text: string, most = MOST_TOLD): string =>
  beginningOf(text, most).replace(new RegExp(UNSEEN, "gu"), codeOf);

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
