/** Opens what the tasks of find() read on a thread: the files in scope, word lists, and a table of words. */

import { emptyBitset, forEachBit, setBit, type Bitset } from "../base/bitset.ts";
import { LruCache } from "../base/lru-cache.ts";
import { Arena } from "../kernel/arena.ts";
import { FIRST_MEMORY_SEGMENT, NO_BLOB } from "../store/format/format.ts";
import { isCorrupt } from "../store/format/sealed.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import type { SegmentReader } from "../store/segments/segment-reader.ts";
import { openWords, type WordLists } from "../store/words/word-lists.ts";
import { Control } from "../search/messages/control.ts";
import { unpackPlan } from "../search/messages/plan.ts";
import { prepareQuery, type PreparedQuery } from "../search/thread/planning/prepare.ts";
import { planSegment } from "../search/thread/planning/segment-plan.ts";
import {
  openDefinitions,
  type OpenedSegment,
  type SearchTools,
  type ThreadTools,
} from "../search/thread/reading/thread-tools.ts";
import type { SegmentSymbols } from "../search/thread/reading/segment-symbols.ts";
import { snapshotOf, toolsOf } from "../search/thread/tasks.ts";
import type { TaskContext } from "../threads/task.ts";
import { WordTable } from "../words/word-table.ts";
import type { FindScope, Missing } from "./messages.ts";

/** The maximum memory of a thread's table of words. A larger table is replaced by an empty one. */
const TABLE_BYTES = 96 * 2 ** 20;
/** The maximum text of a segment without word lists whose words are counted for each question. */
const MAX_UNLISTED_BYTES = 2 ** 20;
const MAX_OPEN_LISTS = 256;

/** The lists of a segment's stems. */
export interface StemLists {
  /** Calls `visit` with the list of a stem, if any blob has the stem. A list is valid only during the call. */
  find(stem: string, visit: (list: Uint8Array) => void): void;
  /** Calls `visit` with each stem that begins with a prefix, and its list. */
  withPrefix(prefix: string, visit: (stem: string, list: Uint8Array) => void): void;
}

export interface WordTools {
  readonly table: WordTable;
  readonly arena: Arena;
}

/** What a thread keeps from one question to the next. */
class FindMemory {
  #words: WordTools | undefined;
  readonly lists = new LruCache<string, WordLists>({ most: MAX_OPEN_LISTS });

  get words(): WordTools {
    if (!this.#words || this.#words.table.bytes > TABLE_BYTES) {
      const table = new WordTable();
      this.#words = { table, arena: new Arena(table.kernel) };
    }
    return this.#words;
  }
}

/** One segment of a question, with the files and blobs that the viewer and the filters leave. */
export interface AskedSegment {
  readonly position: number;
  readonly opened: OpenedSegment;
  readonly reader: SegmentReader;
  readonly files: Bitset;
  readonly blobs: Bitset;
  /** The number of files in scope that have each blob. */
  readonly filesOfBlob: Uint32Array;
  readonly lists: StemLists;
  readonly symbols: SegmentSymbols | undefined;
}

export interface FindThread {
  readonly snapshot: Snapshot;
  readonly words: WordTools;
  readonly control: Control;
  readonly pause: () => Promise<void> | undefined;
}

/**
 * Calls `work` for each segment in scope, one after another. Resolves to the segments that could not be read.
 */
