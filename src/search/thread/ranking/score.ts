/**
 * Computes the score of a file, which says how much a person who searches code would want to see the file. The score is
 * an integer. It does not depend on the layout of segments or on other files. docs/ranking.md explains the table below.
 *
 * The score is computed for every matching file. So nothing here allocates, runs expressions, or reads the text again.
 */

import { FILE_FLAG } from "../../../store/format/format.ts";

export const WEIGHTS = {
  /**
   * Added for the best match in the name of a definition. The first value is for no such match, and the second for a
   * match inside the name. The third is for a match from one end of the name to a joint in it
   * (kernel/assembly/edges.ts), or of the whole name of a member. The last is for a match of the whole name.
   */
  definition: [0, 1500, 2600, 4000],
  /**
   * Added for the ends of the best match. The index is the edge rating (kernel/assembly/edges.ts), which adds up the
   * ratings of both ends. It is 0 if neither end is an edge of a word, and 4 if the match is a whole word.
   */
  edge: [0, 150, 300, 450, 900],
  /**
   * Added for the place of the searched text in the path. The first value is for a path without the text. The next
   * three are for a text in a folder's name, in the base name, and at an edge of the base name. The last is for a text
   * that is the whole base name, with or without its extension.
   */
  path: [0, 60, 250, 450, 900],
  /**
   * Added if several searched texts are close together. The full value is added if they are adjacent, and half of it if
   * `nearby` bytes are between them.
   */
  together: 400,
  nearby: 16,
  /** Added each time the number of matches grows tenfold. */
  matches: 40,
  mostMatches: 120,
  test: -600,
  vendored: -1200,
  generated: -900,
  /** Added for files in a language of prose, of data or settings, or of rules for tools; see KIND_OF_LANGUAGE. */
  prose: -500,
  data: -250,
  rules: -700,
  /** Multiplied by the rank of the file's repository, which is from 0 to 1, and added. */
  rank: 200,
} as const;

const KIND_OF_LANGUAGE: Readonly<Record<string, "prose" | "data" | "rules">> = {
  AsciiDoc: "prose",
  Markdown: "prose",
  Org: "prose",
  RDoc: "prose",
  reStructuredText: "prose",
  Text: "prose",
  Textile: "prose",
  Wikitext: "prose",
  CSV: "data",
  INI: "data",
  "Java Properties": "data",
  JSON: "data",
  SVG: "data",
  TOML: "data",
  TSV: "data",
  YAML: "data",
  EditorConfig: "rules",
  "Git Attributes": "rules",
  "Ignore List": "rules",
};

export interface FileFit {
  /**
   * The mean of atomScore() over the atoms found in the content (docs/ranking.md). If no atom is found there, this is a
   * value of WEIGHTS.path.
   */
  readonly fit: number;
  readonly count: number;
  readonly flags: number;
  /** The languageScore() of the file's language. */
  readonly language: number;
  /** The rank of the file's repository, 0 to 1. */
  readonly rank: number;
  /**
   * The number of bytes between matches of different atoms (distanceOf() in hits.ts), or -1 if there is only one atom.
   */
  readonly distance: number;
}

/** Keywords with which definitions begin, and other words that come before names. */
const GRAMMAR = new Set(
  (
    "abstract async await class const def defn defun enum export extends extern final fn fun func function impl " +
    "implements import inline int interface let macro mod module namespace new package private protected protocol " +
    "public record return sealed static struct sub template trait type typedef typename union using val var virtual void"
  ).split(" "),
);

/** Returns true if a searched text is exactly one of the words in GRAMMAR, regardless of case. */
export const isGrammarWord = (text: string): boolean => GRAMMAR.has(text.toLowerCase());

/** Returns the score of an atom in a file. The arguments are indexes into the arrays in WEIGHTS. */
export const atomScore = (edge: number, definition: number, path: number): number =>
  WEIGHTS.edge[edge]! + WEIGHTS.definition[definition]! + WEIGHTS.path[path]!;

export function languageScore(language: string): number {
  const kind = KIND_OF_LANGUAGE[language];
  return kind ? WEIGHTS[kind] : 0;
}

/**
 * Returns true if the definitions of a language count in the ranking. Headings in prose and keys in data do not count,
 * because somebody who types a name looks for something else. `sym:` finds them nevertheless.
 */
export const definesNames = (language: string): boolean => !KIND_OF_LANGUAGE[language];

export function scoreOf({ fit, count, flags, language, rank, distance }: FileFit): number {
  const matches = Math.min(WEIGHTS.mostMatches, WEIGHTS.matches * Math.log10(count));
  const together = distance < 0 ? 0 : WEIGHTS.together / (1 + distance / WEIGHTS.nearby);
  const file = penalty(flags) + language + WEIGHTS.rank * rank;
  return Math.round(fit + matches + together + file);
}

function penalty(flags: number): number {
  return (
    (flags & FILE_FLAG.TEST ? WEIGHTS.test : 0) +
    (flags & FILE_FLAG.VENDORED ? WEIGHTS.vendored : 0) +
    (flags & FILE_FLAG.GENERATED ? WEIGHTS.generated : 0)
  );
}

/** Returns how well a searched text fits a path, as an index into WEIGHTS.path. REQUIRES: both are folded. */
export function pathFit(path: string, text: string): number {
  const base = path.lastIndexOf("/") + 1;
  const dot = path.indexOf(".", base + 1);
  const end = dot < 0 ? path.length : dot;
  const at = path.lastIndexOf(text, Math.max(base, end - text.length));
  if (at < base) {
    const anywhere = path.lastIndexOf(text);
    return anywhere < 0 ? 0 : anywhere < base ? 1 : 2;
  }
  return fitInBase({ base, end, length: path.length }, at, at + text.length);
}

/**
 * Returns how well the ranges (start, end) of an expression fit a path, as an index into WEIGHTS.path. The range that
 * fits best decides.
 */
export function bestPathFit(path: Uint8Array, pairs: Uint32Array): number {
  const base = path.lastIndexOf(SLASH) + 1;
  const dot = path.indexOf(DOT, base + 1);
  const end = dot < 0 ? path.length : dot;
  let best = 1;
  for (let i = 0; i < pairs.length; i += 2)
    if (pairs[i]! >= base)
      best = Math.max(
        best,
        fitInBase({ base, end, length: path.length }, pairs[i]!, pairs[i + 1]!),
      );
  return best;
}

const SLASH = 47;
const DOT = 46;

/** Rates a match that begins in the base name of a path. The extension of the base name begins at `end`. */
function fitInBase(
  { base, end, length }: { base: number; end: number; length: number },
  from: number,
  to: number,
): number {
  if (from === base && (to === end || to === length)) return 4;
  return from === base || to === end ? 3 : 2;
}
