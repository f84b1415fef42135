/**
 * RE2 itself, on bytes. The package reports places as counts of characters, and text as decoded strings. Both are lost
 * if bytes are not valid UTF-8. So this makes a copy of the package in a temporary folder with two changes: every byte
 * counts as one character, and strings are Latin-1. The code to change must occur exactly once, or loading fails.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

interface Compiled {
  ok(): boolean;
  error(): string;
  match(text: Uint8Array, from: number, groups: boolean): { index: number; match: string };
  delete(): void;
}
type Constructor = new (source: Uint8Array, i: boolean, m: boolean, s: boolean) => Compiled;

/**
 * The changes. The first replaces the constant 0xe5000000, a table of character widths, by 0, so that all characters
 * are one byte wide.
 */
const CHANGES = [
  ["re2.wasm", "\x41\x80\x80\x80\xa8\x7e", "\x41\x80\x80\x80\x80\x00"],
  ["re2.js", '(name === "std::string")', "false"],
] as const;

const { WrappedRE2 } = loadByteWise();

function loadByteWise(): { WrappedRE2: Constructor } {
  const require = createRequire(import.meta.url);
  const source = dirname(require.resolve("re2-wasm/build/wasm/re2"));
  const folder = mkdtempSync(join(tmpdir(), "quern-oracle-"));
  try {
    for (const [name, from, to] of CHANGES) {
      const text = readFileSync(join(source, name), "latin1");
      if (text.split(from).length !== 2) throw new Error(`${name} is not the build that is known`);
      writeFileSync(
        join(folder, name),
        text.replace(from, () => to),
        "latin1",
      );
    }
    writeFileSync(join(folder, "package.json"), "{}");
    return require(join(folder, "re2.js")) as { WrappedRE2: Constructor };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the leftmost-first matches, which do not overlap. An empty match that touches the one before is dropped. */
export function spansOfExpression(
  pattern: string,
  caseSensitive: boolean,
  text: Uint8Array,
): Span[] {
  return allMatches(compile(pattern, caseSensitive), text);
}

/**
 * The latest compiled expressions. An expression is applied to each file, and compiling `\\pL` takes longer than most
 * searches.
 */
const compiledBefore = new Map<string, Compiled>();
const MOST_COMPILED = 32;

function compile(pattern: string, caseSensitive: boolean): Compiled {
  const key = `${caseSensitive} ${pattern}`;
  const known = compiledBefore.get(key);
  if (known) return known;
  const compiled = new WrappedRE2(Buffer.from(`(?m)${pattern}`), !caseSensitive, true, false);
  if (!compiled.ok()) {
    const message = `RE2 refuses ${pattern}: ${compiled.error()}`;
    compiled.delete();
    throw new Error(message);
  }
  compiledBefore.set(key, compiled);
  const [oldest] = compiledBefore.keys();
  if (compiledBefore.size > MOST_COMPILED) {
    compiledBefore.get(oldest!)!.delete();
    compiledBefore.delete(oldest!);
  }
  return compiled;
}

/**
 * Returns all matches. Each is searched in the rest of the text and the byte before it, because the input is copied
 * each time, and no assertion looks back further.
 */
function allMatches(compiled: Compiled, text: Uint8Array): Span[] {
  const spans: Span[] = [];
  let from = 0;
  while (from <= text.length) {
    const cut = Math.max(0, from - 1);
    const { index, match } = compiled.match(text.subarray(cut), from - cut, false);
    if (index < 0) break;
    const span = { start: cut + index, end: cut + index + match.length };
    if (match !== "" || span.start !== spans.at(-1)?.end) spans.push(span);
    from = match === "" ? span.end + characterWidth(text, span.end) : span.end;
  }
  return spans;
}

/** The least code point of a character of this many bytes. */
const LEAST = [0, 0, 0x80, 0x800, 0x10000];

/**
 * Returns how far RE2 itself moves on after an empty match: by a character, or by a byte if there is no valid
 * character.
 */
function characterWidth(text: Uint8Array, at: number): number {
  const lead = text[at] ?? 0;
  const width = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (width === 1 || lead >= 0xf8) return 1;
  let codePoint = lead & (0x7f >> width);
  for (let i = 1; i < width; i++) {
    const byte = text[at + i] ?? 0;
    if ((byte & 0xc0) !== 0x80) return 1;
    codePoint = codePoint * 64 + (byte & 0x3f);
  }
  return codePoint >= LEAST[width]! && codePoint <= 0x10ffff ? width : 1;
}
