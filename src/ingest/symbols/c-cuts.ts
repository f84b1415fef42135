/**
 * What is cut from C before parsing; see cuts.ts. On Linux that is 70 % of the text.
 *
 * - Bodies of functions, and tables behind `=`: from an opening brace that ends a line which starts
 *   with it or with a letter, behind a `)` or `=`, to the first `}` at the start of a line. Not when
 *   a macro is defined in between, or when #if and #endif in between do not match.
 * - Annotations such as `__init`, because no grammar knows that they are macros: words of two
 *   underscores and small letters, where a declaration would be whole without them.
 */

import type { Cuts } from "./cuts.ts";

const BRACE_AT_END = /\{[ \t]*(?:\/[/*][^\n]*)?\r?\n/g;
const DIRECTIVE = /\n[ \t]*#[ \t]*(if|endif|else|elif|define)/g;
const UNDERSCORED = /\b__[a-z_]+\b/g;
const LETTER = /[A-Za-z_]/;

export function cCuts(bytes: Uint8Array): Cuts {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const cuts: number[] = [];
  let from = 0;
  BRACE_AT_END.lastIndex = 0;
  for (let hit = BRACE_AT_END.exec(text); hit !== null; hit = BRACE_AT_END.exec(text)) {
    const start = hit.index + 1;
    if (!opensBody(text, hit.index)) continue;
    const end = text.indexOf("\n}", hit.index);
    if (end <= start || !isWhole(text.slice(start, end))) continue;
    addAnnotations(text, from, start, cuts);
    cuts.push(start, end);
    from = end;
    BRACE_AT_END.lastIndex = end;
  }
  addAnnotations(text, from, text.length, cuts);
  return cuts;
}

function opensBody(text: string, brace: number): boolean {
  const line = text.lastIndexOf("\n", brace) + 1;
  if (line < brace && !LETTER.test(text[line]!)) return false;
  const before = text[lastSolid(text, brace)];
  return before === ")" || before === "=";
}

/** Position of the last character before `at` that is no white space. */
function lastSolid(text: string, at: number): number {
  do at--;
  while (at >= 0 && text.charCodeAt(at) <= 32);
  return at;
}

/** Whether nothing is lost with the text but statements. */
function isWhole(body: string): boolean {
  if (!body.includes("#")) return true;
  let depth = 0;
  for (const [, word] of body.matchAll(DIRECTIVE)) {
    if (word === "if") depth++;
    else if (word === "define" || depth === 0) return false;
    else if (word === "endif") depth--;
  }
  return depth === 0;
}

/** Words of this form that are types, specifiers the grammar knows, or the C library's. */
const KNOWN = new Set(
  (
    "__attribute __asm __volatile __inline __const __restrict __typeof __signed __extension " +
    "__declspec __cdecl __stdcall __fastcall __thiscall __vectorcall __based __unaligned __try " +
    "__except __finally __leave __thread __alignof __func __wsum __be __le"
  ).split(" "),
);
const TAGS = /\b(?:struct|union|enum|define|undef|ifdef|ifndef|defined|goto|if|elif)$/;
const SPECIFIERS = /\b(?:static|extern|inline|const|volatile|typedef|unsigned|signed)$/;
const TWO_WORDS = /\s+[A-Za-z_]\w*[\s*]+[A-Za-z_]/y;

function addAnnotations(text: string, from: number, to: number, cuts: number[]): void {
  if (text.indexOf("__", from) < 0) return;
  const part = text.slice(from, to);
  for (const { 0: word, index } of part.matchAll(UNDERSCORED)) {
    const end = index + word.length;
    if (!isAnnotation(part, index, end, word)) continue;
    cuts.push(from + index, from + end);
  }
}

function isAnnotation(text: string, start: number, end: number, word: string): boolean {
  if (KNOWN.has(word) || word.endsWith("_t") || word.endsWith("__")) return false;
  const next = /\S/g;
  next.lastIndex = end;
  const after = next.exec(text)?.[0] ?? "";
  const last = lastSolid(text, start);
  const before = text[last] ?? "";
  if (before === "}") return after === ";" || after === "*" || LETTER.test(after);
  if (after !== "*" && !LETTER.test(after)) return false;
  const head = text.slice(Math.max(0, last - 12), last + 1);
  if (TAGS.test(head)) return false;
  if (/[\w*)]/.test(before) && !SPECIFIERS.test(head)) return true;
  TWO_WORDS.lastIndex = end;
  return /[\w*;/]/.test(before) && TWO_WORDS.test(text);
}
