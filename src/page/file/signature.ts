/** Cuts the signature of a definition, and the comment that documents it, out of the text of its file. */

export interface Signature {
  code: string;
  /** The text of the comment, without its signs. Empty if there is none. */
  comment: string;
}

const MOST_CODE_LINES = 6;
const MOST_COMMENT_LINES = 12;
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#(?!\[)|--|"""|''')/;
/** Lines between a definition and its comment, such as decorators. */
const ATTRIBUTE = /^\s*(?:@|#\[)/;

/** Returns the signature of the definition on a line, which is numbered from 1. */
export function signatureAt(lines: readonly string[], line: number): Signature {
  const code = codeFrom(lines, line - 1);
  return { code: withoutIndent(code).join("\n"), comment: commentOf(lines, line - 1, code.length) };
}

/** Returns the lines from the definition to the end of its head, such as an opening brace. */
function codeFrom(lines: readonly string[], from: number): string[] {
  let depth = 0;
  for (let at = from; at < Math.min(lines.length, from + MOST_CODE_LINES); at++) {
    for (const char of lines[at]!) {
      if (char === "(" || char === "[") depth++;
      else if (char === ")" || char === "]") depth--;
    }
    if (depth <= 0) return lines.slice(from, at + 1);
  }
  return lines.slice(from, from + MOST_CODE_LINES);
}

function withoutIndent(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const least = Math.min(...indents, Infinity);
  return lines.map((line) => line.slice(least).trimEnd());
}

function commentOf(lines: readonly string[], at: number, length: number): string {
  let end = at;
  while (end > 0 && ATTRIBUTE.test(lines[end - 1]!)) end--;
  let from = end;
  while (from > 0 && end - from < MOST_COMMENT_LINES && COMMENT.test(lines[from - 1]!)) from--;
  const above = wordsOf(lines.slice(from, end));
  return above === "" ? docstring(lines, at + length) : above;
}

/** Returns the text between triple quotes that begins a Python function or class. */
function docstring(lines: readonly string[], from: number): string {
  if (!/^\s*(?:"""|''')/.test(lines[from] ?? "")) return "";
  const taken: string[] = [];
  for (const line of lines.slice(from, from + MOST_COMMENT_LINES)) {
    taken.push(line);
    const isEnd = taken.length > 1 || line.trim().length > 3;
    if (isEnd && /(?:"""|''')\s*$/.test(line)) break;
  }
  return wordsOf(taken);
}

function wordsOf(lines: readonly string[]): string {
  return lines
    .map((line) =>
      line
        .trim()
        .replace(/^(?:\/\*+!?|\/\/+!?|\*+\/?|#+|--+|"""|''')\s?/, "")
        .replace(/\s*(?:\*+\/|"""|''')$/, ""),
    )
    .join("\n")
    .trim();
}
