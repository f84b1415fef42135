/**
 * Runs one thread's part of a search. The thread claims segments, plans the query in each of these segments, evaluates
 * their windows, and keeps the best files.
 */

import { hasBit } from "../../base/bitset.ts";
import { isCorrupt } from "../../store/format/sealed.ts";
import { HASH_BYTES, NO_BLOB } from "../../store/format/format.ts";
import type { SegmentReader } from "../../store/segments/segment-reader.ts";
import { pathOf, repositoryOf, type PathTable } from "../../store/segments/segment-tables.ts";
import { Collector, type RankedFile } from "./ranking/collect.ts";
import { answerBytes } from "../messages/answer-size.ts";
import { FacetCounter } from "./ranking/facet-counter.ts";
import type {
  RankedFiles,
  SearchOutput,
  SegmentPart,
  ShownFile,
  StreamPart,
} from "../messages/messages.ts";
import { inOneBuffer } from "../messages/packed-chunks.ts";
import { LiteralRun } from "./literal/literal-run.ts";
import type { SegmentWork } from "./literal/segment-work.ts";
import { planSegment } from "./planning/segment-plan.ts";
import type { SearchThread } from "./search-thread.ts";
import { showAhead } from "./show-ahead.ts";
import { showFile } from "./showing/show.ts";
import { openDefinitions } from "./reading/thread-tools.ts";
import { WindowWork } from "./window-work.ts";
import { zeroTotals, type Totals } from "../messages/totals.ts";

/**
 * If a segment has at most this many windows with candidates left, no other thread helps to scan it. A thread that
 * helps must plan the segment again, which takes as long as scanning so few windows. Other threads do not help either
 * if planning reads all text of the segment.
 */
const WORTH_HELP = 4;
/**
 * The minimum number of milliseconds between two parts of a stream. The first part is sent after the first window with
 * a hit.
 */
const POST_MS = 4;
/**
 * A part of a stream is sent once it has this many files or this many ranges. The calling thread receives such a part
 * in half a millisecond.
 */
const PART_FILES = 16;
const PART_RANGES = 512;

const NO_HASH = new Uint8Array(HASH_BYTES);

type Failure = NonNullable<SegmentPart["failure"]>;
type WritablePart = { -readonly [Name in keyof SegmentPart]: SegmentPart[Name] };

export class SearchRun {
  readonly #thread: SearchThread;
  readonly #parts: WritablePart[] = [];
  /**
   * Keeps the best files. In a stream, files are sent as they are found, so this keeps only those that were found while
   * the stream's reader was behind.
   */
  readonly #collector: Collector;
  readonly #facets: FacetCounter | undefined;
  readonly #readers = new Map<number, SegmentReader>();
  /** The plans that planAll() has made, by the positions of their segments. */
  readonly #planned = new Map<number, { readonly work: SegmentWork; readonly ms: number }>();
  readonly #beganAt = performance.timeOrigin + performance.now();
  /** The search for a literal in the kernel. Undefined if the query is another one. */
  readonly #literal: LiteralRun | undefined;
  #pending: { file: RankedFile; work: SegmentWork }[] = [];
  #postedTotals = zeroTotals();
  #lastPost = 0;

  constructor(thread: SearchThread) {
    this.#thread = thread;
    const { snapshot, tools } = thread;
    const { matches, page, facets, bestIfMany, repositories } = thread.input;
    this.#facets = facets && new FacetCounter();
    const how = { snapshot, tools, repositories, isRanked: matches > 0 };
    this.#literal = facets ? undefined : LiteralRun.begin(thread.query, how);
    const more = page?.more ?? 0;
    const kept = {
      matches: matches === 0 ? 0 : matches + more,
      files: bestIfMany === undefined ? 0 : bestIfMany + more,
    };
    this.#collector = new Collector(kept, (a, b) => this.#compare(a, b));
  }

  /**
   * Plans all segments before any of them is searched, and calls `check` with the work of each. Throws what `check`
   * throws, and the errors of damaged and deleted segments.
   */
  async planAll(check: (work: SegmentWork) => void): Promise<void> {
    for (const position of this.#thread.input.segments.keys()) {
      const began = performance.now();
      const work = await this.#plan(position);
      if (!work) return;
      check(work);
      this.#planned.set(position, { work, ms: performance.now() - began });
      await this.#thread.context.pause();
    }
  }

