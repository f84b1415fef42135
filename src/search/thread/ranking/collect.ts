/**
 * Keeps as many of the best files as the response may need. The response takes files in rank order until it has
 * `matches` ranges. So a file is dropped once the files that rank before it have that many ranges.
 */

export interface RankedFile {
  readonly score: number;
  /** The index of the file's segment in the request, and the file's number in that segment. */
  readonly segment: number;
  readonly file: number;
  readonly count: number;
}

/** Compares two files with equal scores. Returns a negative number if `a` ranks before `b`. */
export type TieBreak = (a: RankedFile, b: RankedFile) => number;

const LEAST_KEPT = 1024;
/** The maximum number of files that #leastScore() handles. A score (i32) times this number is an exact integer. */
const MOST_FILES = 2 ** 21;

export class Collector {
  readonly #matches: number;
  readonly #leastFiles: number;
  readonly #tieBreak: TieBreak;
  #files: RankedFile[] = [];
  /** Files with a lower score can no longer be among the best. */
  threshold = -Infinity;
  #pruneAt = 2 * LEAST_KEPT;

  /** Keeps the best files that together have at least `matches` ranges, and at least `files` files. */
  constructor(
    { matches, files }: { readonly matches: number; readonly files: number },
    tieBreak: TieBreak,
  ) {
    this.#matches = matches;
    this.#leastFiles = files;
    this.#tieBreak = tieBreak;
  }

  add(file: RankedFile): void {
    if (this.#matches === 0) return;
    this.#files.push(file);
    if (this.#files.length >= this.#pruneAt) this.#prune();
  }

  /** Returns the best files in rank order. */
  best(): RankedFile[] {
    this.#prune();
    return this.#files;
  }

  #prune(): void {
    const least = this.#leastScore();
    this.#files = this.#files.filter(({ score }) => score >= least);
    this.#files.sort((a, b) => b.score - a.score || this.#tieBreak(a, b));
    let ranges = 0;
    const end = this.#files.findIndex(({ count }, i) => {
      if (ranges >= this.#matches && i >= this.#leastFiles) return true;
      ranges += count;
      return false;
    });
    if (end >= 0) {
      this.#files.length = end;
      this.threshold = this.#files.at(-1)?.score ?? Infinity;
    }
    this.#pruneAt = Math.max(2 * this.#files.length, 2 * LEAST_KEPT);
  }

  /**
   * Returns a score such that the files with at least this score are enough. This takes a tenth of the time of
   * comparing all files, because numbers are sorted fast and ties need not be broken.
   */
  #leastScore(): number {
    const files = this.#files;
    if (files.length > MOST_FILES) return -Infinity;
    const order = new Float64Array(files.length);
    for (let i = 0; i < order.length; i++) order[i] = MOST_FILES * files[i]!.score + i;
    order.sort();
    let ranges = 0;
    for (let i = files.length - 1, kept = 0; i >= 0; i--, kept++) {
      const file = order[i]! - MOST_FILES * Math.floor(order[i]! / MOST_FILES);
      const { score, count } = files[file]!;
      ranges += count;
      if (ranges >= this.#matches && kept + 1 >= this.#leastFiles) return score;
    }
    return -Infinity;
  }
}
