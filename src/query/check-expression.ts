/** Checks the regular expressions of a query. */

import { QuernError } from "../base/errors.ts";
import { compileExpression } from "../regex/expression.ts";
import { pointingError } from "./point-at.ts";

/** A value of a filter, or a term. */
export interface Operand {
  /**
   * The position in the query where the operand begins. For a quoted operand, this is the position of the opening
   * quote.
   */
  readonly at: number;
  readonly quoted: boolean;
  /** The text of the operand, without quotes and without the escapes in quoted strings. */
  readonly text: string;
  /** Advice for the error message if the text is not a valid expression. */
  readonly advice?: string;
}

/**
 * Checks an operand that is a regular expression. Throws REGEX_SYNTAX or REGEX_TOO_LARGE with a position in the
 * query.
 */
export type CheckExpression = (operand: Operand) => void;

/** The maximum sum of Expression.size over all different expressions of one query. */
const MOST_SIZE = 200_000;

/** Returns a function that checks the expressions of one query. Equal expressions are compiled only once. */
export function expressionChecker(query: string, caseSensitive: boolean): CheckExpression {
  const good = new Set<string>();
  let size = 0;
  return (operand) => {
    if (good.has(operand.text)) return;
    try {
      size += compileExpression(operand.text, { caseSensitive }).size;
      if (size > MOST_SIZE)
        throw new QuernError(
          "REGEX_TOO_LARGE",
          "regular expressions: together they are too large",
          { position: 0 },
        );
    } catch (error) {
      if (!(error instanceof QuernError) || error.position === undefined) throw error;
      const position = positionInQuery(query, operand, error.position);
      const reason =
        operand.advice === undefined ? error.message : `${error.message}; ${operand.advice}`;
      throw pointingError(error.code, reason, query, position);
    }
    good.add(operand.text);
  };
}

/**
 * Converts a position in an operand's text to a position in the query. If the operand is quoted, its text lacks the
 * quotes and escapes that the query has.
 */
function positionInQuery(query: string, operand: Operand, index: number): number {
  if (!operand.quoted) return operand.at + index;
  let at = operand.at + 1;
  for (let passed = 0; passed < index; passed++)
    at += /^\\["\\]/.test(query.slice(at, at + 2)) ? 2 : 1;
  return at;
}
