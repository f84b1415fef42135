/**
 * Fuzzes the query parser in both dialects. It must return a query or one of its three errors, and must accept its own
 * canonical form.
 */

import { isDeepStrictEqual } from "node:util";
import { QuernError } from "../src/base/errors.ts";
import { formatQuery, type Query } from "../src/query/ast.ts";
import { parseQuery, type Dialect } from "../src/query/parse.ts";
import { simplify } from "../src/query/simplify.ts";
import { holds, type Target } from "./target.ts";

const DIALECTS: readonly Dialect[] = [false, true].flatMap((regex) =>
  [false, true].map((caseSensitive) => ({ regex, caseSensitive })),
);
const CODES = ["QUERY_SYNTAX", "REGEX_SYNTAX", "REGEX_TOO_LARGE"];

export const query: Target = {
  check(input) {
    const text = input.toString();
    for (const dialect of DIALECTS) checkText(text, dialect);
  },
};

function checkText(text: string, dialect: Dialect): void {
  const parsed = parseOrRefuse(text, dialect);
  if (!parsed) return;
  simplify(parsed);
  const canonical = formatQuery(parsed);
  const again = parseOrRefuse(canonical, dialect);
  holds(
    isDeepStrictEqual(again, parsed),
    `${JSON.stringify(canonical)} is not the query it was made of`,
  );
}

function parseOrRefuse(text: string, dialect: Dialect): Query | undefined {
  try {
    return parseQuery(text, dialect);
  } catch (error) {
    if (!(error instanceof QuernError)) throw error;
    holds(CODES.includes(error.code), `an error ${error.code}: ${error.message}`);
    const { position = -1 } = error;
    holds(position >= 0 && position <= text.length, `the position ${position} is not in the query`);
    return undefined;
  }
}
