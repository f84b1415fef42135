/**
 * Checks everything in an index: every seal, the rules of every table, every posting list, and the hash of every text.
 * Checking only the seals would not be enough. If LMDB's tree is damaged, LMDB may return an older value of a key, and
 * the seal of this older value is valid. Reading a damaged page can end the process, so engines run the check in a
 * child process (check-process.ts).
 */

import { createHash } from "node:crypto";
import { QuernError } from "../../base/errors.ts";
import { Arena } from "../../kernel/arena.ts";
import { createKernel } from "../../kernel/kernel.ts";
import { loadCatalog, readSkipped, type Catalog } from "../catalog/catalog.ts";
import { openUnderLock, type Environment, type Snapshot } from "../lmdb/environment.ts";
import { engineKey, HASH_BYTES, NO_BLOB } from "../format/format.ts";
import { readVersions } from "../segments/file-versions.ts";
import { blobLanguage, openSegment, type SegmentReader } from "../segments/segment-reader.ts";
import { HEADER_COPIES, readHeaderCopy } from "../segments/segment-tables.ts";
import type { ManifestSegment } from "../catalog/manifest.ts";
import { pagesOfList } from "../segments/posting-bits.ts";
import type { PostingsReader } from "../segments/postings.ts";
import { openHistorySegment } from "../history/history-reader.ts";
import { openSymbols } from "../symbols/symbols.ts";
import { entriesOf } from "../words/merged-words.ts";
import { openWords } from "../words/word-lists.ts";

/**
 * The result of check().
 *
 * @example
 * const { ok, problems } = await engine.check();
 * if (!ok) console.error(problems.map(({ message }) => message).join("\n"));
 */
export interface CheckReport {
  /** True if the check found no problem. */
  ok: boolean;
  /** The number of segments that were read. */
  segments: number;
  /** The number of files in the segments. */
  files: number;
  /** The number of bytes of text in the segments. Text that several segments share counts once. */
  bytes: number;
  /** The damage that the check found. */
  problems: CheckProblem[];
}

/**
 * Damage at one place of the index.
 *
 * @example
 * const show = ({ segment, repository, message }: CheckProblem): string =>
 *   `${repository ?? `segment ${segment}`}: ${message}`;
 */
export interface CheckProblem {
  /** The id of the segment, if the damage is in a segment. */
  segment?: number;
  /** The name of the repository, if the damage is in a repository's record. */
  repository?: string;
  /** A message to display to people. */
  message: string;
}

/** Checks a data directory. If the directory cannot be opened, the report says so in a problem. */
export async function checkDirectory(path: string): Promise<CheckReport> {
  try {
    const environment = await openUnderLock(path, { readOnly: true });
    const report = await checkEnvironment(environment);
    await environment.close();
    return report;
  } catch (error) {
    if (!(error instanceof QuernError)) throw error;
    return { ok: false, segments: 0, files: 0, bytes: 0, problems: [{ message: error.message }] };
  }
}

/** Checks an open environment. Ignores values that an interrupted run has left. */
export async function checkEnvironment(environment: Environment): Promise<CheckReport> {
  const report: CheckReport = { ok: true, segments: 0, files: 0, bytes: 0, problems: [] };
  const snapshot = environment.snapshot();
  try {
    await attempt(report, {}, () => snapshot.get(engineKey("format"), "the format version"));
    await attempt(report, {}, async () => {
      const catalog = await loadCatalog(snapshot, undefined, () => undefined);
      await checkCatalog(snapshot, catalog, report);
    });
  } finally {
    snapshot.close();
  }
  report.ok = report.problems.length === 0;
  return report;
}

type Where = Omit<CheckProblem, "message">;

async function attempt(report: CheckReport, where: Where, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof QuernError)) throw error;
    report.problems.push({ ...where, message: error.message });
  }
}

