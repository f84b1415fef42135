/** Parses JSON with comments and trailing commas. */

import type { ParseError } from "jsonc-parser";
import { QuernError } from "../../base/errors.ts";
import { lazily } from "../../base/out-of-files.ts";

const parser = lazily(() => import("jsonc-parser"));

/**
 * Parses the text of a file. Rejects with INVALID_REQUEST and the position of the first error if the text is invalid.
 */
export async function parseWithComments(file: string, text: string): Promise<unknown> {
  const { default: named, ...rest } = await parser();
  // in Node, this module has only a default export; in other loaders, it has only named exports
  const jsonc = (named as typeof named | undefined) ?? rest;
  const errors: ParseError[] = [];
  const value = parseShallow(file, () =>
    jsonc.parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true }),
  );
  const [first] = errors;
  if (first === undefined) return value;
  const before = text.slice(0, first.offset).split("\n");
  const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
  const what = jsonc.printParseErrorCode(first.error);
  const message = `${file} is not JSON with comments: ${what} at ${place}`;
  throw new QuernError("INVALID_REQUEST", message);
}

/**
 * Calls the parser. The parser is recursive, so deeply nested text overflows the stack. This function turns the
 * overflow into INVALID_REQUEST.
 */
function parseShallow(file: string, parse: () => unknown): unknown {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = `${file} is not JSON with comments: lists and objects are nested too deeply`;
    throw new QuernError("INVALID_REQUEST", message, { cause });
  }
}
