/**
 * Keeps as many of the best files as the response may need. The response takes files in rank order until it has
 * `matches` ranges. So a file is dropped once the files that rank before it have that many ranges.
 */

export interface RankedFile {
  /** An integer of 32 bits. */
  readonly score: number;
  /** The index of the file's segment in the request, and the file's number in that segment. */
  readonly segment: number;
  readonly file: number;
  readonly count: number;
}

/** Compares two files with equal scores. Returns a negative number if `a` ranks before `b`. */
export type TieBreak = (a: RankedFile, b: RankedFile) => number;

const LEAST_KEPT = 1024;

export class Collector {
  readonly #matches: number;
  readonly #leastFiles: number;
  readonly #tieBreak: TieBreak;
  #files: RankedFile[] = [];
  /** Files with a lower score can no longer be among the best. */
  threshold = -Infinity;
  #pruneAt = 2 * LEAST_KEPT;
  /** Whether a file without ranges was added. */
  #isAnyEmpty = false;

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
    this.#isAnyEmpty ||= file.count === 0;
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
   * Returns a score such that the files with at least this score are enough. Sorting the scores alone takes a tenth of
   * the time of comparing the files.
   */
  #leastScore(): number {
    const enough = Math.max(this.#matches, this.#leastFiles); // enough files, because each file has a range
    if (this.#isAnyEmpty || this.#files.length <= enough) return -Infinity;
    const scores = new Int32Array(this.#files.length);
    for (let i = 0; i < scores.length; i++) scores[i] = this.#files[i]!.score;
    return scores.sort()[scores.length - enough]!;
  }
}
