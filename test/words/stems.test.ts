/** Which words have one stem, and which must not. */

import { describe, expect, test } from "vitest";
import { stemOf } from "../../src/words/stems.ts";

/** Words that have one stem. */
const SAME: readonly string[] = [
  "parse parser parsing parsed parses",
  "validate validator validation validating",
  "entry entries",
  "configure configuring configuration configurations",
  "map mapping mapped maps mapper",
  "retry retries retrying",
  "class classes",
  "serialize serializer serialization serialized",
  "build built building builder",
  "child children",
  "describe description descriptor",
  "match matches matching matcher",
];

/** Words whose endings are none, or whose rest is another word. */
const DIFFERENT: readonly string[] = [
  "option optional",
  "log logic",
  "str string",
  "numb number",
  "process proc",
  "access acces",
  "bus bu",
  "ring r",
];

describe("forms of one word have one stem", () => {
  test.each(SAME)("%s", (words) => {
    expect(new Set(words.split(" ").map(stemOf)).size, words).toBe(1);
  });
});

describe("other words have other stems", () => {
  test.each(DIFFERENT)("%s", (words) => {
    const all = words.split(" ");
    expect(new Set(all.map(stemOf)).size).toBe(all.length);
  });
});

test("names of Object.prototype are words", () => {
  expect(["constructor", "toString", "__proto__"].map(stemOf)).not.toContain(undefined);
});
