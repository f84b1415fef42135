/**
 * Finds the ends of the smallest parts of a query, which are blanks, quoted strings, words and prefixes. The
 * functions take and return positions in the text of the query. They keep no state, never fail, and read each
 * character once.
 */

export const PREFIXES = {
  file: "file",
  f: "file",
  repo: "repo",
  r: "repo",
  content: "content",
  c: "content",
  lang: "lang",
  sym: "sym",
  rev: "rev",
  reposet: "reposet",
  context: "context",
  archived: "archived",
  fork: "fork",
  visibility: "visibility",
} as const;

/** Prefixes that only queries of the history have. */
const HISTORY_PREFIXES = [
  "type",
  "select",
  "added",
  "removed",
  "message",
  "author",
  "committer",
  "before",
  "after",
] as const;

export type HistoryPrefix = (typeof HISTORY_PREFIXES)[number];
export type Prefix = (typeof PREFIXES)[keyof typeof PREFIXES] | HistoryPrefix;

/** Prefixes whose value is a regular expression in both dialects. */
const ALWAYS_PATTERN: ReadonlySet<Prefix> = new Set<Prefix>([
  "file",
  "repo",
  "sym",
  "author",
  "committer",
]);

/** Prefixes whose value is a term, and so is a regular expression in the regex dialect alone. */
const AS_TERM: ReadonlySet<Prefix> = new Set<Prefix>(["content", "added", "removed", "message"]);

const expressionOf = (names: readonly string[]): RegExp => new RegExp(`(${names.join("|")}):`, "y");
const PREFIX_HERE = expressionOf(Object.keys(PREFIXES));
const HISTORY_HERE = expressionOf([...Object.keys(PREFIXES), ...HISTORY_PREFIXES]);

/** Finds the prefix at a position. `isHistory` says whether the query is one of the history. */
export function prefixAt(
  text: string,
  at: number,
  isHistory = false,
): { prefix: Prefix; end: number } | undefined {
  const here = isHistory ? HISTORY_HERE : PREFIX_HERE;
  here.lastIndex = at;
  const name = here.exec(text)?.[1];
  if (name === undefined) return undefined;
  const prefix = name in PREFIXES ? PREFIXES[name as keyof typeof PREFIXES] : name;
  return { prefix: prefix as Prefix, end: here.lastIndex };
}

/**
 * Returns whether a word after this prefix is a regular expression, in which `\(` and `[(]` do not count as
 * parentheses.
 */
export function isPattern(prefix: Prefix | undefined, regex: boolean): boolean {
  return prefix === undefined || AS_TERM.has(prefix) ? regex : ALWAYS_PATTERN.has(prefix);
}

/** Returns whether there is a blank at this position. False at the end of the text. */
export function isBlank(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 32 || unit === 9 || unit === 10;
}

export function skipBlanks(text: string, at: number): number {
  while (isBlank(text, at)) at++;
  return at;
}

/**
 * Returns the end of the quoted string that opens at `at`, or undefined if the string is never closed. A string may
 * contain newlines. Together, all calls of one pass over a query take linear time, because at most one call returns
 * undefined. Any later quote would have closed that string.
 * REQUIRES: text[at] is a quote.
 */
export function endOfQuoted(text: string, at: number): number | undefined {
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === '"') return i + 1;
    if (char === "\\" && (text[i + 1] === '"' || text[i + 1] === "\\")) i++;
  }
  return undefined;
}

/** Returns the text between the quotes, with `\"` and `\\` unescaped. */
export function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(["\\])/g, "$1");
}

export interface WordRules {
  /** Whether the word is a regular expression, in which escapes, classes and `\Q…\E` hide parentheses. */
  readonly pattern: boolean;
  /** Whether a group is open. If so, a `)` that matches no `(` of the word closes the group. */
  readonly inGroup: boolean;
}

/**
 * Returns the end of the word that begins at `at`. This is the position of a blank, the position of the `)` that
 * closes the open group, or the end of the text.
 */
export function endOfWord(text: string, at: number, rules: WordRules): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (isBlank(text, i)) return i;
    const char = text[i];
    if (char === "(") depth++;
    else if (char === ")") {
      if (depth === 0 && rules.inGroup) return i;
      if (depth > 0) depth--;
    } else if (rules.pattern && char === "\\") i = endOfEscape(text, i) - 1;
    else if (rules.pattern && char === "[") i = endOfClass(text, i) - 1;
  }
  return text.length;
}

/**
 * Returns the position after an escape, which is `\x` or `\Q…\E`. If a blank comes first, returns the position of the
 * blank.
 */
function endOfEscape(text: string, at: number): number {
  if (at + 1 === text.length || isBlank(text, at + 1)) return at + 1;
  if (text[at + 1] !== "Q") return at + 2;
  let i = at + 2;
  while (i < text.length && !isBlank(text, i)) {
    if (text[i] === "\\" && text[i + 1] === "E") return i + 2;
    i++;
  }
  return i;
}

/**
 * Returns the position after the `]` of a class. If a blank or the end of the text comes first, returns that position.
 * REQUIRES: text[at] is `[`.
 */
function endOfClass(text: string, at: number): number {
  let i = at + 1;
  if (text[i] === "^") i++;
  if (text[i] === "]") i++; // a `]` in the first position is a member
  while (i < text.length && !isBlank(text, i)) {
    if (text[i] === "]") return i + 1;
    if (text[i] === "\\" && i + 1 < text.length && !isBlank(text, i + 1)) i += 2;
    else i = endOfNamedClass(text, i) ?? i + 1;
  }
  return i;
}

const NAMED_CLASS = /\[:\^?[a-z]{1,10}:\]/y;

/**
 * Returns the position after the named class, such as `[:alpha:]`, that begins at `at`. Returns undefined if there is
 * none.
 */
function endOfNamedClass(text: string, at: number): number | undefined {
  NAMED_CLASS.lastIndex = at;
  return NAMED_CLASS.test(text) ? NAMED_CLASS.lastIndex : undefined;
}
