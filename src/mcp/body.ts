/** Finds the last line of a definition's body. */

import { DefinitionBody } from "../base/definition-body.ts";

const NEWLINE = 10;

/** Returns the last line of the body of a definition that begins in `line` and whose name is at `byteOffset`. */
export function endOfBody(
  content: Uint8Array,
  { line, byteOffset }: { readonly line: number; readonly byteOffset: number },
): number {
  const text = Buffer.from(content.buffer, content.byteOffset, content.length);
  const start = byteOffset === 0 ? 0 : text.lastIndexOf(NEWLINE, byteOffset - 1) + 1;
  const end = new DefinitionBody(text, start).end();
  let last = line;
  for (let at = start; at < end; at++) if (text[at] === NEWLINE) last++;
  return last;
}
