/**
 * Shows the files of an answer, which means to produce the lines of each file that the answer contains. Threads show
 * the files in groups, and send each group in a packed form. As soon as a group arrives, the calling thread converts
 * it to results and drops the packed form. If the calling thread waited until it had a hundred thousand packed files,
 * the garbage collector would copy them in pauses of 10 ms.
 */

import type { Pool } from "../../threads/pool.ts";
import { throwIfAborted } from "../../base/abort.ts";
import type { Attempt } from "./attempt.ts";
import type { Lost } from "./late-files.ts";
import type { FileToShow } from "./merge-ranked.ts";
import type { Control } from "../messages/control.ts";
import type {
  ShowInput,
  ShownAhead,
  ShownFile,
  ShowOutput,
  ShowResult,
} from "../messages/messages.ts";
import { answerBytes, branchBytes } from "../messages/answer-size.ts";
import type { FileResult } from "../messages/response.ts";
import { fairShare, groupFiles, showInput } from "./show-groups.ts";

/**
 * The options of the tasks that show files. The tasks are urgent, because otherwise each group of a large answer
 * would wait for all other searches.
 */
const SHOWING = { lane: "search", isUrgent: true } as const;

export type Presenter = (segment: number, file: number, shown: ShownFile) => Promise<FileResult>;

export interface Showing {
  readonly pool: Pool;
  readonly present: Presenter;
  /** Files that threads have already shown. */
  readonly ahead?: readonly ShownAhead[];
}

/** The limits of one step, in which a part of the files is shown. */
export interface Step {
  /** The number of bytes after which a step begins no more groups of files. */
  readonly bytes: number;
  /**
   * Whether a part of the answer has already been delivered. If so, the step continues even if a segment has been
   * merged away.
   */
  readonly isLate: boolean;
}

/** The limits of a step that shows all files. */
export const ALL: Step = { bytes: Infinity, isLate: false };

/** Shows files in order, step by step, until the answer is full or the time-out has passed. */
export class FilesToShow {
  readonly #files: readonly FileToShow[];
  readonly #showing: Showing;
  readonly #ahead: ReadonlyMap<string, ShownAhead>;
  readonly #maxBytes: number;
  readonly #groups: Iterator<FileToShow[], void>;
  #bytes = 0;
  #isOver = false;
  #isCut = false;
  /** The number of files processed so far. */
  #reached = 0;
  #lastRanges = 0;
  /** The positions of the segments whose files cannot be shown, each with the reason. */
  readonly lost: Lost = new Map();
  readonly disagreements: string[] = [];
  matches = 0;
  contentBytesLoaded = 0;

  constructor({ understood, options }: Attempt, files: readonly FileToShow[], showing: Showing) {
    this.#files = files;
    this.#ahead = aheadByFile(showing.ahead ?? []);
    this.#showing = showing;
    this.#maxBytes = options.maxBytes ?? Infinity;
    const share = fairShare(files.length, showing.pool.lanes);
    this.#groups = groupFiles(files, understood.request, share);
  }

  /** Whether the answer has ended. If so, more() shows no further files. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * The point at which the answer ended, or undefined if it did not end early. `files` is the number of files
   * processed. `ranges` is how many ranges of the last of these files were shown.
   */
  get cut(): { readonly files: number; readonly ranges: number } | undefined {
    if (!this.#isCut && this.#reached === this.#files.length) return undefined;
    return { files: this.#reached, ranges: this.#lastRanges };
  }

  /**
   * Shows the next groups. Leaves out damaged files and those that no longer fit into the answer. Resolves to
   * undefined if a segment has been merged away, unless `isLate` is true.
   */
  async more(attempt: Attempt, { bytes, isLate }: Step): Promise<FileResult[][] | undefined> {
    const done: Group[] = [];
    const end = this.#bytes + bytes;
    let [isGone, begun] = [false, 0];
    const { control } = attempt;
    // The first group is shown even after the time-out, so that every page makes progress. If a part of the answer
    // has already been delivered, the time-out no longer ends it.
    const isOver = () => control.isFull || (!isLate && begun > 0 && control.hasEnded);
    // several calls of this function run at the same time, and take their groups from the same generator
    const lane = async () => {
      while (!isGone && this.#bytes < end) {
        throwIfAborted(attempt.options.signal, "search");
        const group = isOver() ? undefined : this.#next();
        if (!group) break;
        const position = begun++;
        const input = showInput(group, attempt, control);
        const result =
          this.#shownAhead(group, control) ??
          (await this.#showing.pool.run<ShowResult>("search.show", input, SHOWING));
        if (result === "gone" && !isLate) isGone = true;
        else done[position] = await this.#present(attempt, { group, input, result });
      }
    };
    await Promise.all(Array.from({ length: this.#showing.pool.lanes }, lane));
    this.#isOver ||= isOver();
    return isGone ? undefined : this.#upToTheCut(done);
  }

  /**
   * Returns a group that threads have already shown, in the form of a thread's answer. Returns undefined if a file of
   * the group has not been shown, or has been shown with other limits, or if the answer may become full.
   */
  #shownAhead(group: readonly FileToShow[], control: Control): ShowOutput | undefined {
    const files: ShownFile[] = [];
    const disagreements: string[] = [];
    let [contentBytesLoaded, bytes] = [0, 0];
    for (const { segment, file, skip, count } of group) {
      const one = this.#ahead.get(keyOf(segment, file));
      if (!one || skip > 0 || one.most !== count) return undefined;
      files.push(one.shown);
      disagreements.push(...one.disagreements);
      contentBytesLoaded += one.contentBytesLoaded;
      bytes += answerBytes(one.shown) + LEAST_ROOM * count;
    }
    if (control.room < bytes) return undefined;
    for (const file of files) control.takeRoom(answerBytes(file));
    return { files, contentBytesLoaded, disagreements };
  }

  #next(): FileToShow[] | undefined {
    const next = this.#groups.next();
    this.#isOver ||= next.done === true;
    return next.done ? undefined : next.value;
  }

  /**
   * Drops the groups after the one in which the answer became full. There may be such groups, because several groups
   * are shown at the same time.
   */
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
      lastRanges = file?.count || files[i]!.most; // a file of which no range is shown counts as done, too
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

/**
 * The number of bytes per range that must remain free in the answer after the files. With this room, no file can be
 * cut. See rangesWithRoom().
 */
const LEAST_ROOM = 1024;

const keyOf = (position: number, file: number): string => `${position}/${file}`;

const aheadByFile = (ahead: readonly ShownAhead[]): Map<string, ShownAhead> =>
  new Map(ahead.map((one) => [keyOf(one.position, one.file), one]));

interface Group {
  readonly files: FileResult[];
  readonly matches: number;
  /** The number of the group's files that were processed, including damaged ones. */
  readonly reached: number;
  readonly lastRanges: number;
  /** Whether the group's last files are missing because the answer is full. */
  readonly isCut: boolean;
}

const nothingOf = (files: ShowInput["files"]): ShowOutput => ({
  files: files.map(() => undefined),
  contentBytesLoaded: 0,
  disagreements: [],
});