  async run(): Promise<SearchOutput> {
    const { control, input } = this.#thread;
    const order = this.#order();
    for (const at of order) {
      if (control.stopped) break;
      if (control.claimSegment(at)) await this.#segment(at, true);
    }
    if (input.threads > 1)
      for (const at of order) {
        if (control.stopped) break;
        if (control.stepsLeft(at) > WORTH_HELP) await this.#segment(at, false);
      }
    if (input.stream) await this.#post();
    const ahead = input.ahead ? await showAhead(this.#thread, this.#collector.best()) : [];
    const packed = inOneBuffer(ahead.map(({ shown }) => shown));
    this.#thread.context.transfer(packed.buffer);
    return {
      beganAt: this.#beganAt,
      parts: this.#parts,
      ranked: this.#columns(),
      ...(this.#facets && { facets: this.#facets.counts() }),
      ...(ahead.length > 0 && {
        ahead: ahead.map((one, i) => ({ ...one, shown: packed.files[i]! })),
      }),
    };
  }

  /**
   * Returns the positions of the segments to search, in the order in which this thread tries to claim them. A thread
   * begins with the same segments in every search, because it may have opened them.
   */
  #order(): number[] {
    const { input, worker } = this.#thread;
    const { threads, segments } = input;
    const [own, others]: [number[], number[]] = [[], []];
    for (const [at, { segment }] of segments.entries())
      (segment % threads === worker % threads ? own : others).push(at);
    own.push(...others);
    return own;
  }

  async #segment(position: number, isOwner: boolean): Promise<void> {
    const began = performance.now();
    const totals = zeroTotals();
    const part: WritablePart = {
      position,
      stats: totals,
      stepsDone: 0,
      nanoseconds: 0,
    };
    this.#parts.push(part);
    let isShared = !isOwner;
    let work: SegmentWork | undefined;
    try {
      work = this.#planned.get(position)?.work ?? (await this.#plan(position));
      if (!work) return;
      const planned = performance.now();
      if (isOwner) {
        part.plan = reportOf(work, this.#planned.get(position)?.ms ?? planned - began);
        isShared = work.steps > WORTH_HELP && work.isShared;
        if (isShared) this.#thread.control.open(position, work.steps, work.kind);
      }
      // this thread may have planned in another way than the owner, for instance because it has no room in shared memory
      const isSame = isOwner || this.#thread.control.kindOf(position) === work.kind;
      if (isSame && work.steps > 0)
        await this.#steps({ position, work, isOwner, isShared, totals, part });
      part.nanoseconds = nanoseconds(performance.now() - planned);
    } catch (error) {
      part.failure = failureOf(error);
    } finally {
      work?.end();
      if (isOwner && (part.failure || !isShared)) this.#thread.control.close(position);
    }
  }

  async #plan(position: number): Promise<SegmentWork | undefined> {
    const { input, query, snapshot, thread, tools } = this.#thread;
    const { repositories } = input;
    const { segment, scope, sets, symbols: edition } = input.segments[position]!;
    const opened = thread.open(snapshot, segment);
    const symbols = opened && openDefinitions(snapshot, opened, edition);
    if (!opened || symbols === "gone") throw new SegmentGone(segment);
    const { reader } = opened;
    this.#readers.set(position, reader);
    const literal = await this.#literal?.plan({ reader, symbols, scope, sets });
    if (literal) return literal;
    const asked = { query, scope, sets, symbols, isRanked: input.matches > 0 };
    const plan = await planSegment(opened, asked, snapshot, tools);
    return plan && new WindowWork(plan, { snapshot, tools, repositories });
  }