export async function forEachSegment(
  scope: FindScope,
  context: TaskContext,
  work: (segment: AskedSegment, thread: FindThread) => void | Promise<void>,
): Promise<(readonly [position: number, why: Missing])[]> {
  const threadTools = toolsOf(context);
  const control = new Control(scope.shared);
  const tools = threadTools.forTask({
    isStopped: () => control.stopped !== 0,
    giveUp: () => undefined,
    isDue: () => control.hasEnded,
    pause: () => context.pause(),
  });
  const memory = context.memo("find", () => new FindMemory());
  const snapshot = snapshotOf(scope, context);
  const gaps: (readonly [position: number, why: Missing])[] = [];
  const mark = threadTools.arena.mark();
  try {
    const query = await prepareQuery(unpackPlan(scope.plan), tools);
    const thread: FindThread = {
      snapshot,
      words: memory.words,
      control,
      pause: () => context.pause(),
    };
    for (const position of scope.segments.keys()) {
      if (control.hasEnded) {
        gaps.push([position, "timed-out"]);
        continue;
      }
      try {
        const asked = { scope, position, query, tools, threadTools, memory, snapshot };
        const segment = await openSegmentOf(asked, thread);
        if (typeof segment === "string") gaps.push([position, segment]);
        else await work(segment, thread);
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        gaps.push([position, "damaged"]);
      }
      await context.pause();
    }
  } finally {
    threadTools.arena.release(mark);
    snapshot.close();
  }
  return gaps;
}

interface Opening {
  readonly scope: FindScope;
  readonly position: number;
  readonly query: PreparedQuery;
  readonly tools: SearchTools;
  readonly threadTools: ThreadTools;
  readonly memory: FindMemory;
  readonly snapshot: Snapshot;
}

async function openSegmentOf(
  { scope, position, query, tools, threadTools, memory, snapshot }: Opening,
  thread: FindThread,
): Promise<AskedSegment | Missing> {
  const { segment, scope: files, sets, symbols: edition, words } = scope.segments[position]!;
  const opened = threadTools.open(snapshot, segment);
  if (!opened) return "gone";
  const { reader } = opened;
  const symbols = openDefinitions(snapshot, opened, edition);
  if (symbols === "gone") return "gone";
  const asked = { query, scope: files, sets, symbols, isRanked: false };
  const plan = await planSegment(opened, asked, snapshot, tools);
  if (!plan) return "timed-out";
  const blobs = emptyBitset(reader.header.blobs);
  const filesOfBlob = new Uint32Array(reader.header.blobs);
  forEachBit(plan.candidates, (file) => {
    const blob = reader.files.blobs[file]!;
    if (blob === NO_BLOB) return;
    setBit(blobs, blob);
    filesOfBlob[blob]!++;
  });
  const { content } = reader.header;
  let lists: StemLists;
  const stored = words > 0 ? storedLists(memory, snapshot, content, words) : undefined;
  if (stored)
    lists = {
      find: (stem, visit) => stored.find(snapshot, stem, visit),
      withPrefix: (prefix, visit) => stored.withPrefix(snapshot, prefix, (...one) => visit(...one)),
    };
  else if (segment >= FIRST_MEMORY_SEGMENT || reader.header.textBytes <= MAX_UNLISTED_BYTES)
    lists = await listsOfText(reader, blobs, thread);
  else return "no-word-lists";
  return { position, opened, reader, files: plan.candidates, blobs, filesOfBlob, lists, symbols };
}

function storedLists(
  { lists }: FindMemory,
  snapshot: Snapshot,
  segment: number,
  version: number,
): WordLists | undefined {
  const key = `${segment}/${version}`;
  return lists.getOrMake(key, () => openWords(snapshot, { segment, version }));
}

/** Makes the lists of a small segment from the text of the blobs in scope. */
async function listsOfText(
  reader: SegmentReader,
  blobs: Bitset,
  { snapshot, pause }: FindThread,
): Promise<StemLists> {
  const table = new WordTable();
  const wanted: number[] = [];
  forEachBit(blobs, (blob) => wanted.push(blob));
  for (const blob of wanted) {
    table.addBlob(blob, reader.blobText(snapshot, blob));
    await pause();
  }
  const lists = new Map<string, Uint8Array>();
  for (const [stem, list] of table.lists()) lists.set(stem, list.slice());
  return {
    find: (stem, visit) => {
      const list = lists.get(stem);
      if (list) visit(list);
    },
    withPrefix: (prefix, visit) => {
      for (const [stem, list] of lists) if (stem.startsWith(prefix)) visit(stem, list);
    },
  };
}