/** Checks the segments and repositories. The records and the revision sets were checked when the catalog was loaded. */
async function checkCatalog(
  snapshot: Snapshot,
  { manifest, repositories }: Catalog,
  report: CheckReport,
): Promise<void> {
  const checked = new Map<number, string[]>(); // content that several segments share is checked once
  for (const one of manifest.segments)
    await attempt(report, { segment: one.segment }, () =>
      checkSegment(snapshot, one, { report, checked }),
    );
  for (const { segment } of manifest.history)
    await attempt(report, { segment }, () => checkHistory(snapshot, segment, report));
  for (const [id, { record, places }] of repositories) {
    const where = { repository: record.name };
    await attempt(report, where, () => readSkipped(snapshot, id, () => undefined));
    for (const place of places)
      await attempt(report, where, () => readVersions(snapshot, { ...place, repository: id }));
  }
}

function checkSegment(
  snapshot: Snapshot,
  { segment, symbols, hasSymbols, words = 0 }: ManifestSegment,
  { report, checked }: { readonly report: CheckReport; readonly checked: Map<number, string[]> },
): void {
  const reader = openSegment(snapshot, segment);
  if (!reader) throw new QuernError("INDEX_CORRUPT", "the segment is missing");
  for (const copy of HEADER_COPIES)
    if (!readHeaderCopy(snapshot, segment, copy))
      throw new QuernError("INDEX_CORRUPT", "a copy of the segment's header is missing");
  report.segments++;
  report.files += reader.header.files;
  reader.paths(snapshot); // opening the segment has read its other tables
  const { content } = reader.header;
  const known = checked.get(content);
  const languages = known ?? languagesOf(snapshot, content);
  checkLanguages(reader, languages);
  if (known) return;
  checked.set(content, languages);
  report.bytes += reader.header.textBytes;
  checkLists(snapshot, reader.postings, { of: "text", pages: reader.header.pages });
  checkTexts(snapshot, reader);
  if (symbols > 0) checkSymbols(snapshot, reader, { symbols, hasSymbols, languages });
  if (words > 0) checkWords(snapshot, reader, words);
}

/** Reads everything in a history segment, and compares its two tables of lines. */
function checkHistory(snapshot: Snapshot, segment: number, report: CheckReport): void {
  const reader = openHistorySegment(snapshot, segment);
  if (!reader) throw new QuernError("INDEX_CORRUPT", "the history segment is missing");
  report.segments++;
  report.bytes += reader.text.header.textBytes;
  checkLists(snapshot, reader.text.postings, { of: "text", pages: reader.text.header.pages });
  checkTexts(snapshot, reader.text);
  reader.people(snapshot);
  reader.paths(snapshot);
  const { changes, lines } = reader.header;
  // the number of lines that each change adds and removes, by both tables
  const [added, removed] = [new Float64Array(changes), new Float64Array(changes)];
  const all = Uint32Array.from({ length: lines }, (_, line) => line);
  reader.forEachEvent(snapshot, all, (_, change, plus, minus) => {
    added[change]! += plus;
    removed[change]! += minus;
  });
  for (let change = 0; change < changes; change++)
    for (const run of reader.runs(snapshot, change)) {
      added[change]! -= run.added.length;
      removed[change]! -= run.removed.length;
    }
  if ([added, removed].some((counts) => counts.some((count) => count !== 0)))
    throw new QuernError("INDEX_CORRUPT", "the changes of the history disagree with its lines");
}

/** Returns the language of each blob of a segment that stores its content. */
function languagesOf(snapshot: Snapshot, segment: number): string[] {
  const reader = openSegment(snapshot, segment);
  if (!reader) throw new QuernError("INDEX_CORRUPT", `segment ${segment}, the lender, is missing`);
  const { blobFileStarts, header } = reader;
  return Array.from({ length: header.blobs }, (_, blob) => {
    if (blobFileStarts[blob] === blobFileStarts[blob + 1])
      throw new QuernError("INDEX_CORRUPT", `text ${blob} of the segment has no file`);
    return blobLanguage(reader, blob);
  });
}

