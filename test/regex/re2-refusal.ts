import type { ExpressionSource } from "../../src/regex/expression.ts";
import { Re2Module } from "../../src/re2/module.ts";

let module = new Re2Module();

function refusal({ source, caseSensitive }: ExpressionSource): string | undefined {
  const handle = module.compile(Buffer.from(`(?m)${source}`), !caseSensitive);
  const error = module.error(handle);
  module.release(handle);
  return error?.replace(": (?m)", ": ");
}

/**
 * Returns RE2's reason for rejecting a pattern, or undefined if it accepts the pattern. `^` and `$` match at the starts
 * and ends of lines. If RE2 aborts, it is asked once more, in a new instance.
 */
export function re2Refusal(expression: ExpressionSource): string | undefined {
  try {
    return refusal(expression);
  } catch {
    module = new Re2Module();
    return refusal(expression);
  }
}
