/**
 * Rewords what the grammar of TypeScript cannot parse. It reads a signature such as `<T>(): void` as type arguments of
 * the type on the line before, if that line has no semicolon. One such place can make a whole file unreadable.
 */

const SIGNATURE = /^\s*<\s*(?:(?:const\s+)?[A-Z]\w*(?:\s+extends\b|\s*[,>=])|$)/;
const EMPTY_OR_COMMENT = /^\s*(?:$|\/\/|\/\*|\*)/;
const ENDS_A_TYPE = /[\w\]>'"})]$/;

/** Returns the text with semicolons in place of line ends before such signatures. The length stays the same. */
export function reword(path: string, text: string): string {
  if (!/\.[cm]?ts$/.test(path)) return text;
  const lines = text.split("\n");
  const ended = new Set<number>();
  for (const [i, line] of lines.entries()) {
    if (i === 0 || !SIGNATURE.test(line)) continue;
    let before = i - 1;
    while (before > 0 && EMPTY_OR_COMMENT.test(lines[before]!)) before--;
    const last = lines[before]!;
    if (ENDS_A_TYPE.test(last) && !last.includes("//")) ended.add(before);
  }
  if (ended.size === 0) return text;
  return lines
    .map((line, i) => (i === lines.length - 1 ? line : `${line}${ended.has(i) ? ";" : "\n"}`))
    .join("");
}