function checkLanguages({ header, files }: SegmentReader, languages: readonly string[]): void {
  files.blobs.forEach((blob, file) => {
    if (blob !== NO_BLOB && header.languages[files.languages[file]!] !== languages[blob])
      throw new QuernError("INDEX_CORRUPT", `text ${blob} of the segment has several languages`);
  });
}

function checkLists(
  snapshot: Snapshot,
  lists: PostingsReader,
  { of, pages }: { of: string; pages: number },
): void {
  const kernel = createKernel();
  const arena = new Arena(kernel);
  for (const { gram, list } of lists.all(snapshot))
    if (!pagesOfList(list, pages, { kernel, arena }))
      throw new QuernError(
        "INDEX_CORRUPT",
        `the posting list of gram ${gram} of the ${of} violates the format`,
      );
}

function checkTexts(snapshot: Snapshot, reader: SegmentReader): void {
  const hashes = reader.hashes(snapshot);
  for (let blob = 0; blob < reader.header.blobs; blob++) {
    const hash = createHash("sha256").update(reader.blobText(snapshot, blob)).digest();
    const own = hashes.subarray(HASH_BYTES * blob, HASH_BYTES * (blob + 1));
    if (Buffer.compare(hash.subarray(0, HASH_BYTES), own) !== 0)
      throw new QuernError(
        "INDEX_CORRUPT",
        `text ${blob} of the segment differs from what was indexed`,
      );
  }
}

function checkSymbols(
  snapshot: Snapshot,
  { header, blobStarts }: SegmentReader,
  {
    symbols,
    hasSymbols,
    languages,
  }: Pick<ManifestSegment, "symbols" | "hasSymbols"> & { readonly languages: readonly string[] },
): void {
  const reader = openSymbols(snapshot, header.content, symbols);
  if (!reader) throw new QuernError("INDEX_CORRUPT", "the segment's symbols are missing");
  if (reader.names) checkLists(snapshot, reader.names, { of: "names", pages: header.pages });
  const counted = { symbols: 0, unknown: 0 };
  for (let blob = 0; blob < header.blobs; blob++) {
    const textBytes = blobStarts[blob + 1]! - blobStarts[blob]!;
    counted.symbols += reader.definitions(snapshot, blob, textBytes).count;
    const origin = reader.origin(blob);
    if (!origin) counted.unknown++;
    else if (origin.language !== languages[blob])
      throw new QuernError("INDEX_CORRUPT", `the symbols of text ${blob} are of another language`);
  }
  const { header: stored } = reader;
  const isSound =
    stored.blobs === header.blobs &&
    stored.symbols === counted.symbols &&
    stored.unknown === counted.unknown &&
    hasSymbols === (counted.unknown === 0);
  if (!isSound)
    throw new QuernError("INDEX_CORRUPT", "the counts of the segment's symbols are wrong");
}

function checkWords(snapshot: Snapshot, { header }: SegmentReader, version: number): void {
  const { content: segment, blobs } = header;
  const words = openWords(snapshot, { segment, version });
  if (!words) throw new QuernError("INDEX_CORRUPT", "the segment's word lists are missing");
  let [stems, previous] = [0, ""];
  for (const [stem, list] of words.all(snapshot)) {
    const isAscending = stems === 0 || stem > previous;
    const last = [...entriesOf(list)].at(-1)?.[0] ?? blobs;
    if (!isAscending || last >= blobs)
      throw new QuernError("INDEX_CORRUPT", `the word list of "${stem}" violates the format`);
    [stems, previous] = [stems + 1, stem];
  }
  if (stems !== words.header.stems || blobs !== words.header.blobs)
    throw new QuernError("INDEX_CORRUPT", "the counts of the segment's word lists are wrong");
}
