/**
 * Finds the bodies that are cut from Go before parsing; see cuts.ts. gofmt leaves only `func` and the closing brace of
 * its body unindented. So a body lies between a line that starts with `func` and ends with a brace, and the next `}` at
 * the start of a line. The body is not cut if another line in between is unindented, or if text follows the closing
 * brace. That happens in raw strings, and in code that gofmt has not formatted.
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
