/**
 * Finds the symbols of every segment that lacks some: new segments, segments that an interrupted run left unfinished,
 * and segments whose grammars were updated. The threads work on ranges of a segment's blobs. A completed range stays
 * completed, even if the process is killed. Until the transaction that completes the new edition (edition-task.ts),
 * searches use the previous edition.
 */

import { compareText } from "../../base/compare.ts";
import { QuernError } from "../../base/errors.ts";
import { isCorrupt } from "../../store/format/sealed.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { Environment } from "../../store/lmdb/environment.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import type { ManifestSegment } from "../../store/catalog/manifest.ts";
import { readBlobs } from "../../store/segments/segment-tables.ts";
import { nextEdition } from "../../store/symbols/edition-key.ts";
import {
  joinColumns,
  unfinishedKeys,
  readRanges,
  removeRanges,
  type SymbolColumns,
} from "../../store/symbols/symbol-columns.ts";
import { otherEditions, readSymbolsHeader } from "../../store/symbols/symbols.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import type { EditionInput } from "./edition-task.ts";
import type { Pool } from "../../threads/pool.ts";
import type { IndexProgress } from "../run/report.ts";
import type { KnownInput, KnownOutput } from "./known-symbols.ts";
import {
  filesWithoutSymbols,
  isOutdated,
  NOT_PARSING,
  type Edition,
  type FoundSymbols,
  type SymbolsInput,
  type SymbolsOutput,
} from "./symbol-task.ts";

/** The bytes of text in one range. Parsing them takes about 0.2 s. An abort may take as long. */
const RANGE_BYTES = 2 ** 20;
const MIB = 2 ** 20;
/** The memory of a thread after parsing a mixture of languages: up to ten grammars, each with memory of its own. */
const GRAMMARS_BYTES = 100 * MIB;
/**
 * How long a thread may be silent. A parse gives up by itself after 3 s of work or 30 s of wall-clock time. So a thread
 * that is silent for longer is in an endless loop.
 */
const MAX_SILENT_MS = 60_000;

export interface SymbolPass {
  readonly environment: Environment;
  readonly pool: Pool;
  readonly memoryBudget: number;
  readonly catalog: Catalog;
  /** The owner of the write lease. */
  readonly owner: string;
  readonly throwIfStopped: () => void;
  readonly onProgress: (progress: IndexProgress) => void;
  /** Called before the first segment, if any segment lacks symbols. */
  readonly onPending?: () => Promise<void>;
  readonly onWarning: (warning: { code: string; message: string }) => void;
  /** The longest time in which a thread may report nothing. Default MAX_SILENT_MS. */
  readonly maxSilentMs?: number;
  /**
   * Fetches the missing parts of segments. The directory may have only a segment's tables and the header of its
   * symbols. Resolves to the segments that are still incomplete. Absent if all segments are complete.
   */
  readonly complete?: (segments: readonly number[]) => Promise<ReadonlySet<number>> | undefined;
}

/**
 * Finds missing symbols. Resolves to what was found in each repository's files. REQUIRES: the lease is
 * held.
 */
export async function findSymbols(given: SymbolPass): Promise<Map<number, FoundSymbols>> {
  const pass = { ...given, pool: fewerThreads(given.pool, threadsFor(given)) };
  const pending = await pendingSegments(pass);
  if (pending.length > 0) await pass.onPending?.();
  const partial = await pass.complete?.(pending.map(({ segment }) => segment.segment));
  const found = new Map<number, FoundSymbols>();
  const progress = progressOf(pass, pending);
  // several segments at once, because a small one does not keep all threads busy
  await inParallel(pending, pass.pool.lanes, async (one) => {
    pass.throwIfStopped();
    // counts the symbols of a segment after their publication, so that only stored ones count
    for (const part of await findInSegment({ ...pass, partial }, one, progress))
      addFound(found, part);
  });
  for (const { withoutSymbols } of found.values())
    withoutSymbols.sort((a, b) => compareText(a.path, b.path));
  return found;
}

interface Searching extends SymbolPass {
  /** The segments that have only the header of their symbols. */
  readonly partial: ReadonlySet<number> | undefined;
}

/** What was found, by repository. */
type Found = ReadonlyMap<number, FoundSymbols>;

function addFound(all: Map<number, FoundSymbols>, found: Found): void {
  for (const [repository, { symbols, withoutSymbols }] of found) {
    const sum = all.get(repository) ?? { symbols: 0, withoutSymbols: [] };
    sum.symbols += symbols;
    for (const file of withoutSymbols) sum.withoutSymbols.push(file);
    all.set(repository, sum);
  }
}

/**
 * Returns how many threads the promised memory allows. docs/limits.md promises that a run takes at most 40 MiB per
 * thread and 1.3 times the memory budget, in addition to the process itself.
 */
