/** When the long run reports that memory grows. */

import { expect, test } from "vitest";
import { hasGrown } from "./soak.ts";

const twenty = (mebibytes: (sample: number) => number) =>
  Array.from({ length: 20 }, (_, i) => mebibytes(i));

test.each([
  ["even", twenty(() => 250), false],
  ["swinging", twenty((i) => (i % 2 ? 230 : 282)), false],
  ["the start is lower", twenty((i) => (i < 5 ? 100 : 250)), false],
  ["one high sample at the end", twenty((i) => (i === 19 ? 400 : 250)), false],
  ["a tenth more", twenty((i) => (i < 15 ? 250 : 275)), false],
  ["more than a tenth", twenty((i) => (i < 15 ? 250 : 276)), true],
  ["a slow climb", twenty((i) => 200 + 5 * i), true],
])("%s", (_, mebibytes, grows) => {
  expect(hasGrown(mebibytes)).toBe(grows);
});
