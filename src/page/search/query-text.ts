/** Changes the text of a query by adding and removing filters. Also finds the word that is being typed. */

/** Quotes the value of a filter if it would otherwise be split into several words. */
export function quoteValue(value: string): string {
  return /[\s"()]/.test(value)
    ? `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
    : value;
}

/** Escapes a text for RE2. */
export const escapeExpression = (text: string): string =>
  text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Returns a filter that matches exactly this value. The filter for a folder matches everything below the folder. */
export function filterFor(kind: "repo" | "lang" | "folder" | "file", value: string): string {
  switch (kind) {
    case "repo":
      return `repo:${quoteValue(`^${escapeExpression(value)}$`)}`;
    case "lang":
      return `lang:${quoteValue(value)}`;
    case "folder":
      return `file:${quoteValue(`^${escapeExpression(value)}/`)}`;
    case "file":
      return `file:${quoteValue(`^${escapeExpression(value)}$`)}`;
  }
}

/**
 * Splits a query into words. Spaces between quotation marks do not split a word, if the first mark begins the word or
 * the value of a filter.
 */
export function wordsOf(query: string): string[] {
  return query.match(/[-(]*(?:[a-z]+:)?"(?:\\.|[^"\\])*"\)*|\S+/g) ?? [];
}

export const hasFilter = (query: string, filter: string): boolean =>
  wordsOf(query).includes(filter);

/**
 * Adds a filter to a query. A query with an `or` gets parentheses, because `or` has lower precedence than the space
 * before the filter.
 */
export function addFilter(query: string, filter: string): string {
  const text = query.trim();
  if (text === "" || hasFilter(text, filter)) return text || filter;
  return /(?:^|\s)or(?:\s|$)/.test(text) ? `(${text}) ${filter}` : `${text} ${filter}`;
}

export function removeFilter(query: string, filter: string): string {
  const words = wordsOf(query);
  if (!words.includes(filter)) return query;
  return words.filter((word) => word !== filter).join(" ");
}

/** Whether a query has a `rev:` filter. If not, it searches only the default revisions. */
export const namesRevisions = (query: string): boolean => /(?:^|[\s(-])rev:/.test(query);

/** Whether a query searches the history. */
export const isOfHistory = (query: string): boolean =>
  /(?:^|[\s(])type:(?:diff|commit)(?=[\s)]|$)/.test(query);

/** The filters that limit where a search or a question looks. */
const PLACE_FILTERS = /^[-(]*(?:f|file|r|repo|reposet|context|lang|rev|archived|fork|visibility):/;

/** Splits a question into its words and its filters. */
export function splitQuestion(question: string): { text: string; filters: string } {
  const words = wordsOf(question);
  const isFilter = (word: string): boolean => PLACE_FILTERS.test(word);
  return {
    text: words.filter((word) => !isFilter(word)).join(" "),
    filters: words.filter(isFilter).join(" "),
  };
}

/** The word that contains the caret, or ends at it. `text` is the part of the word before the caret. */
export interface Word {
  start: number;
  end: number;
  text: string;
}

export function wordAt(query: string, caret: number): Word {
  let start = 0;
  let quoted = false;
  for (let i = 0; i < caret; i++) {
    const char = query[i]!;
    if (char === '"') quoted = !quoted;
    else if (/\s/.test(char) && !quoted) start = i + 1;
  }
  const rest = /^\S*/.exec(query.slice(caret))![0];
  const end = caret + rest.length;
  return { start, end, text: query.slice(start, caret) };
}

/** A filter in a word, with the signs and parentheses before its name. */
export interface FilterWord {
  /** The signs and parentheses before the name, or ''. */
  before: string;
  keyword: string;
  value: string;
}

export function filterWord(text: string): FilterWord | undefined {
  const [, before = "", keyword, value = ""] = /^([-(]*)([a-z]+):(.*)$/s.exec(text) ?? [];
  return keyword === undefined ? undefined : { before, keyword, value: value.replace(/^"/, "") };
}
