/** Counts and scores hits: what is counted of a matching file, and how it ranks. */

import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { FILE_FLAG } from "../../../store/format/format.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { pathOf, type PathTable } from "../../../store/segments/segment-tables.ts";
import { shownBy, type ShownAtoms } from "../planning/shown-atoms.ts";
import { contentRanges, pairsOf, pathRanges } from "../scanning/file-ranges.ts";
import { EXACT } from "../scanning/definitions.ts";
import { PathFits } from "./path-fits.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import type { Found } from "../reading/literal-scanner.ts";
import {
  atomScore,
  bestPathFit,
  definesNames,
  isGrammarWord,
  languageScore,
  scoreOf,
  WEIGHTS,
} from "./score.ts";
import type { Hit } from "../scanning/segment-scan.ts";
import type { SearchTools } from "../reading/thread-tools.ts";

export interface RaterOptions {
  readonly query: PreparedQuery;
  readonly tools: SearchTools;
  readonly reader: SegmentReader;
  readonly snapshot: Snapshot;
  /** The number of files that may match. */
  readonly candidates: number;
  /** Returns the rank of the repository that a file belongs to, 0 to 1. */
  readonly rankOf: (file: number) => number;
}

/** Rates the hits of a segment one after another. */
export class HitRater {
  /** The ranges of the last rated hit in the content, or without any those in its path. */
  count = 0;
  score = 0;
  readonly #options: RaterOptions;
  readonly #paths: PathTable;
  readonly #pathFits: PathFits;
  /** Scores by position in the segment's languages. */
  readonly #languageScores: Int16Array;
  readonly #definesNames: Uint8Array;
  /** How the ranges in the path of the last rated hit fit it. */
  #pathScore = 0;
  /**
   * By atom, whether it is a word of grammar, which says what is wanted of the other terms and is no name
   * itself.
   */
  readonly #isGrammar: Uint8Array;
  /** What every hit shows, if that does not depend on the file. */
  readonly #always: ShownAtoms | undefined;

  constructor(options: RaterOptions) {
    this.#options = options;
    this.#paths = options.reader.paths(options.snapshot);
    this.#pathFits = new PathFits(options.query, this.#paths, options.candidates, options.tools);
    const { languages } = options.reader.header;
    this.#languageScores = Int16Array.from(languages, languageScore);
    this.#definesNames = Uint8Array.from(languages, (language) => (definesNames(language) ? 1 : 0));
    const { atoms, single } = options.query;
    this.#isGrammar = Uint8Array.from(atoms, (atom) =>
      atom.kind === "literal" && isGrammarWord(atom.placed.literal.text) ? 1 : 0,
    );
    if (single !== undefined) this.#always = { content: [single], paths: [] };
  }

  rate(hit: Hit): void {
    const { query, reader, rankOf } = this.#options;
    const shown = hit.index >= 0 ? (this.#always ?? shownBy(query, hit)) : shownBy(query, hit);
    const names = { fit: 0, atoms: 0 };
    const grammar = { fit: 0, atoms: 0 };
    if (hit.index >= 0)
      for (const atom of shown.content) {
        const found = hit.found[atom]!;
        if (found.counts[hit.index] === 0) continue;
        const sum = this.#isGrammar[atom] ? grammar : names;
        sum.atoms++;
        sum.fit += this.#fitOf(atom, found, hit);
      }
    const atoms = names.atoms + grammar.atoms;
    const rated = names.atoms > 0 ? names : grammar;
    this.count = this.#countContent(hit, shown, atoms) || this.#countPath(hit, shown);
    this.score = scoreOf({
      fit: atoms === 0 ? this.#pathScore : rated.fit / rated.atoms,
      count: this.count,
      flags: reader.files.flags[hit.file]!,
      language: this.#languageScores[reader.files.languages[hit.file]!]!,
      rank: rankOf(hit.file),
      distance: atoms < 2 ? -1 : distanceOf(hit, shown),
    });
  }

  #fitOf(atom: number, found: Found, { file, index }: Hit): number {
    const { files } = this.#options.reader;
    const isTest = (files.flags[file]! & FILE_FLAG.TEST) !== 0;
    const definition = found.definitions?.[index] ?? 0;
    // definitions of a test are named after what it tests
    const isCounted = this.#definesNames[files.languages[file]!] && !(isTest && definition < EXACT);
    const counted = isCounted ? definition : 0;
    return atomScore(found.edges[index]!, counted, this.#pathFits.fit(atom, file));
  }

  #countContent(hit: Hit, { content }: ShownAtoms, atoms: number): number {
    if (atoms === 0) return 0;
    if (content.length === 1) return hit.found[content[0]!]!.counts[hit.index]!;
    return contentRanges(content, hit.found, hit.index).length / 2;
  }

  #countPath(hit: Hit, { paths }: ShownAtoms): number {
    this.#pathScore = 0;
    if (paths.length === 0) return 1;
    const { query, tools } = this.#options;
    const path = pathOf(this.#paths, hit.file);
    const ranges = pathRanges(path, paths, { query, tools });
    this.#pathScore = WEIGHTS.path[bestPathFit(path, ranges)]!;
    return ranges.length / 2;
  }
}

/**
 * Returns the smallest distance in bytes between matches of the first atom and of each other one; of
 * several, the greatest.
 */
function distanceOf(hit: Hit, { content }: ShownAtoms): number {
  const holding = content.filter((atom) => hit.found[atom]!.counts[hit.index]! > 0);
  const [first, ...others] = holding.map((atom) => pairsOf(hit.found[atom]!, hit.index));
  return Math.max(...others.map((other) => gapBetween(first!, other)));
}

function gapBetween(a: Uint32Array, b: Uint32Array): number {
  let gap = Infinity;
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i]! < b[j]!) {
      gap = Math.min(gap, Math.max(0, b[j]! - a[i + 1]!));
      i += 2;
    } else {
      gap = Math.min(gap, Math.max(0, a[i]! - b[j + 1]!));
      j += 2;
    }
  }
  return gap;
}