function threadsFor({ pool, memoryBudget }: SymbolPass): number {
  const allowed = 40 * MIB * pool.lanes + 1.3 * memoryBudget;
  return Math.min(pool.lanes, Math.max(1, Math.floor(allowed / GRAMMARS_BYTES)));
}

/** Restricts the pool to its first threads. A thread that parses nothing loads no grammars. */
function fewerThreads(pool: Pool, lanes: number): Pool {
  if (lanes === pool.lanes) return pool;
  let next = 0;
  return {
    lanes,
    inline: pool.inline,
    run: (task, input, options) => pool.run(task, input, { ...options, worker: next++ % lanes }),
    stop: () => pool.stop(),
    close: () => pool.close(),
  };
}

/** The content of one or more segments. `segment` is the one that stores it, even if that segment has no live file. */
interface Content extends Pick<
  ManifestSegment,
  "segment" | "textBytes" | "symbols" | "hasSymbols"
> {
  readonly blobs: number;
}

/** Lists the content of all segments, each once. */
function contentsOf({ manifest, headers }: Catalog): Content[] {
  const contents = new Map<number, Content>();
  for (const one of manifest.segments) {
    const { content, blobs } = headers.get(one.segment)!;
    const { textBytes, symbols, hasSymbols } = one;
    contents.set(content, { segment: content, textBytes, symbols, hasSymbols, blobs });
  }
  return [...contents.values()];
}

interface PendingSegment {
  readonly segment: Content;
  /** The part of the next edition that an interrupted run has completed. */
  readonly done: readonly SymbolColumns[];
  readonly ranges: readonly Range[];
}

/** Lists the segments that lack symbols. Deletes symbols of old editions, and what unfinished ranges have left. */
async function pendingSegments({ environment, catalog, owner }: SymbolPass) {
  const snapshot = environment.snapshot();
  const pending: PendingSegment[] = [];
  const dead: Buffer[] = [];
  try {
    for (const one of contentsOf(catalog)) {
      for (const range of otherEditions(one.segment, one.symbols))
        dead.push(...snapshot.keys(range));
      const next = { segment: one.segment, edition: nextEdition(one.symbols) };
      const done = readRanges(snapshot, next).filter(({ origins }) => !origins.some(isOutdated));
      dead.push(...unfinishedKeys(snapshot, next, done));
      const header = one.hasSymbols && readSymbolsHeader(snapshot, one.segment, one.symbols);
      if (!header || header.origins.some(isOutdated))
        pending.push({ segment: one, done, ranges: rangesOf(snapshot, one, done) });
    }
  } finally {
    snapshot.close();
  }
  if (dead.length > 0)
    await environment.write((writer) => {
      checkLease(writer, owner);
      for (const key of dead) writer.remove(key);
    });
  return pending;
}

/** The blobs in [from, to). */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

interface Range extends Stretch {
  readonly bytes: number;
}

/** Reports progress in blobs, not files, because content that several files share is parsed only once. */
function progressOf({ onProgress }: SymbolPass, pending: readonly PendingSegment[]) {
  const ranges = pending.flatMap((one) => one.ranges);
  const total = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  const totalBytes = ranges.reduce((sum, range) => sum + range.bytes, 0);
  let [done, bytes] = [0, 0];
  const tell = () =>
    onProgress({ repository: "", stage: "symbols", done, total, bytes, totalBytes });
  if (pending.length > 0) tell();
  return (range: Range): void => {
    done += range.to - range.from;
    bytes += range.bytes;
    tell();
  };
}

/**
 * Finds the symbols of one segment, and resolves to what was published. If the segment is damaged as a whole,
 * publishes nothing and lists its files as damaged.
 */
async function findInSegment(
  pass: Searching,
  { segment, done, ranges }: PendingSegment,
  onRange: (range: Range) => void,
): Promise<Found[]> {
  const edition = nextEdition(segment.symbols);
  try {
    const work = { segment, ...(await knownElsewhere(pass, segment)) };
    const outputs = await inParallel(ranges, pass.pool.lanes, async (range) => {
      pass.throwIfStopped();
      const outputs = await findInRange(pass, work, range);
      onRange(range);
      return outputs;
    });
    const columns = joinColumns([...done, ...outputs.flat().map((output) => output.columns)]);
    const input: EditionInput = { segment: segment.segment, edition, columns, owner: pass.owner };
    await pass.pool.run<void>("ingest.edition", input, { lane: "ingest" });
    return outputs.flat().map(({ found }) => found);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    await pass.environment.write((writer) => {
      checkLease(writer, pass.owner);
      removeRanges(writer, { segment: segment.segment, edition });
    });
    pass.onWarning({ code: error.code, message: `no symbols of a segment: ${error.message}` });
    return [lostFiles(pass.environment, segment.segment)];
  }
}

