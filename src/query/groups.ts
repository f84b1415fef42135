/**
 * Finds the parentheses of a query that form groups. A `(` at which an operand may begin opens a group if a `)`
 * matches it. In the regex dialect, the text between these two parentheses must also contain a blank, or begin with a
 * prefix, a quoted string or a group. Any other `(` is a character of a word.
 *
 * One pass over the text finds the groups before the query is parsed. The pass pushes every `(` at which an operand
 * may begin onto a stack. A `(` that is still on the stack at the end opens no group. No group contains such a `(`,
 * because all parentheses around an unmatched one are unmatched as well. So within a group, the parser reads the text
 * exactly as this pass did.
 */

import { endOfQuoted, endOfWord, isBlank, isPattern, prefixAt, skipBlanks } from "./lexemes.ts";

interface Opener {
  readonly at: number;
  /** Whether only blanks have followed the `(` so far. */
  empty: boolean;
  /** Whether the text after the `(` makes it a group, as far as it has been read. */
  group: boolean;
}

/** Returns the positions of all `(` that open groups. */
export function findGroups(text: string, regex: boolean, isHistory = false): ReadonlySet<number> {
  const groups = new Set<number>();
  if (!text.includes("(")) return groups;
  const open: Opener[] = [];
  for (let at = 0; at < text.length;) {
    const outer = open.at(-1);
    if (isBlank(text, at)) {
      if (outer !== undefined) outer.group = true;
      at = skipBlanks(text, at);
    } else if (text[at] === "(") {
      open.push({ at, empty: true, group: !regex });
      at++;
    } else if (text[at] === ")" && outer !== undefined) {
      at = close(groups, open, at, text);
    } else {
      at = endOfOperand(text, at, { regex, isHistory, outer });
    }
  }
  return groups;
}

/**
 * Pops the innermost opener, which is matched by the `)` at `at`. If these two parentheses form a group, returns the
 * position after the `)`. Otherwise, returns the end of the word that contains both.
 */
function close(groups: Set<number>, open: Opener[], at: number, text: string): number {
  const { at: start, group } = open.pop()!;
  const outer = open.at(-1);
  if (group) groups.add(start);
  if (outer !== undefined) {
    outer.group ||= group;
    outer.empty = false;
  }
  return group ? at + 1 : endOfWord(text, at + 1, { pattern: true, inGroup: outer !== undefined });
}

/**
 * Returns the end of the element that begins here: a `-` before a group, a prefix with its value, a quoted string or
 * a word.
 */
function endOfOperand(
  text: string,
  at: number,
  {
    regex,
    isHistory,
    outer,
  }: { readonly regex: boolean; readonly isHistory: boolean; readonly outer: Opener | undefined },
): number {
  const start = text[at] === "-" ? skipBlanks(text, at + 1) : at;
  if (text[start] === "(") return at + 1;
  const prefix = prefixAt(text, start, isHistory);
  const begins = prefix === undefined ? at : prefix.end;
  const quoted = text[begins] === '"' ? endOfQuoted(text, begins) : undefined;
  if (outer !== undefined) {
    if (outer.empty && (prefix ?? quoted) !== undefined) outer.group = true;
    outer.empty = false;
  }
  const rules = { pattern: isPattern(prefix?.prefix, regex), inGroup: outer !== undefined };
  return quoted ?? endOfWord(text, begins, rules);
}
