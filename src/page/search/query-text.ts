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
  return hasOuterOr(text) ? `(${text}) ${filter}` : `${text} ${filter}`;
}

/** Whether a query has an `or` outside of all parentheses. */
function hasOuterOr(query: string): boolean {
  let depth = 0;
  for (const word of wordsOf(query)) {
    if (word === "or" && depth === 0) return true;
    const outside = word.replace(/"(?:\\.|[^"\\])*"/g, "");
    for (const char of outside) depth += char === "(" ? 1 : char === ")" ? -1 : 0;
  }
  return false;
}

export function removeFilter(query: string, filter: string): string {
  const words = wordsOf(query);
  if (!words.includes(filter)) return query;
  return words.filter((word) => word !== filter).join(" ");
}

// ── facets ──

export type FacetKind = "repo" | "lang" | "folder";

/** The values of a facet to which a query is limited, and those that it excludes. */
export interface FacetValues {
  only: readonly string[];
  without: readonly string[];
}

/**
 * Returns which values of a facet a query selects and excludes, as the list of facets writes it. Several selected
 * values are alternatives in parentheses, such as `(lang:Go or lang:C)`.
 */
export function facetValuesIn(query: string, kind: FacetKind): FacetValues {
  const words = wordsOf(query);
  const valueOf = (word: string): string | undefined => facetValue(kind, word);
  const without = words.flatMap((word) =>
    word.startsWith("-") ? (valueOf(word.slice(1)) ?? []) : [],
  );
  const single = words.flatMap((word) => valueOf(word) ?? []);
  const start = words.findIndex((word) => word.startsWith("(") && valueOf(word.slice(1)));
  const length = words.slice(start).findIndex((word) => word.endsWith(")")) + 1;
  const group = words.slice(start, start + length).filter((word) => word !== "or");
  const grouped = group.flatMap((word) => valueOf(word.replace(/^\(|\)$/g, "")) ?? []);
  const isGroup = start >= 0 && grouped.length > 1 && query.includes(alternatives(kind, grouped));
  // several single filters contradict each other, so the reader has written them
  const only = isGroup ? grouped : single.length === 1 ? single : [];
  return { only, without };
}

/** Returns the value that a filter of the list of facets names. */
function facetValue(kind: FacetKind, word: string): string | undefined {
  const { before, keyword, value = "" } = filterWord(word) ?? {};
  if (before !== "" || keyword !== (kind === "folder" ? "file" : kind)) return undefined;
  const isQuoted = word.includes(':"');
  const plain = isQuoted ? value.replace(/"$/, "").replace(/\\(["\\])/g, "$1") : value;
  const found =
    kind === "lang"
      ? plain
      : unescapeExpression(kind === "repo" ? /^\^(.*)\$$/s : /^\^(.*)\/$/s, plain);
  return found !== undefined && filterFor(kind, found) === word ? found : undefined;
}

const unescapeExpression = (form: RegExp, text: string): string | undefined =>
  form.exec(text)?.[1]?.replace(/\\([\\^$.*+?()[\]{}|])/g, "$1");

/** Returns a query with other values of a facet. `before` are the values that it has. */
export function withFacetValues(
  query: string,
  kind: FacetKind,
  before: FacetValues,
  { only, without }: FacetValues,
): string {
  const excluded = before.without.map((value) => `-${filterFor(kind, value)}`);
  const old = [...(before.only.length > 0 ? [alternatives(kind, before.only)] : []), ...excluded];
  const stripped = old.reduce(removeText, query);
  const added = [
    ...(only.length > 0 ? [alternatives(kind, only)] : []),
    ...without.map((value) => `-${filterFor(kind, value)}`),
  ];
  return added.reduce(addFilter, stripped);
}

function alternatives(kind: FacetKind, values: readonly string[]): string {
  const filters = values.map((value) => filterFor(kind, value));
  return filters.length === 1 ? filters[0]! : `(${filters.join(" or ")})`;
}

function removeText(query: string, part: string): string {
  const at = query.indexOf(part);
  if (at < 0) return query;
  return `${query.slice(0, at).trimEnd()} ${query.slice(at + part.length).trimStart()}`.trim();
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