/** Returns the files of a damaged segment that have no symbols, as far as they can be read. */
function lostFiles(environment: Environment, segment: number): Found {
  const snapshot = environment.snapshot();
  try {
    return filesWithoutSymbols(snapshot, segment);
  } catch (error) {
    if (isCorrupt(error)) return new Map();
    throw error;
  } finally {
    snapshot.close();
  }
}

interface Work {
  readonly segment: Content;
  readonly others: readonly Edition[];
  /** Two numbers for each blob of the segment, as in SymbolsInput. */
  readonly places: Int32Array;
}

async function knownElsewhere(
  { catalog, pool, throwIfStopped, partial }: Searching,
  { segment, textBytes, symbols: edition }: Content,
): Promise<Pick<Work, "others" | "places">> {
  const others = contentsOf(catalog)
    .filter((other) => other.segment !== segment && other.symbols > 0)
    .filter((other) => partial?.has(other.segment) !== true) // parsing is cheaper than fetching
    .map((other) => ({ segment: other.segment, edition: other.symbols }));
  const files = catalog.manifest.segments.reduce((sum, other) => sum + other.files, 0);
  if (others.length === 0 || 2 * textBytes < files) return { others, places: new Int32Array() }; // parsing so little text is faster than reading all those hashes
  const input: KnownInput = { segment, edition, others };
  try {
    return {
      others,
      places: await pool.run<KnownOutput>("ingest.known", input, { lane: "ingest" }),
    };
  } catch (error) {
    throwIfStopped();
    // if a thread dies, known symbols are parsed instead of copied
    if (error instanceof QuernError && error.code === "INTERNAL")
      return { others, places: new Int32Array() };
    throw error;
  }
}

/** Returns the ranges of a segment that are not done. */
function rangesOf(
  snapshot: Snapshot,
  { segment, blobs }: Content,
  done: readonly SymbolColumns[],
): Range[] {
  const starts = readBlobs(snapshot, { content: segment, blobs });
  const ranges: Range[] = [];
  let from = 0;
  for (const { firstBlob, states } of [...done, { firstBlob: blobs, states: [] }]) {
    for (let to = from + 1; to <= firstBlob; to++) {
      const bytes = starts[to]! - starts[from]!;
      if (bytes < RANGE_BYTES && to < firstBlob) continue;
      ranges.push({ from, to, bytes });
      from = to;
    }
    from = firstBlob + states.length;
  }
  return ranges;
}

/**
 * Runs `work` for all items, at most `lanes` at a time. Resolves to the results in the order of the items, after all
 * started calls have ended.
 */
async function inParallel<T, O>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<O>,
): Promise<O[]> {
  const outputs: O[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const at = next++;
      try {
        outputs[at] = await work(items[at]!);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (failures.length > 0) throw failures[0];
  return outputs;
}

/**
 * Finds the symbols of a range. If a thread dies, the range is split: before and after the blob that was being parsed,
 * or in two halves if that blob is not known. A blob that kills a thread by itself is given up. Without workers, such a
 * blob kills the process, and an endless parse cannot be stopped.
 */
async function findInRange(pass: SymbolPass, work: Work, range: Stretch): Promise<SymbolsOutput[]> {
  const { segment, others, places } = work;
  const parsing = new Int32Array(new SharedArrayBuffer(4)).fill(NOT_PARSING);
  const run = (isDeadly: boolean) => {
    const input: SymbolsInput = {
      segment: segment.segment,
      edition: segment.symbols,
      next: nextEdition(segment.symbols),
      from: range.from,
      to: range.to,
      others,
      places: places.slice(2 * range.from, 2 * range.to),
      owner: pass.owner,
      isDeadly,
      parsing,
    };
    const maxSilentMs = pass.maxSilentMs ?? MAX_SILENT_MS;
    return pass.pool.run<SymbolsOutput>("ingest.symbols", input, { lane: "ingest", maxSilentMs });
  };
  try {
    return [await run(false)];
  } catch (error) {
    pass.throwIfStopped();
    if (!(error instanceof QuernError && error.code === "INTERNAL")) throw error;
    if (range.to - range.from === 1) return [await run(true)];
    const outputs: SymbolsOutput[] = [];
    for (const part of divide(range, Atomics.load(parsing, 0)))
      outputs.push(...(await findInRange(pass, work, part)));
    return outputs;
  }
}

function divide({ from, to }: Stretch, suspect: number): Stretch[] {
  const middle = (from + to) >>> 1;
  const inside = suspect >= from && suspect < to ? [suspect, suspect + 1] : [middle];
  const ends = [...inside, to];
  return [from, ...inside]
    .map((start, i) => ({ from: start, to: ends[i]! }))
    .filter((part) => part.from < part.to);
}
