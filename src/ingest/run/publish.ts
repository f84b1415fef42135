/** Publishes repositories. One transaction makes the whole new state of a repository visible to searches. */

import { pack } from "msgpackr";
import { countBits, isEmpty, subtract } from "../../base/bitset.ts";
import { bytesOf } from "../../base/growable.ts";
import { QuernError } from "../../base/errors.ts";
import type { Pause } from "../../base/yield.ts";
import type { Writer } from "../../store/lmdb/environment.ts";
import {
  repositoryKey,
  repositoryRanges,
  revisionKey,
  skippedKey,
  versionsKey,
} from "../../store/format/format.ts";
import { encodeSkipped } from "../../store/format/skipped-files.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import {
  contentOf,
  nextManifest,
  putManifest,
  readManifest,
  withRepositories,
  type Manifest,
  type ManifestSegment,
} from "../../store/catalog/manifest.ts";
import { encodeVersions } from "../../store/segments/file-versions.ts";
import type { HistoryRecord, RepositoryRecord, SkippedFile } from "../../store/format/records.ts";
import type { HistoryLimits } from "../sources/source.ts";
import type { RepositoryRun } from "./repository-run.ts";

export interface Publication {
  readonly run: RepositoryRun;
  readonly summary: Summary;
  readonly owner: string;
  /**
   * The segments that were written since the last publication, whether or not they contain files of this repository.
   */
  readonly segments: readonly ManifestSegment[];
  readonly nextSegment: number;
}

/**
 * Publishes a repository. REQUIRES: the call is within Environment.write(), and all segments with the repository's
 * files are written.
 */
export function publishRepository(
  writer: Writer,
  { run, summary, owner, segments, nextSegment }: Publication,
): void {
  checkLease(writer, owner);
  const manifest = readManifest(writer);
  putSets(writer, run);
  const { record, skipped, packedSkipped } = summary;
  writer.put(repositoryKey(run.id), pack(record));
  if (skipped.length > 0) writer.put(skippedKey(run.id), ...packedSkipped);
  else writer.remove(skippedKey(run.id));
  const change = {
    segments: [...manifest.segments, ...segments.map((one) => withSymbols(one, manifest))],
    repositories: withRepositories(manifest, [run.id]),
    nextRepository: Math.max(manifest.nextRepository, run.id + 1),
    nextSegment: Math.max(manifest.nextSegment, nextSegment),
  };
  putManifest(writer, nextManifest(manifest, change));
}

/** Returns the segment, with the symbols of its lender if the segment borrows content. */
export function withSymbols(segment: ManifestSegment, { segments }: Manifest): ManifestSegment {
  if (segment.content === undefined) return segment;
  const lender = segments.find((one) => contentOf(one) === segment.content);
  if (!lender) throw new QuernError("INTERNAL", `segment ${segment.content} is gone`);
  const { symbols, hasSymbols, words } = lender;
  return { ...segment, symbols, hasSymbols, words };
}

/**
 * Writes the revision sets, and the versions that have changed. Removes the old sets that are empty now or whose
 * revisions no longer exist.
 */
function putSets(writer: Writer, run: RepositoryRun): void {
  run.finder.places.forEach(({ segment }, place) => {
    for (const { number } of run.target.known!.record.revisions)
      writer.remove(revisionKey(run.id, segment, number));
    run.sets[place]!.forEach((bits, revision) => {
      if (!isEmpty(bits))
        writer.put(revisionKey(run.id, segment, run.revisions[revision]!.number), bytesOf(bits));
    });
    if (run.reversioned.has(place))
      writer.put(versionsKey(run.id, segment), encodeVersions(run.finder.versions(place)));
  });
  for (const { segment, revision, bits } of run.newSets)
    writer.put(revisionKey(run.id, segment, revision), bytesOf(bits));
}