  async #steps(at: {
    readonly position: number;
    readonly work: SegmentWork;
    readonly isOwner: boolean;
    readonly isShared: boolean;
    readonly totals: Totals;
    readonly part: { stepsDone: number };
  }): Promise<void> {
    const { position, work, isOwner, isShared, totals, part } = at;
    const { control, context, input, snapshot } = this.#thread;
    const threshold = () => (input.stream ? -Infinity : this.#collector.threshold);
    const keep = (file: number, score: number, matches: number) => {
      this.#facets?.add(file, work.reader, snapshot);
      if (score < threshold()) return;
      const count = Math.min(matches, input.matchesPerFile);
      const found = { score, segment: position, file, count };
      if (input.stream) this.#pending.push({ file: found, work });
      else if (!this.#isBefore(found)) this.#collector.add(found);
    };
    let own = 0;
    const next = () =>
      isShared ? control.claimStep(position, isOwner) : own < work.steps ? own++ : undefined;
    for (let step = next(); step !== undefined && !control.stopped; step = next()) {
      const doing = work.step(step, totals, { threshold, file: keep });
      if (doing) await doing;
      if (control.stopped) break; // the search was stopped within the step, so the step is not counted
      part.stepsDone++;
      if (this.#pending.length > 0 && performance.now() - this.#lastPost > POST_MS)
        await this.#post();
      const wait = context.pause();
      if (wait) await wait;
    }
  }

  /** Returns the position of the file's repository in the list of all repositories, which is sorted by name. */
  #placeOfRepository({ header }: SegmentReader, file: number): number {
    return this.#thread.input.repositories.places[repositoryOf(header, file)] ?? -1;
  }

  /**
   * Returns true if the file ranks before the end of the previous page, so that earlier pages have shown all its
   * ranges.
   */
  #isBefore({ score, segment, file }: RankedFile): boolean {
    const after = this.#thread.input.page?.after;
    if (!after || score !== after.score) return after !== undefined && score > after.score;
    const reader = this.#readers.get(segment)!;
    return (
      (this.#placeOfRepository(reader, file) - after.repository ||
        Buffer.compare(pathOf(reader.paths(this.#thread.snapshot), file), after.path) ||
        Buffer.compare(this.#hash({ segment, file }), after.hash)) < 0
    );
  }

  /** Orders two files with the same score by repository name, then by path, then by the hash of the content. */
  #compare(a: RankedFile, b: RankedFile): number {
    const left = this.#readers.get(a.segment)!;
    const right = a.segment === b.segment ? left : this.#readers.get(b.segment)!;
    const repositories =
      this.#placeOfRepository(left, a.file) - this.#placeOfRepository(right, b.file);
    if (repositories !== 0) return repositories;
    const { snapshot } = this.#thread;
    const [paths, others] = [left.paths(snapshot), right.paths(snapshot)];
    // within a segment, the files of a repository are numbered in the order of their paths, so comparing the numbers is
    // enough. This saves time for queries by path or language, in which most files have the same score
    if (left === right && !isSamePath(paths, a.file, b.file)) return a.file - b.file;
    return (
      comparePaths(paths, a.file, others, b.file) || Buffer.compare(this.#hash(a), this.#hash(b))
    );
  }

  #hash({ segment, file }: Pick<RankedFile, "segment" | "file">): Uint8Array {
    const reader = this.#readers.get(segment)!;
    const blob = reader.files.blobs[file]!;
    const hashes = reader.hashes(this.#thread.snapshot);
    return blob === NO_BLOB ? NO_HASH : hashes.subarray(HASH_BYTES * blob, HASH_BYTES * (blob + 1));
  }

  #columns(): RankedFiles {
    const best = this.#collector.best();
    const { snapshot, context } = this.#thread;
    const paths = best.map(({ segment, file }) => {
      const reader = this.#readers.get(segment)!;
      return pathOf(reader.paths(snapshot), file);
    });
    const pathStarts = new Uint32Array(best.length + 1);
    paths.forEach((path, i) => (pathStarts[i + 1] = pathStarts[i]! + path.length));
    const columns = {
      scores: Int32Array.from(best, ({ score }) => score),
      segments: Uint32Array.from(best, ({ segment }) => segment),
      files: Uint32Array.from(best, ({ file }) => file),
      counts: Uint32Array.from(best, ({ count }) => count),
      repositories: Uint32Array.from(best, ({ segment, file }) =>
        this.#placeOfRepository(this.#readers.get(segment)!, file),
      ),
      pathStarts,
      paths: new Uint8Array(Buffer.concat(paths)),
      hashes: new Uint8Array(Buffer.concat(best.map((one) => this.#hash(one)))),
    };
    context.transfer(...Object.values(columns).map(({ buffer }) => buffer as ArrayBuffer));
    return columns;
  }

  /**
   * Sends the files that were found since the last part of the stream, in rank order. Keeps a file in #collector
   * instead if the stream's reader is behind. Stops once the answer is full or due.
   */
  async #post(): Promise<void> {
    const { control, query, tools, snapshot, input, context } = this.#thread;
    const isBestFirst = input.matchesPerFile < Infinity;
    const pending = this.#pending.sort(
      (a, b) => b.file.score - a.file.score || this.#compare(a.file, b.file),
    );
    this.#pending = [];
    const onDisagreement = (message: string) => void part.disagreements.push(message);
    const pause = () => context.pause();
    const how = { ...input.stream!, isBestFirst, pause, onDisagreement };
    // files that were found are shown even if scanning has stopped, until the answer is due
    const untilEnd = { ...tools, isStopped: () => control.hasEnded };
    const showing = { query, tools: untilEnd, snapshot, ...how };
    let part = emptyPart(this.#newTotals());
    let ranges = 0; // counts the ranges in this part
    for (const { file, work } of pending) {
      if (control.isFull || control.hasEnded) break;
      const most = control.takeRanges(control.rangesWithRoom(file.count));
      if (most === 0) break;
      if (control.isBehind) {
        this.#collector.add({ ...file, count: most });
        continue;
      }
      const { reader, symbols } = work;
      const sets = (set: number) => hasBit(input.segments[file.segment]!.sets[set]!, file.file);
      const wanted = { reader, symbols, file: file.file, sets, skip: 0, most };
      const result = await showFile(showing, wanted).catch((error: unknown) =>
        this.#fail(file.segment, error),
      );
      if (!result) continue;
      const { shown, bytesLoaded } = result;
      part.files.push({ ...shown, position: file.segment, file: file.file });
      part.contentBytesLoaded += bytesLoaded;
      part.bytes += sizeOf(shown);
      control.takeRoom(answerBytes(shown));
      control.addBehind(sizeOf(shown));
      ranges += most;
      if (part.files.length >= PART_FILES || ranges >= PART_RANGES) {
        this.#send(part);
        part = emptyPart(zeroTotals());
        ranges = 0;
      }
      const wait = context.pause();
      if (wait) await wait;
    }
    this.#send(part);
    this.#lastPost = performance.now();
  }

  #send(part: StreamPart): void {
    const { files, buffer } = inOneBuffer(part.files);
    this.#thread.control.beginPart();
    this.#thread.context.post({ ...part, files }, [buffer]);
  }

  /** Records the failure of a segment in which a file was found but could not be shown. */
  #fail(position: number, error: unknown): void {
    this.#parts.find((part) => part.position === position)!.failure = failureOf(error);
  }

  /** Returns by how much each counter has grown since the last part was sent. */
  #newTotals(): Totals {
    const now = zeroTotals();
    for (const { stats } of this.#parts) for (const name of names(now)) now[name] += stats[name];
    const delta = zeroTotals();
    for (const name of names(now)) delta[name] = now[name] - this.#postedTotals[name];
    this.#postedTotals = now;
    return delta;
  }
}

interface OpenPart extends StreamPart {
  readonly files: StreamPart["files"][number][];
  readonly disagreements: string[];
  contentBytesLoaded: number;
  bytes: number;
}

const emptyPart = (stats: Totals): OpenPart => ({
  files: [],
  contentBytesLoaded: 0,
  disagreements: [],
  stats,
  bytes: 0,
});

/**
 * Returns true if two paths are equal. Compares them from their ends, because the paths of neighbouring files begin
 * alike.
 */
function isSamePath({ starts, bytes }: PathTable, a: number, b: number): boolean {
  let [left, right] = [starts[a + 1]!, starts[b + 1]!];
  const from = starts[a]!;
  if (left - from !== right - starts[b]!) return false;
  while (left > from) if (bytes[--left] !== bytes[--right]) return false;
  return true;
}

/** Compares two paths byte by byte, because creating views for Buffer.compare() takes twice as long. */
function comparePaths(one: PathTable, a: number, other: PathTable, b: number): number {
  let [left, right] = [one.starts[a]!, other.starts[b]!];
  const [leftEnd, rightEnd] = [one.starts[a + 1]!, other.starts[b + 1]!];
  while (left < leftEnd && right < rightEnd) {
    const difference = one.bytes[left++]! - other.bytes[right++]!;
    if (difference !== 0) return difference;
  }
  return leftEnd - left - (rightEnd - right);
}

const names = (totals: Totals): (keyof Totals)[] => Object.keys(totals) as (keyof Totals)[];

export class SegmentGone extends Error {
  constructor(segment: number) {
    super(`segment ${segment} no longer exists`);
  }
}

/**
 * Returns the failure to record for a segment that is damaged or no longer exists. The search then continues with the
 * other segments. Rethrows any other error, which ends the search.
 */
function failureOf(error: unknown): Failure {
  if (error instanceof SegmentGone) return { kind: "gone", message: error.message };
  if (isCorrupt(error)) return { kind: "damaged", message: error.message };
  throw error;
}

const reportOf = (
  { candidates, undecided, stats, steps }: SegmentWork,
  ms: number,
): NonNullable<SegmentPart["plan"]> => ({
  stats,
  candidates,
  undecided,
  steps,
  nanoseconds: nanoseconds(ms),
});

/** Estimates how many bytes of memory a shown file occupies until the stream's reader takes the part with this file. */
function sizeOf({ content = "", chunks }: ShownFile): number {
  const { text, ranges } = chunks;
  return 256 + content.length + text.length + ranges.byteLength;
}

const nanoseconds = (ms: number): number => Math.round(ms * 1e6);
