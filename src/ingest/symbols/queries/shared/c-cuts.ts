/**
 * Finds the parts of a C file that are cut out before parsing (see cuts.ts). In the source of Linux, these parts are
 * 70 % of the text.
 *
 * - Bodies of functions, and tables after `=`. The opening brace follows a `)` or `=`, and is the last character of a
 *   line that starts with a letter or with this brace. The body ends at the first `}` at the start of a line. A body is
 *   not cut out if it defines a macro, or if an #if in it has no #endif.
 * - Annotations such as `__init`, which are macros that no grammar knows. An annotation is a word of two underscores
 *   and lower-case letters, at a place where the declaration would be complete without the word.
 */

import type { Cuts } from "./cuts.ts";

const UNINDENTED = /\n(?:[A-Za-z_](?!\w*[ \t]*:)|\{)/;
const DIRECTIVE = /\n[ \t]*#[ \t]*(if|endif|else|elif|define)/g;
const NEWLINE = 10;
const SPACE = 32;
const SLASH = 47;

export function cCuts(bytes: Uint8Array): Cuts {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const cuts: number[] = [];
  let kept = 0; // the end of the last body that was cut out
  const lines = new Lines(text);
  for (let brace = text.indexOf("{"); brace >= 0; brace = text.indexOf("{", brace + 1)) {
    if (!endsLine(text, brace)) continue;
    if (!opensBody(text, lines.startOf(brace), brace)) continue;
    const end = text.indexOf("\n}", brace);
    if (end < 0) break;
    if (end > brace + 1 && isWhole(text.slice(brace, end))) {
      addAnnotations(text.slice(kept, brace), kept, cuts);
      cuts.push(brace + 1, end);
      kept = end;
    }
    brace = end; // even if the body is not cut out, because searching it again could take quadratic time
  }
  addAnnotations(text.slice(kept), kept, cuts);
  return cuts;
}

function endsLine(text: string, brace: number): boolean {
  let next = brace + 1;
  while (isBlank(text.charCodeAt(next))) next++;
  const after = text.charCodeAt(next);
  return after === NEWLINE || after === SLASH; // a slash begins a comment
}

/**
 * Finds the starts of lines. REQUIRES: the positions that are passed ascend, so that each line feed is searched only
 * once.
 */
class Lines {
  readonly #text: string;
  #start = 0;
  #end: number;

  constructor(text: string) {
    this.#text = text;
    this.#end = text.indexOf("\n");
  }

  startOf(at: number): number {
    while (this.#end >= 0 && this.#end < at) {
      this.#start = this.#end + 1;
      this.#end = this.#text.indexOf("\n", this.#start);
    }
    return this.#start;
  }
}

function opensBody(text: string, line: number, brace: number): boolean {
  if (line < brace && !isLetter(text.charCodeAt(line))) return false;
  const before = text[lastSolid(text, brace)];
  return before === ")" || before === "=";
}

const isBlank = (code: number) => code === SPACE || code === 9 || code === 13;
const isLetter = (code: number) => ((code | 32) - 97) >>> 0 < 26 || code === 95;

/** Returns the position of the last character before `at` that is not white space. */
function lastSolid(text: string, at: number): number {
  do at--;
  while (at >= 0 && text.charCodeAt(at) <= 32);
  return at;
}

/**
 * Returns whether a body contains only statements, so that it may be cut out. It must not contain a macro definition,
 * an #if without its #endif, or an unindented line that is not a label. An unindented definition would mean that the
 * body has ended earlier.
 */
function isWhole(body: string): boolean {
  if (UNINDENTED.test(body)) return false;
  if (!body.includes("#")) return true;
  let depth = 0;
  for (const [, word] of body.matchAll(DIRECTIVE)) {
    if (word === "if") depth++;
    else if (word === "define" || depth === 0) return false;
    else if (word === "endif") depth--;
  }
  return depth === 0;
}

/** Annotations that do not begin with underscores. */
const BARE = ["notrace", "noinline"];

/**
 * Words that begin with two underscores but are not annotations. They are types, specifiers that the grammar knows,
 * and names in the C library.
 */
const KNOWN = new Set(
  (
    "__attribute __asm __volatile __inline __const __restrict __typeof __signed __extension " +
    "__declspec __cdecl __stdcall __fastcall __thiscall __vectorcall __based __unaligned __try " +
    "__except __finally __leave __thread __alignof __func __wsum __be __le"
  ).split(" "),
);
/** Matches words that look like annotations but are none, such as `__u32`, `__poll_t`, `__foo__` and `__FILE`. */
const NO_ANNOTATION = /[^a-z_]|_t$|__$/;
const TAG = /\s+[A-Za-z_]\w*\s*\{/y;
const TAGS = /\b(?:struct|union|enum)$/;
const DIRECTIVES = /\b(?:define|undef|ifdef|ifndef|defined|goto|if|elif)$/;
const SPECIFIERS = /\b(?:static|extern|inline|const|volatile|typedef|unsigned|signed)$/;
const TWO_WORDS = /\s+[A-Za-z_]\w*[\s*]+[A-Za-z_]/y;

/** Adds the annotations in a part of the text to `cuts`. The part begins at `offset`. */
function addAnnotations(part: string, offset: number, cuts: number[]): void {
  const first = cuts.length;
  for (const word of BARE)
    for (let at = part.indexOf(word); at >= 0; at = part.indexOf(word, at + 1))
      if (isBare(part, at, at + word.length)) cuts.push(offset + at, offset + at + word.length);
  const hasBare = cuts.length > first;
  let end = 0;
  for (let start = part.indexOf("__"); start >= 0; start = part.indexOf("__", end)) {
    end = start + 2;
    while (isWord(part.charCodeAt(end))) end++;
    if (!isWord(part.charCodeAt(start - 1)) && isAnnotation(part, start, end))
      cuts.push(offset + start, offset + end);
  }
  if (hasBare) sortPairs(cuts, first);
}

/** Returns whether a word of BARE stands alone between two other words. */
function isBare(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(start - 1) !== SPACE || text.charCodeAt(end) !== SPACE) return false;
  return isWord(text.charCodeAt(start - 2)) && isLetter(text.charCodeAt(end + 1));
}

function sortPairs(cuts: number[], first: number): void {
  const pairs = [];
  for (let at = first; at < cuts.length; at += 2) pairs.push([cuts[at]!, cuts[at + 1]!] as const);
  pairs.sort(([a], [b]) => a - b);
  cuts.splice(first, cuts.length - first, ...pairs.flat());
}

/**
 * Returns whether a code unit is part of a word. Returns false for NaN, which charCodeAt() returns outside the text.
 */
const isWord = (code: number) => isLetter(code) || (code >= 48 && code <= 57);

function isAnnotation(text: string, start: number, end: number): boolean {
  const word = text.slice(start, end);
  if (KNOWN.has(word) || NO_ANNOTATION.test(word)) return false;
  let next = end;
  while (text.charCodeAt(next) <= SPACE) next++;
  const isName = isLetter(text.charCodeAt(next));
  const isPointer = text[next] === "*";
  const last = lastSolid(text, start);
  if (text[last] === "}") return isName || isPointer || text[next] === ";";
  return (isName || isPointer) && isRedundant(text, last, end);
}

/**
 * Returns whether the text up to `last` and the text from `end` on form a declaration without the word in between.
 */
function isRedundant(text: string, last: number, end: number): boolean {
  const before = text.slice(Math.max(0, last - 12), last + 1);
  if (TAGS.test(before)) return matchesAt(TAG, text, end);
  if (DIRECTIVES.test(before)) return false;
  if (/[\w*)]$/.test(before) && !SPECIFIERS.test(before)) return true;
  return /[\w*;/]$/.test(before) && matchesAt(TWO_WORDS, text, end);
}

function matchesAt(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = at;
  return sticky.test(text);
}
