/**
 * Finds the symbols of every segment that lacks some. These are new segments, segments that an interrupted run left
 * unfinished, and segments with languages whose grammars were updated. The threads work on ranges of a segment's
 * blobs. The result of a range is stored when the range is done, so it survives even if the process is killed.
 * Searches use the previous edition until a transaction completes the new one (edition-task.ts).
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

/**
 * The approximate amount of text in one range, in bytes. Parsing it takes about 0.2 s, and an abort may take as long.
 */
const RANGE_BYTES = 2 ** 20;
const MIB = 2 ** 20;
/**
 * The memory that a thread uses after it has parsed many languages. It then has up to ten grammars, each with its own
 * memory.
 */
const GRAMMARS_BYTES = 100 * MIB;
/**
 * The maximum time in which a thread may report nothing. A parser gives up after 3 s of processor time or 30 s of
 * wall-clock time. So a thread that reports nothing for longer is in an endless loop.
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
  /** Called before the first segment is processed, if any segment lacks symbols. */
  readonly onPending?: () => Promise<void>;
  readonly onWarning: (warning: { code: string; message: string }) => void;
  /** The maximum time in which a thread may report nothing. Default MAX_SILENT_MS. */
  readonly maxSilentMs?: number;
  /**
   * Fetches the missing parts of segments. In a directory of a cluster, a segment may have only its tables and the
   * header of its symbols. Resolves to all segments that are still incomplete. Absent if segments are always complete.
   */
  readonly complete?: (segments: readonly number[]) => Promise<ReadonlySet<number>> | undefined;
}

/**
 * Finds all missing symbols. Resolves to the results for each repository, by repository id. REQUIRES: the lease is
 * held.
 */
export async function findSymbols(given: SymbolPass): Promise<Map<number, FoundSymbols>> {
  const pass = { ...given, pool: fewerThreads(given.pool, threadsFor(given)) };
  const pending = await pendingSegments(pass);
  if (pending.length > 0) await pass.onPending?.();
  const partial = await pass.complete?.(pending.map(({ segment }) => segment.segment));
  const found = new Map<number, FoundSymbols>();
  const progress = progressOf(pass, pending);
  // several segments are processed at once, because a small segment does not keep all threads busy
  await inParallel(pending, pass.pool.lanes, async (one) => {
    pass.throwIfStopped();
    // the symbols of a segment are added after their publication, so that only stored symbols count
    for (const part of await findInSegment({ ...pass, partial }, one, progress))
      addFound(found, part);
  });
  for (const { withoutSymbols } of found.values())
    withoutSymbols.sort((a, b) => compareText(a.path, b.path));
  return found;
}

interface Searching extends SymbolPass {
  /** The segments whose symbols are not in the directory, except for their header. */
  readonly partial: ReadonlySet<number> | undefined;
}

/** The results for each repository, by repository id. */
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
 * Returns the number of threads that may parse within the promised memory. docs/limits.md promises that a run takes
 * at most 40 MiB per thread and 1.3 times the memory budget, in addition to the process itself.
 */
function threadsFor({ pool, memoryBudget }: SymbolPass): number {
  const allowed = 40 * MIB * pool.lanes + 1.3 * memoryBudget;
  return Math.min(pool.lanes, Math.max(1, Math.floor(allowed / GRAMMARS_BYTES)));
}

/**
 * Returns a pool that uses only the first `lanes` threads of `pool`. The other threads parse nothing, and so load no
 * grammars.
 */
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

/**
 * The content of one or more segments. `segment` is the segment that stores the content, even if that segment has no
 * live file.
 */
interface Content extends Pick<
  ManifestSegment,
  "segment" | "textBytes" | "symbols" | "hasSymbols"
> {
  readonly blobs: number;
}

/** Returns the contents of all segments. A content that several segments share is listed once. */
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
  /** The ranges of the next edition that an interrupted run has completed. */
  readonly done: readonly SymbolColumns[];
  readonly ranges: readonly Range[];
}

/**
 * Resolves to the segments that lack symbols. Deletes the symbols of old editions, and the data that unfinished
 * ranges have left behind.
 */
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

/**
 * Returns a function that reports the progress when a range is done. Progress is counted in blobs and not in files,
 * because content that several files share is parsed only once.
 */
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
 * Finds and publishes the symbols of one segment. Resolves to the results of each range. If the segment as a whole is
 * damaged, nothing is published, and the result lists the segment's files as damaged.
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

/**
 * Returns the files of a damaged segment that would have symbols. Returns no files if the segment's tables cannot be
 * read.
 */
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
    .filter((other) => partial?.has(other.segment) !== true) // parsing is cheaper than fetching symbols
    .map((other) => ({ segment: other.segment, edition: other.symbols }));
  const files = catalog.manifest.segments.reduce((sum, other) => sum + other.files, 0);
  // parsing so little text is faster than reading the hashes of all segments
  if (others.length === 0 || 2 * textBytes < files) return { others, places: new Int32Array() };
  const input: KnownInput = { segment, edition, others };
  try {
    return {
      others,
      places: await pool.run<KnownOutput>("ingest.known", input, { lane: "ingest" }),
    };
  } catch (error) {
    throwIfStopped();
    // if the thread has died, all blobs are parsed, and no symbols are copied
    if (error instanceof QuernError && error.code === "INTERNAL")
      return { others, places: new Int32Array() };
    throw error;
  }
}

/** Returns the ranges of a segment that are not yet done. */
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
 * Calls `work` for each item, with at most `lanes` calls at a time. Resolves to the results, in the order of the
 * items. If a call fails, no further call is started. Rejects with the first failure when all started calls have
 * ended.
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
 * Finds the symbols of a range. If the thread dies, the range is divided into smaller ones, which are tried again.
 * One of them is the blob that was being parsed. If that blob is not known, the range is halved. A blob that is alone
 * in its range and kills the thread gets no symbols. Without workers, such a blob kills the process, and an endless
 * parse cannot be stopped.
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
