/** Counts and scores hits. A hit is a matching file. */

import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { FILE_FLAG } from "../../../store/format/format.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { pathOf, type PathTable } from "../../../store/segments/segment-tables.ts";
import { shownBy, type ShownAtoms } from "../planning/shown-atoms.ts";
import { mergeInSlices, pathRanges, RANGES_AT_ONCE, shownLists } from "../scanning/file-ranges.ts";
import { gapBetween, mergeRanges } from "../scanning/ranges.ts";
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

/**
 * The number of ranges of a term that are compared with those of another term between two checks of the clock. This
 * takes 3 ms.
 */
const GAPS_AT_ONCE = 2 ** 15;

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
  /**
   * The number of ranges in the content of the hit that was rated last. If there are none, the number of ranges in its
   * path.
   */
  count = 0;
  score = 0;
  readonly #options: RaterOptions;
  readonly #paths: PathTable;
  readonly #pathFits: PathFits;
  /** The languageScore() of each of the segment's languages. */
  readonly #languageScores: Int16Array;
  readonly #definesNames: Uint8Array;
  /** The value in WEIGHTS.path for the ranges in the path of the hit that was rated last. */
  #pathScore = 0;
  /**
   * For each atom, 1 if it is a keyword such as `class`, otherwise 0. A keyword says what kind of definition the other
   * terms name.
   */
  readonly #isGrammar: Uint8Array;
  /**
   * The atoms whose ranges are shown for every hit in content. Set only if a single content atom decides whether a file
   * matches.
   */
  readonly #always: ShownAtoms | undefined;

  /**
   * Creates a rater. Searches the paths of the segment for the query's terms, and yields to the event loop between
   * terms.
   */
  static async of(options: RaterOptions): Promise<HitRater> {
    const { query, reader, snapshot, candidates, tools } = options;
    return new HitRater(
      options,
      await PathFits.of(query, reader.paths(snapshot), candidates, tools),
    );
  }

  private constructor(options: RaterOptions, pathFits: PathFits) {
    this.#options = options;
    this.#paths = options.reader.paths(options.snapshot);
    this.#pathFits = pathFits;
    const { languages } = options.reader.header;
    this.#languageScores = Int16Array.from(languages, languageScore);
    this.#definesNames = Uint8Array.from(languages, (language) => (definesNames(language) ? 1 : 0));
    const { atoms, single } = options.query;
    this.#isGrammar = Uint8Array.from(atoms, (atom) =>
      atom.kind === "literal" && isGrammarWord(atom.placed.literal.text) ? 1 : 0,
    );
    if (single !== undefined) this.#always = { content: [single], paths: [] };
  }

  /**
   * Rates a hit. Normally returns undefined. If the file has so many ranges that rating takes long, returns a promise
   * instead. The promise resolves to true if the hit was rated, and to false if the search was stopped.
   * REQUIRES: the hit does not change until the promise resolves.
   */
  rate(hit: Hit): Promise<boolean> | undefined {
    const { query } = this.#options;
    const shown = hit.index >= 0 ? (this.#always ?? shownBy(query, hit)) : shownBy(query, hit);
    // these are numbers, not objects, because a frequent word has a hundred thousand hits
    let [names, nameFit, keywords, keywordFit] = [0, 0, 0, 0];
    if (hit.index >= 0)
      for (const atom of shown.content) {
        const found = hit.found[atom]!;
        if (found.counts[hit.index] === 0) continue;
        const fit = this.#fitOf(atom, found, hit);
        if (this.#isGrammar[atom]) {
          keywords++;
          keywordFit += fit;
        } else {
          names++;
          nameFit += fit;
        }
      }
    if (names + keywords === 0)
      return this.#finish(hit, this.#countPath(hit, shown), this.#pathScore);
    const fit = names > 0 ? nameFit / names : keywordFit / keywords;
    if (shown.content.length === 1)
      return this.#finish(hit, hit.found[shown.content[0]!]!.counts[hit.index]!, fit);
    const lists = shownLists(shown.content, hit.found, hit.index);
    if (lists.reduce((sum, { length }) => sum + length, 0) > 2 * RANGES_AT_ONCE)
      return this.#rateLong(hit, lists, fit);
    return this.#finish(hit, mergeRanges(lists).length / 2, fit, distanceOf(lists));
  }

  /** Sets the result. `distance` is -1 if the hit has matches of only one atom. */
  #finish(hit: Hit, count: number, fit: number, distance = -1): undefined {
    const { reader, rankOf } = this.#options;
    const { flags, languages } = reader.files;
    this.count = count;
    this.score = scoreOf({
      fit,
      count,
      flags: flags[hit.file]!,
      language: this.#languageScores[languages[hit.file]!]!,
      rank: rankOf(hit.file),
      distance,
    });
  }

  /** Rates a file with many ranges, in slices. Resolves to false if the search was stopped. */
  async #rateLong(hit: Hit, lists: readonly Uint32Array[], fit: number): Promise<boolean> {
    const { tools } = this.#options;
    const count = (await mergeInSlices(lists, tools)).length / 2;
    let distance = lists.length < 2 ? -1 : 0;
    for (const other of lists.slice(1)) {
      let gap = Infinity;
      const [few, many] = lists[0]!.length < other.length ? [lists[0]!, other] : [other, lists[0]!];
      for (let at = 0; at < few.length && gap > distance; at += 2 * GAPS_AT_ONCE) {
        if (tools.isStopped()) return false;
        gap = Math.min(gap, gapBetween(few.subarray(at, at + 2 * GAPS_AT_ONCE), many));
        await tools.pause();
      }
      distance = Math.max(distance, gap);
    }
    this.#finish(hit, count, fit, distance);
    return !tools.isStopped();
  }

  #fitOf(atom: number, found: Found, { file, index }: Hit): number {
    const { files } = this.#options.reader;
    const isTest = (files.flags[file]! & FILE_FLAG.TEST) !== 0;
    const definition = found.definitions?.[index] ?? 0;
    // definitions in a test have names similar to those that they test, so only exact matches count there
    const isCounted = this.#definesNames[files.languages[file]!] && !(isTest && definition < EXACT);
    const counted = isCounted ? definition : 0;
    return atomScore(found.edges[index]!, counted, this.#pathFits.fit(atom, file));
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
 * Returns how many bytes the matches of different atoms are apart. For each atom except the first, finds the smallest
 * distance from its matches to those of the first atom. Returns the greatest of these distances, or -1 if there is only
 * one atom.
 */
function distanceOf([first, ...others]: readonly Uint32Array[]): number {
  let distance = others.length === 0 ? -1 : 0;
  for (const other of others) distance = Math.max(distance, gapBetween(first!, other));
  return distance;
}
