import { expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { errorBody, Refusal, toRefusal } from "../../src/http/refusal.ts";

/** Returns an error as thrown by an engine of another copy of the package. */
const foreign = (code: string) => Object.assign(new Error("no"), { name: "QuernError", code });

test.each<[unknown, number, string, string | RegExp]>([
  [new QuernError("INVALID_REQUEST", "matches: no"), 400, "INVALID_REQUEST_BODY", "matches: no"],
  [
    new QuernError("QUERY_SYNTAX", "no operand\n  a or\n    ^", { position: 2 }),
    400,
    "FAILED_TO_PARSE_QUERY",
    "no operand (at position 2)\n  a or\n    ^",
  ],
  [
    new QuernError("REGEX_SYNTAX", "missing $1", { position: 0 }),
    400,
    "FAILED_TO_PARSE_QUERY",
    "missing $1 (at position 0)",
  ],
  [new QuernError("CONTEXT_NOT_FOUND", "x"), 404, "SEARCH_CONTEXT_NOT_FOUND", "x"],
  [foreign("REGEX_TOO_LARGE"), 400, "FAILED_TO_PARSE_QUERY", "no"],
  [foreign("toString"), 500, "UNEXPECTED_ERROR", /^internal error/],
  [new QuernError("INDEX_CORRUPT", "/srv/x"), 500, "UNEXPECTED_ERROR", /^internal error/],
  [new QuernError("PERMISSION_DENIED", "/srv/x"), 500, "UNEXPECTED_ERROR", /^internal error/],
  [new QuernError("ENGINE_CLOSED", "/srv/x"), 503, "OVERLOADED", /^too busy/],
  [new TypeError("/srv/x"), 500, "UNEXPECTED_ERROR", /^internal error/],
  ["/srv/x", 500, "UNEXPECTED_ERROR", /^internal error/],
  [undefined, 500, "UNEXPECTED_ERROR", /^internal error/],
])("%s", (thrown, statusCode, errorCode, message) => {
  const refusal = toRefusal(thrown);
  const shown = typeof message === "string" ? message : expect.stringMatching(message);
  expect(errorBody(refusal)).toEqual({ statusCode, errorCode, message: shown });
  expect(refusal.cause).toBe(thrown);
});

test("a refusal is returned unchanged", () => {
  const refusal = new Refusal("NOT_FOUND", "x");
  expect(toRefusal(refusal)).toBe(refusal);
});
