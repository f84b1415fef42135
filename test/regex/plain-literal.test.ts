/** Which expressions are equivalent to a single text, by example. The others are left to the automaton. */

import { expect, test } from "vitest";
import { compileExpression } from "../../src/regex/expression.ts";
import { plainLiteral } from "../../src/regex/plain-literal.ts";

/** Returns the text, followed by an i if it matches in any case; "-" for any other expression. */
function plain(source: string, caseSensitive: boolean): string {
  const literal = plainLiteral(compileExpression(source, { caseSensitive }).syntax);
  if (!literal) return "-";
  return JSON.stringify(literal.text) + (literal.caseSensitive ? "" : "i");
}

test.each<[string, string, string]>([
  ["foo", '"foo"', '"foo"i'],
  ["Tasks", '"Tasks"', '"tasks"i'],
  ["foo\\.bar", '"foo.bar"', '"foo.bar"i'],
  ["\\Qa.b*\\E", '"a.b*"', '"a.b*"i'],
  ["(f)(?:oo)", "-", "-"], // nested groups are not examined
  ["a\\nb", '"a\\nb"', '"a\\nb"i'],
  ["\\x{1F600}", '"😀"', '"😀"'],
  ["12", '"12"', '"12"'], // a character without other cases is exact
  ["é", '"é"', '"é"i'],
  ["\\x{212a}", '"\u212a"', '"k"i'],
  ["(?i)foo", '"foo"i', '"foo"i'],
  ["(?i:f)oo", "-", '"foo"i'],
  ["(?i:f)1", '"f1"i', '"f1"i'],
  ["(?-i:f)oo", '"foo"', "-"],
  ["[kK\\x{212a}]x", "-", '"kx"i'],
  ["[k]", "-", '"k"i'], // a class of one member is not a text, but a set of all case forms is
  ["[kK]", "-", '"k"i'],
  // the bytes ed a0 80 and ed bf bf; U+FFFD is something else
  ["\\x{d800}", "-", "-"],
  ["a\\x{dfff}b", "-", "-"],
  ["\\x{d7ff}", '"\ud7ff"', '"\ud7ff"'],
  ["\\x{e000}", '"\ue000"', '"\ue000"'],
  ["\\x{fffd}", '"\ufffd"', '"\ufffd"'],
  ["", "-", "-"],
  ["foo?", "-", "-"],
  ["^foo", "-", "-"],
  ["a|b", "-", "-"],
  [".", "-", "-"],
  ["\\C", "-", "-"],
])("%s is %s, without case %s", (source, exact, folded) => {
  expect([plain(source, true), plain(source, false)]).toEqual([exact, folded]);
});
