/**
 * Finds the bodies of functions that are cut out of a Go file before parsing (see cuts.ts). gofmt indents all lines
 * of a function except its first and its last one. So a body begins after a line that starts with `func` and ends
 * with a brace. It ends at the next `}` at the start of a line. A body is not cut out if one of its lines is
 * unindented, or if text follows the closing brace. Both occur in raw strings, and in code that gofmt has not
 * formatted.
 */

import type { Cuts } from "./cuts.ts";

const UNINDENTED = /\n\S/;

export function goCuts(bytes: Uint8Array): Cuts {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const cuts: number[] = [];
  for (let head = text.indexOf("\nfunc "); head >= 0; head = text.indexOf("\nfunc ", head)) {
    const start = text.indexOf("\n", head + 1);
    if (start < 0) break;
    head = start;
    if (text[start - 1] !== "{" && !text.startsWith("{\r", start - 2)) continue;
    const end = text.indexOf("\n}", start);
    if (end < 0) break;
    const closes = end > start && /^\s?$/.test(text[end + 2] ?? "");
    if (closes && !UNINDENTED.test(text.slice(start, end))) cuts.push(start, end);
    head = end;
  }
  return cuts;
}
