/** The work of a search for one literal in a segment: the kernel searches the chunks of a plan. */

import { firstIndex } from "../../../base/binary-search.ts";
import { copyBytes } from "../../../base/copy-bytes.ts";
import * as job from "../../../kernel/job.ts";
import type { SearchImports } from "../../../kernel/search-kernel.ts";
import { corrupt } from "../../../store/format/sealed.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import type { RepositoryTable } from "../../messages/messages.ts";
import type { Totals } from "../../messages/totals.ts";
import { definesNames, languageScore, WEIGHTS } from "../ranking/score.ts";
import { NEVER, type Room } from "../reading/room.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import { STEPS, type OnFound, type SegmentWork } from "./segment-work.ts";

export interface LiteralOptions {
  readonly snapshot: Snapshot;
  readonly tools: SearchTools;
  readonly repositories: RepositoryTable;
  readonly isRanked: boolean;
}

interface Run {
  readonly room: Room;
  readonly options: LiteralOptions;
}

interface Planned extends Pick<
  SegmentWork,
  "reader" | "symbols" | "stats" | "candidates" | "steps" | "end"
> {
  /** The address of the plan. */
  readonly at: number;
}

export class LiteralWork implements SegmentWork, SearchImports {
  readonly reader: SegmentReader;
  readonly symbols: SegmentSymbols | undefined;
  readonly stats: SegmentWork["stats"];
  readonly candidates: number;
  readonly undecided = 0;
  readonly steps: number;
  readonly kind = STEPS.CHUNKS;
  readonly isShared = true;
  readonly end: () => void;
  readonly #at: number;
  readonly #run: Run;
  #found: OnFound | undefined;

  constructor(run: Run, planned: Planned) {
    this.reader = planned.reader;
    this.symbols = planned.symbols;
    this.stats = planned.stats;
    this.candidates = planned.candidates;
    this.steps = planned.steps;
    this.end = planned.end;
    this.#at = planned.at;
    this.#run = run;
  }

  step(number: number, totals: Totals, found: OnFound): void {
    const { room } = this.#run;
    this.#found = found;
    const symbolBytes = this.symbols?.bytesLoaded ?? 0;
    this.#enter();
    try {
      room.kernel.searchLiteral(room.job, this.#at, number);
    } finally {
      const considered = this.#take(job.CONSIDERED);
      totals.filesConsidered += considered;
      totals.filesLoaded += considered;
      totals.fileCount += this.#take(job.FILE_COUNT);
      totals.contentBytesLoaded +=
        this.#take(job.TEXT_BYTES) + (this.symbols?.bytesLoaded ?? 0) - symbolBytes;
      totals.totalMatchCount += room.floats[(room.job + job.MATCHES) >>> 3]!;
      room.floats[(room.job + job.MATCHES) >>> 3] = 0;
      this.takeRows();
    }
  }

  /** Makes the kernel call this object, and writes what it needs to know about the segment. */
  #enter(): void {
    const { room } = this.#run;
    if (room.calls !== this) {
      const scores = languageScores(this.reader.header.languages);
      for (let i = 0; i < scores.length; i++)
        room.ints[((room.job + job.LANGUAGES) >>> 2) + i] = scores[i]!;
      room.words[(room.job + job.RANK_END) >>> 2] = 0;
    }
    room.calls = this;
    this.#setLeastScore();
  }

  /** Returns a counter of the job, and sets it to 0. */
  #take(word: number): number {
    const { words, job: at } = this.#run.room;
    const value = words[(at + word) >>> 2]!;
    words[(at + word) >>> 2] = 0;
    return value;
  }

  #setLeastScore(): void {
    const { ints, job: at } = this.#run.room;
    const least = Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, this.#found!.threshold()));
    ints[(at + job.LEAST_SCORE) >>> 2] = least;
  }

  // ── called by the kernel ──

  readonly readBlock = NEVER.readBlock;

  readText(from: number, to: number, at: number): void {
    this.reader.copyText(this.#run.options.snapshot, from, to, this.#run.room.bytes, at);
  }

  readRun(blob: number): void {
    readRunTo(this.#run.room, this.symbols!, blob);
  }

  brokenRun(): never {
    throw corrupt("a run of symbols");
  }

  isStopped(): number {
    return Number(this.#run.options.tools.isStopped());
  }

  takeRows(): void {
    const { room, options } = this.#run;
    const count = this.#take(job.ROW_COUNT);
    if (count === 0) return;
    // the hashes are needed later to compare files. They are read now, so that damage in them is reported for this
    // segment
    this.reader.hashes(options.snapshot);
    const { ints } = room;
    const rows = room.address(job.ROWS) >>> 2;
    for (let row = rows; row < rows + 3 * count; row += 3)
      this.#found!.file(ints[row + 1]!, ints[row]!, ints[row + 2]!);
    this.#setLeastScore();
  }

  rankOf(file: number): void {
    const { words, floats, job: at } = this.#run.room;
    const { numbers, firsts, counts } = this.reader.header.repositories;
    const place = firstIndex(0, firsts.length, (i) => firsts[i]! > file) - 1;
    const rank = this.#run.options.repositories.ranks[numbers[place]!] ?? 0;
    floats[(at + job.RANK) >>> 3] = WEIGHTS.rank * rank;
    words[(at + job.RANK_FIRST) >>> 2] = firsts[place]!;
    words[(at + job.RANK_END) >>> 2] = firsts[place]! + counts[place]!;
  }
}

/** Copies the run of a blob to the room. */
export function readRunTo(room: Room, symbols: SegmentSymbols, blob: number): void {
  const run = symbols.run(blob);
  copyBytes(run, 0, room.bytes, room.address(job.RUN), run.length);
  room.words[(room.job + job.RUN_BYTES) >>> 2] = run.length;
}

/** For each language, twice what it adds to a score, plus 1 if its definitions count. */
const languageScores = (languages: readonly string[]): Int32Array =>
  Int32Array.from(languages, (one) => 2 * languageScore(one) + (definesNames(one) ? 1 : 0));
