/**
 * The files of an answer: shown by the threads in groups, and made results on the caller's thread as
 * each group comes. What crosses the threads is dropped at once: a hundred thousand packed files that
 * wait for each other would be copied by the collector of young objects in pauses of 10 ms.
 */

import type { Pool } from "../../threads/pool.ts";
import { throwIfAborted } from "./aborted.ts";
import type { Attempt } from "./attempt.ts";
import type { Lost } from "./late-files.ts";
import type { FileToShow } from "./merge-ranked.ts";
import type { ShowInput, ShownFile, ShowOutput, ShowResult } from "../messages/messages.ts";
import { answerBytes, branchBytes } from "../messages/answer-size.ts";
import type { FileResult } from "../messages/response.ts";
import { groupFiles, showInput } from "./show-groups.ts";

/** Or a search with many groups of files would wait behind all the others, once a group. */
const SHOWING = { lane: "search", isUrgent: true } as const;

export type Presenter = (segment: number, file: number, shown: ShownFile) => Promise<FileResult>;

export interface Showing {
  readonly pool: Pool;
  readonly present: Presenter;
}

/** How far to go in one step. */
export interface Step {
  /** Begins no more groups once files of so many bytes were shown. */
  readonly bytes: number;
  /** Goes on where a segment is gone: some of the answer has left. */
  readonly isLate: boolean;
}

/** Files that are shown in order, as many at a time as are asked for, until the answer is full. */
export class FilesToShow {
  readonly #files: readonly FileToShow[];
  readonly #showing: Showing;
  readonly #maxBytes: number;
  readonly #groups: Iterator<FileToShow[], void>;
  #bytes = 0;
  #isOver = false;
  #isCut = false;
  /** How many files were come to, and the ranges of the last one. */
  #reached = 0;
  #lastRanges = 0;
  /** By position: segments whose files cannot be shown. */
  readonly lost: Lost = new Map();
  readonly disagreements: string[] = [];
  matches = 0;
  contentBytesLoaded = 0;

  constructor({ understood, options }: Attempt, files: readonly FileToShow[], showing: Showing) {
    this.#files = files;
    this.#showing = showing;
    this.#maxBytes = options.maxBytes ?? Infinity;
    this.#groups = groupFiles(files, understood.request);
  }

  /** Whether no file follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Only of an answer that is full: how many of the files it has come to, and the ranges of the last one. */
  get cut(): { readonly files: number; readonly ranges: number } | undefined {
    if (!this.#isCut && this.#reached === this.#files.length) return undefined;
    return { files: this.#reached, ranges: this.#lastRanges };
  }

  /** The next groups, without files that are damaged and those for which the answer has no room. undefined: a segment is gone. */
  async more(attempt: Attempt, { bytes, isLate }: Step): Promise<FileResult[][] | undefined> {
    const done: Group[] = [];
    const end = this.#bytes + bytes;
    let [isGone, begun] = [false, 0];
    // all lanes take from one generator
    const lane = async () => {
      while (!isGone && this.#bytes < end) {
        throwIfAborted(attempt.options.signal);
        const group = attempt.control.isFull ? undefined : this.#next();
        if (!group) break;
        const position = begun++;
        const input = showInput(group, attempt, attempt.control);
        const result = await this.#showing.pool.run<ShowResult>("search.show", input, SHOWING);
        if (result === "gone" && !isLate) isGone = true;
        else done[position] = await this.#present(attempt, { group, input, result });
      }
    };
    await Promise.all(Array.from({ length: this.#showing.pool.lanes }, lane));
    this.#isOver ||= attempt.control.isFull;
    return isGone ? undefined : this.#upToTheCut(done);
  }

  #next(): FileToShow[] | undefined {
    const next = this.#groups.next();
    this.#isOver ||= next.done === true;
    return next.done ? undefined : next.value;
  }

  /** An answer that is full ends with one file, and has all before it: what other lanes have shown of later groups is dropped. */
  #upToTheCut(done: readonly Group[]): FileResult[][] {
    const cut = done.findIndex(({ isCut }) => isCut);
    const kept = cut < 0 ? done : done.slice(0, cut + 1);
    if (cut >= 0) this.#isCut = this.#isOver = true;
    for (const { matches, reached, lastRanges } of kept) {
      this.matches += matches;
      this.#reached += reached;
      if (reached > 0) this.#lastRanges = lastRanges;
    }
    return kept.map(({ files }) => files);
  }

  async #present(
    { control }: Attempt,
    {
      group,
      input,
      result,
    }: { group: readonly FileToShow[]; input: ShowInput; result: ShowResult },
  ): Promise<Group> {
    const { files } = input;
    const shown = result === "gone" ? nothingOf(files) : result;
    this.contentBytesLoaded += shown.contentBytesLoaded;
    this.disagreements.push(...shown.disagreements);
    const presented: FileResult[] = [];
    let [matches, reached, lastRanges] = [0, 0, 0];
    for (const [i, file] of shown.files.entries()) {
      if (this.#bytes >= this.#maxBytes)
        return { files: presented, matches, reached, lastRanges, isCut: true };
      reached++;
      lastRanges = file?.count ?? files[i]!.most;
      if (!file) {
        this.lost.set(group[i]!.segment, result === "gone" ? "gone" : "damaged");
        continue;
      }
      matches += file.count;
      const one = await this.#showing.present(files[i]!.segment, files[i]!.file, file);
      const branches = branchBytes(one.branches ?? []);
      control.takeRoom(branches);
      this.#bytes += answerBytes(file) + branches;
      presented.push(one);
    }
    const isShort = lastRanges < (files[reached - 1]?.most ?? 0);
    const isCut = shown.files.length < files.length || (this.#bytes >= this.#maxBytes && isShort);
    return { files: presented, matches, reached, lastRanges, isCut };
  }
}

interface Group {
  readonly files: FileResult[];
  readonly matches: number;
  /** How many of its files were come to, damaged ones among them, and the ranges of the last one. */
  readonly reached: number;
  readonly lastRanges: number;
  /** Whether its last files are missing: the answer is full. */
  readonly isCut: boolean;
}

const nothingOf = (files: ShowInput["files"]): ShowOutput => ({
  files: files.map(() => undefined),
  contentBytesLoaded: 0,
  disagreements: [],
});
