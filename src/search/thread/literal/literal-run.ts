/**
 * Searches for one literal in the kernel. A run has the literal in the room of its thread, and plans one segment after
 * another. REQUIRES: as long as a run is used, no other run is begun in the room.
 */

import {
  countBits,
  emptyBitset,
  fullBitset,
  intersect,
  isEmpty,
  type Bitset,
} from "../../../base/bitset.ts";
import { copyBytes } from "../../../base/copy-bytes.ts";
import { bytesOf } from "../../../base/growable.ts";
import * as job from "../../../kernel/job.ts";
import { BROKEN, mostBlockBytes, scratchBytes, setBytes } from "../../../kernel/page-lists.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { isAllContent } from "../../../store/segments/segment-tables.ts";
import type { SegmentInput } from "../../messages/messages.ts";
import { boundsOf } from "../planning/bounds.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import { WEIGHTS } from "../ranking/score.ts";
import type { Literal } from "../reading/literal.ts";
import { aligned, LISTS_BYTES, MOST_RUN_BYTES, NEVER, type Room } from "../reading/room.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import { LiteralWork, type LiteralOptions } from "./literal-work.ts";

/** A segment that a run plans. */
interface Asked extends Pick<SegmentInput, "scope" | "sets"> {
  readonly reader: SegmentReader;
  readonly symbols: SegmentSymbols | undefined;
}

/** The memory of a plan. */
interface Placed {
  readonly at: number;
  readonly end: number;
}

/** Returns the literal of a query that consists of one literal, and of sets of files that the caller has determined. */
export function literalOf({ atoms, single }: PreparedQuery): Literal | undefined {
  const [atom] = atoms;
  if (atoms.length !== 1 || single !== 0 || atom?.kind !== "literal") return undefined;
  const { literal } = atom.placed;
  const { text, length, grams, longest, partners } = literal;
  // folding makes an ASCII letter of U+212A and U+017F, but such a literal has no partners
  const isAscii = length === text.length && partners !== undefined;
  const fits = length <= job.MOST_LENGTH && longest <= job.MOST_LONGEST;
  return isAscii && fits && grams.length > 0 && grams.length <= job.MOST_GRAMS
    ? literal
    : undefined;
}

/** What each number of matches adds to a score. Computed here, so that it is rounded as in score.ts. */
const MATCH_SCORES = Float64Array.from({ length: job.MOST_COUNTED + 1 }, (_, count) =>
  Math.min(WEIGHTS.mostMatches, WEIGHTS.matches * Math.log10(count)),
);

/** Writes the literal to the job, unless it is there already. */
export function placeLiteral(room: Room, literal: Literal): void {
  if (room.literal === literal) return;
  room.literal = literal;
  const { job: at, bytes, words, floats } = room;
  const { caseSensitive, length, longest, partners, rarest, grams } = literal;
  const head = [length, ...rarest, longest, partners && partners.length > 0 && !caseSensitive];
  [...head, grams.length].forEach((value, i) => (words[(at >>> 2) + i] = Number(value)));
  bytes.set(literal.bytes, at + job.BYTES);
  bytes.set(literal.masks, at + job.MASKS);
  bytes.set(literal.leads, at + job.LEADS);
  for (let i = 0; i < length; i++) {
    words[((at + job.POINTS) >>> 2) + i] = literal.points[i]!;
    bytes[at + job.FOLDED + i] = literal.points[i]!;
  }
  for (let i = 0; i < grams.length; i++) words[((at + job.GRAMS) >>> 2) + i] = grams[i]!;
  if (floats[((at + job.MATCH_SCORES) >>> 3) + job.MOST_COUNTED] === 0)
    floats.set(MATCH_SCORES, (at + job.MATCH_SCORES) >>> 3);
}

export class LiteralRun {
  readonly room: Room;
  readonly options: LiteralOptions;
  readonly #root: PreparedQuery["root"];
  /** Where the next plan begins. */
  #next: number;

  private constructor(room: Room, root: PreparedQuery["root"], options: LiteralOptions) {
    this.room = room;
    this.options = options;
    this.#root = root;
    this.#next = room.plans;
  }

  /** Begins a run. Returns undefined if the query is another one, or if the thread has no room. */
  static begin(query: PreparedQuery, options: LiteralOptions): LiteralRun | undefined {
    const { room } = options.tools;
    const literal = room && literalOf(query);
    if (!literal) return undefined;
    placeLiteral(room, literal);
    room.words[(room.job + job.IS_RANKED) >>> 2] = Number(options.isRanked);
    room.words[(room.job + job.ROW_COUNT) >>> 2] = 0; // an exception may have left rows
    return new LiteralRun(room, query.root, options);
  }

  /**
   * Plans the literal in a segment. Resolves to undefined if the kernel cannot read the tables of the segment, or if the
   * memory for them is full.
   */
  async plan(asked: Asked): Promise<LiteralWork | undefined> {
    const { scope, sets } = asked;
    const files = sets.length === 0 ? scope : await this.#narrowed(asked);
    if (sets.length > 0 && isEmpty(files)) return this.#workOf(asked, undefined);
    const columns = columnsOf(asked, this);
    const plan = columns && this.#place(columns, files, asked);
    if (!plan) return undefined;
    this.#lookUp(plan.at, asked);
    return this.#workOf(asked, plan);
  }