export interface Summary {
  readonly record: RepositoryRecord;
  readonly skipped: readonly SkippedFile[];
  /** The skipped files, encoded for the store. */
  readonly packedSkipped: readonly Uint8Array[];
  /**
   * The number of searchable files that were in no revision before the run, but are in one now. `removed` counts
   * files that are no longer in any revision, and `unchanged` counts files that were and still are in a revision.
   */
  readonly added: number;
  readonly removed: number;
  readonly unchanged: number;
}

/**
 * Summarizes the run of a repository. This function runs before the transaction, because it visits every file and
 * pauses now and then. REQUIRES: the run is complete.
 */
export async function summarize(
  run: RepositoryRun,
  maxFileSize: number,
  pause: Pause,
): Promise<Summary> {
  let [added, removed, unchanged, contentBytes] = [run.added, 0, 0, run.newTextBytes];
  const segments = new Set<number>();
  for (const [place, { segment }] of run.finder.places.entries()) {
    await pause();
    const { before, after } = run.live(place);
    if (!isEmpty(after)) segments.add(segment);
    contentBytes += run.finder.contentBytes(place, after);
    const [had, has] = [run.finder.searchable(place, before), run.finder.searchable(place, after)];
    const gone = countBits(subtract(had.slice(), has));
    removed += gone;
    unchanged += countBits(had) - gone;
    added += countBits(subtract(has, had));
  }
  for (const { segment } of run.newSets) segments.add(segment);
  await pause();
  const skipped = await run.skipped(pause);
  const unread = skipped.flatMap((one) => (one.reason === "unreadable" ? one.revision : []));
  const record = {
    ...recordOf(run),
    maxFileSize,
    unread: [...new Set(unread)],
    contentBytes,
    segments: [...segments],
  };
  const packedSkipped = await encodeSkipped(skipped, pause);
  return { record, skipped, packedSkipped, added, removed, unchanged };
}

function recordOf(
  run: RepositoryRun,
): Omit<RepositoryRecord, "contentBytes" | "segments" | "maxFileSize" | "unread"> {
  return {
    id: run.id,
    name: run.target.name,
    metadata: run.target.metadata,
    ...(run.target.origin && { origin: run.target.origin }),
    revisions: run.revisions.map(({ number, name, commit, committedAt }, i) => ({
      number,
      name,
      ...(commit === undefined ? {} : { commit }),
      ...(committedAt === undefined ? {} : { committedAt: committedAt.getTime() }),
      files: run.filesOf(i),
    })),
    indexedAt: Date.now(),
    ...(run.gitFolder === undefined ? {} : { gitFolder: run.gitFolder }),
    ...(run.target.history && {
      history: historyOf(run.target.history, run.target.known?.record.history),
    }),
  };
}

/** Returns the record of a history to index. Keeps what is indexed, unless the limits have changed. */
function historyOf(
  { since, commits }: HistoryLimits,
  before: HistoryRecord | undefined,
): HistoryRecord {
  const limits = {
    ...(since !== undefined && { since }),
    ...(commits !== undefined && { commits }),
  };
  if (!before) return { ...limits, tips: [] };
  const isSame = before.since === since && before.commits === commits;
  return isSame ? before : { ...limits, tips: [], isStale: true };
}

/** Removes a repository. Its files stay in their segments until the next merge. */
export function removeRepository(writer: Writer, repository: number, owner: string): void {
  checkLease(writer, owner);
  const manifest = readManifest(writer);
  for (const range of repositoryRanges(repository))
    for (const key of writer.keys(range)) writer.remove(key);
  const gone = manifest.history.filter((one) => one.repository === repository);
  const retired = { at: Date.now(), generation: manifest.generation + 1 };
  putManifest(
    writer,
    nextManifest(manifest, {
      repositories: manifest.repositories.with({ gone: [repository] }),
      history: manifest.history.filter((one) => one.repository !== repository),
      retired: [...manifest.retired, ...gone.map(({ segment }) => ({ segment, ...retired }))],
    }),
  );
}
