/**
 * The part of the shared memory in which one thread searches for literals, and the thread's instance of the kernel for
 * it. kernel/job.ts describes the layout.
 */

import { QuernError } from "../../../base/errors.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "../../../kernel/folding.ts";
import * as job from "../../../kernel/job.ts";
import {
  createSearchKernel,
  type SearchImports,
  type SearchKernel,
} from "../../../kernel/search-kernel.ts";
import type { Literal } from "./literal.ts";
import { ROOM_BYTES, takeRoom, type SharedMemory } from "../../../store/segments/shared-memory.ts";

/** The longest run of definitions that fits into a room. */
export const MOST_RUN_BYTES = 2 ** 22;
/** The size of the scratch memory for intersecting posting lists; see kernel/page-lists.ts. */
export const LISTS_BYTES = 2 ** 21;

/** The areas of a room after the job: the word of the job that has the address of each, and its size. */
const AREAS: readonly (readonly [word: number, bytes: number])[] = [
  [job.FOLDING, FOLDING_TABLE_BYTES],
  [job.WINDOW, job.MOST_SHOWN + 2 * job.MOST_LONGEST],
  [job.PAIRS, 2 * 8 * job.MOST_PAIRS],
  [job.LISTS, LISTS_BYTES],
  [job.ROWS, job.ROW_BYTES * job.MOST_ROWS],
  [job.SHOWN, job.SHOWN_TEXT + job.MOST_SHOWN],
  [job.DEFINITIONS, job.DEFINITION_BYTES * job.MOST_DEFINITIONS],
  [job.RUN, MOST_RUN_BYTES],
];

export class Room {
  readonly kernel: SearchKernel;
  /** The whole shared memory. */
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly ints: Int32Array;
  readonly floats: Float64Array;
  /** The address of the job. */
  readonly job: number;
  /** The plan of a blob that is shown. */
  readonly shown: number;
  /** Where the other plans are allocated, up to the end of the room. */
  readonly plans: number;
  readonly end: number;
  /** What the kernel calls during the search that runs now. */
  calls: SearchImports | undefined;
  /** The literal in the job. */
  literal: Literal | undefined;

  constructor({ memory }: SharedMemory, at: number) {
    this.kernel = createSearchKernel(memory, {
      readBlock: (set, block, address) => this.calls!.readBlock(set, block, address),
      readText: (from, to, address) => this.calls!.readText(from, to, address),
      readRun: (blob) => this.calls!.readRun(blob),
      brokenRun: () => this.calls!.brokenRun(),
      isStopped: () => this.calls!.isStopped(),
      takeRows: () => this.calls!.takeRows(),
      rankOf: (file) => this.calls!.rankOf(file),
    });
    this.bytes = new Uint8Array(memory.buffer);
    this.words = new Uint32Array(memory.buffer);
    this.ints = new Int32Array(memory.buffer);
    this.floats = new Float64Array(memory.buffer);
    this.job = at;
    this.end = at + ROOM_BYTES;
    let next = at + job.JOB_BYTES;
    for (const [word, bytes] of AREAS) {
      next = aligned(next + job.MARGIN);
      this.words[(at + word) >>> 2] = next;
      next += bytes;
    }
    this.shown = aligned(next + job.MARGIN);
    this.plans = aligned(this.shown + job.PLAN_BYTES);
    writeFoldingTable(this.bytes, this.address(job.FOLDING));
  }

  /** Returns the address in a word of the job. */
  address(word: number): number {
    return this.words[(this.job + word) >>> 2]!;
  }

  /** Returns the address of a column, or undefined if it is not in the shared memory. */
  addressOf({ buffer, byteOffset }: Uint8Array | Uint16Array | Uint32Array): number | undefined {
    return buffer === this.bytes.buffer ? byteOffset : undefined;
  }
}

const never = (): never => {
  throw new QuernError("INTERNAL", "the kernel calls a function that its caller lacks");
};
/** The functions that the kernel calls in none of its stages, unless they are replaced. */
export const NEVER: SearchImports = {
  readBlock: never,
  readText: never,
  readRun: never,
  brokenRun: never,
  isStopped: never,
  takeRows: never,
  rankOf: never,
};

export const aligned = (at: number): number => (at + 15) & ~15;

/** Opens a room for this thread. Returns undefined if none is left. */
export function openRoom(shared: SharedMemory): Room | undefined {
  const at = takeRoom(shared);
  return at === undefined ? undefined : new Room(shared, at);
}
