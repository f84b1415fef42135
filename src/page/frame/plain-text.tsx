/**
 * Text from repositories: always text, never markup. Characters that cannot be seen, or that turn the
 * direction of those around them, are shown by their numbers.
 */

import type { ComponentChildren } from "preact";
import { partsOf, type Mark } from "./marks.ts";

// control and format characters; zero-width ones and those of the bidirectional algorithm are among them
const UNSEEN = /((?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029])/u;

export function PlainText({ text }: { text: string }) {
  if (!UNSEEN.test(text)) return <bdi>{text}</bdi>;
  return <bdi>{text.split(UNSEEN).map(showPart)}</bdi>;
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

/** The same where there is room for a string alone: titles, names of controls, options. */
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
