/** The strings that people and models read use the words of the field. */

import { expect, test } from "vitest";
import { stringsIn } from "../scripts/strings.ts";

/** Words and turns that sound translated, each with what to write instead. */
const AVOIDED: readonly (readonly [found: RegExp, instead: string])[] = [
  [/\b(?:tell|tells|told|say|says|said)\b/i, "return, report, show, describe, list"],
  [/\b(?:hold|holds|held)\b/i, "have, contain"],
  [/\b(?:stand|stands|lie|lies)\b/i, "is, is inside"],
  [/\b(?:mend|mends|mended)\b/i, "fix"],
  [/\b(?:is|are) (?:still )?good\b/i, "is valid, is accepted"],
  [/\bcomes? again\b/i, "is repeated"],
  [/\b(?:not|no|nothing|nobody) \w+(?: \w+)? any more\b/i, "no longer"],
  [/\bof which\b/i, "two sentences"],
  [/\bin(?:to)? the place of\b/i, "instead of"],
  [/(?<!\bthere )\bis no (?!longer\b)\w/i, "is not a"],
];

/** The files whose long strings are lists of names. */
const LISTS = /navigation.languages|unicode-table/;
const STRINGS = stringsIn("src").filter(({ path }) => !LISTS.test(path));

test.each(AVOIDED)("no string contains %s", (found, instead) => {
  const wrong = STRINGS.filter(({ text }) => found.test(text)).map(
    ({ path, line, text }) => `${path}:${line}: ${text}`,
  );
  expect(wrong, `write: ${instead}`).toEqual([]);
});
