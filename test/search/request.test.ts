/** The fields of a search request: the bounds and default of each, and what is refused. */

import { expect, test } from "vitest";
import { checkRequest } from "../../src/search/messages/request.ts";

const GOOD = { query: "a", matches: 1 };

test("what is left out has its default", () => {
  expect(checkRequest({ ...GOOD, contextLines: undefined })).toEqual({
    query: "a",
    matches: 1,
    contextLines: 0,
    whole: false,
    enclosing: false,
    isRegexEnabled: false,
    isCaseSensitivityEnabled: false,
  });
});

test.each<[field: string, taken: unknown[], refused: unknown[]]>([
  ["query", ["", "a"], [undefined, 1, ["a"]]],
  ["matches", [0, 1, 1e9], [undefined, -1, 0.5, NaN, Infinity, "1", true]],
  ["matchesPerFile", [1, 1e9], [0, -1, 1.5, Infinity, "1"]],
  ["after", ["", "abc"], [0, ["a"], {}]],
  ["facets", [1, 1000], [0, 1001, 1.5, "1", true]],
  ["contextLines", [0, 1, 1000], [-1, 1001, 0.5, NaN, "1"]],
  ["whole", [true, false], [0, "true"]],
  ["enclosing", [true, false], [0, "true"]],
  ["isRegexEnabled", [true, false], [1, "yes"]],
  ["isCaseSensitivityEnabled", [true, false], [1, "yes"]],
])("%s", (field, taken, refused) => {
  for (const value of taken)
    expect(checkRequest({ ...GOOD, [field]: value })).toHaveProperty(field, value);
  for (const value of [...refused, null])
    expect(() => checkRequest({ ...GOOD, [field]: value }), String(value)).toThrow(
      expect.objectContaining({
        code: "INVALID_REQUEST",
        message: expect.stringMatching(new RegExp(`^${field} (?:must be|is missing)`)) as string,
      }),
    );
});

test.each([undefined, null, [], "a", 1])("%j is no request", (given) => {
  expect(() => checkRequest(given)).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
});