  /** Returns the work of a planned segment. If there is no plan, the sets of the query exclude all files in scope. */
  #workOf(asked: Asked, plan: Placed | undefined): LiteralWork {
    const { words, job: at } = this.room;
    const word = (offset: number) => (plan ? words[(plan.at + offset) >>> 2]! : 0);
    const { reader, scope, sets } = asked;
    const shardFilesConsidered = sets.length === 0 ? word(job.IN_SCOPE) : countBits(scope);
    const isAll = isAllContent(reader.segment, reader.header, shardFilesConsidered);
    const stats = {
      shardFilesConsidered,
      ngramLookups: plan ? words[(at + job.GRAM_COUNT) >>> 2]! : 0,
      ngramMatches: word(job.CANDIDATE_PAGES),
      // if the segment has files out of scope, this number would reveal something about them
      indexBytesLoaded: isAll ? word(job.LIST_BYTES) : 0,
    };
    const counts = { stats, candidates: word(job.CANDIDATES), steps: word(job.CHUNK_COUNT) };
    const end = () => {
      if (plan && this.#next === plan.end) this.#next = plan.at;
    };
    return new LiteralWork(this, { ...asked, ...counts, at: plan?.at ?? 0, end });
  }

  /** Returns the files in scope for which everything holds that the query says about sets. */
  async #narrowed({ reader, scope, sets }: Asked): Promise<Bitset> {
    const { files } = reader.header;
    const set = (number: number) => ({ sure: sets[number]!, maybe: sets[number]! });
    const atom = () => ({ sure: emptyBitset(files), maybe: fullBitset(files) });
    const { pause } = this.options.tools;
    const { maybe } = await boundsOf(this.#root, { set, atom }, { files, pause });
    return intersect(maybe.slice(), scope);
  }

  /** Writes the tables and the scope of a plan. Returns undefined if there is no room for it. */
  #place(columns: readonly number[], scope: Bitset, { reader }: Asked): Placed | undefined {
    const { pages } = reader.header;
    const at = this.#next;
    const scopeWords = scope.length + (scope.length & 1);
    const chunks = at + job.PLAN_BYTES;
    const bits = aligned(chunks + 8 * (pages / job.CHUNK_PAGES + 2));
    const [named, files] = [bits + setBytes(pages), bits + 2 * setBytes(pages)];
    const end = aligned(files + 4 * scopeWords);
    if (end > this.room.end) return undefined;
    const { words, bytes } = this.room;
    const rest = [scopeWords, chunks, bits, named, files];
    for (let i = 0; i < columns.length; i++) words[(at >>> 2) + i] = columns[i]!;
    for (let i = 0; i < rest.length; i++) words[(at >>> 2) + columns.length + i] = rest[i]!;
    words[(files >>> 2) + scopeWords - 1] = 0;
    copyBytes(bytesOf(scope), 0, bytes, files, 4 * scope.length);
    this.#next = end;
    return { at, end };
  }

  /** Has the kernel plan, which reads the posting lists of the literal. */
  #lookUp(plan: number, { reader, symbols }: Asked): void {
    const { room, options } = this;
    const most = mostBlockBytes(reader.header.pages);
    let lists = reader.postings;
    const readBlock = (set: number, block: number, at: number) => {
      lists = set === 0 ? reader.postings : symbols!.names!;
      return lists.copyBlock(options.snapshot, block, { target: room.bytes, at, most });
    };
    room.calls = { ...NEVER, readBlock };
    if (room.kernel.planLiteral(room.job, plan) === BROKEN) throw lists.broken();
  }
}

/** The address of a table that is not in the shared memory. */
const MISSING = -1;

/** Returns the first words of a plan, or undefined if the kernel cannot read some table of the segment. */
function columnsOf(
  { reader, symbols }: Asked,
  { room, options }: Pick<LiteralRun, "room" | "options">,
): number[] | undefined {
  const { header, files, pageBytes, postings } = reader;
  const grams = room.words[(room.job + job.GRAM_COUNT) >>> 2]!;
  const hasLists = header.postingBlocks > 0 && scratchBytes(grams, header.pages) <= LISTS_BYTES;
  if (!hasLists || header.languages.length > job.MOST_LANGUAGES) return undefined;
  if (symbols && symbols.mostRunBytes > MOST_RUN_BYTES) return undefined;
  const paths = reader.paths(options.snapshot);
  const tables = [reader.blobStarts, reader.firstPages, reader.pageBlobs, reader.folds];
  const ofFiles = [files.flags, files.languages, reader.blobFileStarts, reader.blobFiles];
  const ofPaths = [paths.starts, paths.bytes];
  const names = symbols?.names?.firstGrams;
  const at = (column: Uint8Array | Uint16Array | Uint32Array | undefined) =>
    column ? (room.addressOf(column) ?? MISSING) : 0;
  const words = [header.pages, pageBytes];
  words.push(...[...tables, ...ofFiles, ...ofPaths, symbols?.runStarts].map(at));
  words.push(at(postings.firstGrams), header.postingBlocks, at(names), names?.length ?? 0);
  return words.includes(MISSING) ? undefined : words;
}
