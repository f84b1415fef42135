/** Says how a text was read that could also mean something else, and links to the other reading. */

import type { SearchAddress } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";
import { readingOf, type Reading } from "./box-text.ts";

const MOST_CHARACTERS = 200;

export function SearchedAs({ address }: { address: SearchAddress }) {
  const { router } = usePage();
  const reading = readingOf(address);
  if (reading === undefined) return null;
  const { other } = reading;
  return (
    <p class="searched-as muted">
      {wordsFor(reading)} <a href={router.href({ ...address, ...other })}>{OTHERS[reading.kind]}</a>
    </p>
  );
}

const OTHERS: Readonly<Record<Reading["kind"], string>> = {
  expression: "Search for its words separately",
  parts: "Search as one expression",
  passage: "Search for the words instead",
};

function wordsFor({ kind, parts }: Reading) {
  if (kind === "passage") return <>Searched as {parts.length} consecutive lines.</>;
  if (kind === "parts") return <>Searched as {parts.length} expressions in the same file.</>;
  return (
    <>
      Searched as the expression{" "}
      <code>
        <PlainText text={parts[0]!} most={MOST_CHARACTERS} />
      </code>
      .
    </>
  );
}
