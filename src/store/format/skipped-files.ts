/**
 * Encodes and decodes the list of a repository's skipped files, which are listed but not searchable:
 *
 *     value := length record reasons revisions starts paths      see columns.ts
 *
 * The record has `files`, the number of skipped files, and `revisions`, the names of their revisions. The reason of a
 * file is an index in SKIP_REASONS (u8). The revision of a file is an index in the record's `revisions` (u32). `starts`
 * has the offset of each path, followed by the end of the last path (u32).
 */

import { bytesOf, GrowableBytes } from "../../base/growable.ts";
import type { Pause } from "../../base/yield.ts";
import { decodeRecord, encodeRecord } from "./columns.ts";
import { SKIP_REASONS, type SkippedFile } from "./records.ts";
import { corrupt, isCount } from "./sealed.ts";

interface SkippedRecord {
  readonly files: number;
  readonly revisions: readonly string[];
}

/** The number of files that are processed between two pauses, which takes about 0.1 ms. */
const FILES_PER_PAUSE = 256;

/** Encodes the list. Returns the parts of the value, which have to be written one after another. */
export async function encodeSkipped(
  skipped: readonly SkippedFile[],
  pause: Pause,
): Promise<Uint8Array[]> {
  const numbers = new Map<string, number>();
  const reasons = new Uint8Array(skipped.length);
  const revisions = new Uint32Array(skipped.length);
  const starts = new Uint32Array(skipped.length + 1);
  const paths = new GrowableBytes();
  for (const [i, { path, revision, reason }] of skipped.entries()) {
    if (i % FILES_PER_PAUSE === 0) await pause();
    if (!numbers.has(revision)) numbers.set(revision, numbers.size);
    reasons[i] = SKIP_REASONS.indexOf(reason);
    revisions[i] = numbers.get(revision)!;
    paths.push(Buffer.from(path));
    starts[i + 1] = paths.length;
  }
  const record: SkippedRecord = { files: skipped.length, revisions: [...numbers.keys()] };
  return [...encodeRecord(record), reasons, bytesOf(revisions), bytesOf(starts), paths.view];
}

/**
 * Decodes the list. Copies everything it needs before the first pause, because other reads may overwrite `value` during
 * a pause.
 */
export async function decodeSkipped(
  value: Uint8Array,
  what: string,
  pause: Pause,
): Promise<SkippedFile[]> {
  const { record, columns } = decodeRecord<SkippedRecord>(value, what, isSkippedRecord);
  const { files, revisions: names } = record;
  const reasons = columns.bytes(files);
  const revisions = columns.words(files);
  const starts = columns.words(files + 1);
  const paths = Buffer.from(columns.bytes(starts[files]!).buffer);
  columns.end();
  const skipped: SkippedFile[] = [];
  for (let i = 0; i < files; i++) {
    if (i % FILES_PER_PAUSE === 0) await pause();
    const [reason, revision] = [SKIP_REASONS[reasons[i]!], names[revisions[i]!]];
    if (reason === undefined || revision === undefined || starts[i]! > starts[i + 1]!)
      throw corrupt(what);
    skipped.push({ path: paths.toString("utf8", starts[i], starts[i + 1]), revision, reason });
  }
  return skipped;
}

const isSkippedRecord = ({ files, revisions }: Readonly<Record<string, unknown>>): boolean =>
  isCount(files) &&
  Array.isArray(revisions) &&
  revisions.every((revision) => typeof revision === "string");
