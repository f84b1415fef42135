/**
 * Prepares the publication of the changes that an index run has made in a writer's directory. It stores the new
 * objects, and returns the rows to insert into PostgreSQL.
 */

import { unpack } from "msgpackr";
import type { Catalog } from "../catalog/catalog.ts";
import type {
  ShardHead,
  Publication,
  PublishedSegment,
  PublishedSet,
  PublishedState,
} from "../catalog/head.ts";
import type { EndedJob } from "../catalog/jobs.ts";
import { slicesFor } from "../catalog/head.ts";
import { sendExtra, type RepositoryExtra } from "../objects/repository-object.ts";
import { sendSegment, sendSymbols } from "../objects/segment-object.ts";
import type { SegmentStore } from "../objects/segment-store.ts";
import { readManifest, type ManifestSegment } from "../../store/catalog/manifest.ts";
import { repositoryKey, repositoryRanges, skippedKey } from "../../store/format/format.ts";
import type { RepositoryRecord } from "../../store/format/records.ts";
import type { Environment, Snapshot } from "../../store/lmdb/environment.ts";
import { eachOf } from "./each-of.ts";
import { isUnchanged, type Before } from "./bring.ts";
import {
  needsOne,
  putContents,
  readContents,
  reading,
  slicesWithout,
  type Contents,
  type LocalSegment,
} from "./contents.ts";

export interface Publishing {
  readonly environment: Environment;
  readonly store: SegmentStore;
  readonly catalog: Pick<Catalog, "states">;
  /** The head to which the directory was last updated. */
  readonly head: ShardHead;
  /** The keys of damaged objects. The directory lacks the head's segments that need them. */
  readonly without: readonly string[];
  readonly writer: string;
  /** A time of PostgreSQL's clock before the first object is stored. */
  readonly began: string;
  /** The job that ends with the publication. */
  readonly job?: EndedJob | undefined;
  /** The size of a slice, in bytes of text. */
  readonly shardBytes: number;
}

/** A publication, and the record of what the directory holds once it is published. */
export interface Prepared {
  readonly publication: Publication;
  readonly contents: Contents;
}

/** A segment as it is published, and its number in this directory. */
interface Sent {
  readonly here: number;
  readonly published: PublishedSegment;
  readonly isPartial: boolean;
}

/**
 * Prepares a publication. Resolves to undefined if nothing has changed. REQUIRES: nobody writes to the directory during
 * the call.
 */
export async function preparePublication(publishing: Publishing): Promise<Prepared | undefined> {
  const { environment, head, writer, began } = publishing;
  const { shard, generation: before } = head;
  const now = reading(environment, (snapshot) => ({
    contents: readContents(snapshot),
    manifest: readManifest(snapshot),
  }));
  if (isUnchanged(now)) return undefined;
  const sent = await sendSegments(publishing, now);
  const numbers = new Map(sent.map(({ here, published }) => [here, published.segment]));
  const { repositories: here } = now.manifest;
  const changes = here.since(now.contents.here);
  const repositories = now.contents.repositories.with(changes, before + 1);
  const states: PublishedState[] = [];
  await eachOf(changes.arrived, async (id) => {
    states.push(await sendState(publishing, id, numbers));
  });
  const segments = sent.map(({ published }) => published);
  segments.push(...(await stillUsed(publishing, changes, segments)));
  const publication: Publication = {
    shard,
    before,
    writer,
    began,
    segments,
    states,
    repositories,
    nextSegment: Math.max(head.nextSegment, ...segments.map(({ segment }) => segment + 1)),
    slices: slicesFor(segments, publishing.shardBytes),
    removed: changes.gone,
    job: publishing.job,
  };
  const own = slicesWithout(publishing.without, publication.slices);
  const contents: Contents = {
    shards: [own ? [shard, before + 1, own] : [shard, before + 1]],
    segments: sent.map((one) => localOf(shard, one)),
    repositories,
    here,
  };
  return { publication, contents };
}

/**
 * Resolves to the lost segments to which unchanged repositories refer. They stay published until all these repositories
 * are indexed again. Until then, searches count them as missing. A segment that the directory has is not lost, even if
 * its object is in `without`: if an index run makes an equal segment again, its object has the same key.
 */
async function stillUsed(
  { catalog, head, without }: Publishing,
  { arrived, gone }: { readonly arrived: readonly number[]; readonly gone: readonly number[] },
  present: readonly PublishedSegment[],
): Promise<PublishedSegment[]> {
  const here = new Set(present.map(({ segment }) => segment));
  const lost = head.segments.filter((one) => needsOne(one, without) && !here.has(one.segment));
  if (lost.length === 0) return [];
  const changed = new Set([...arrived, ...gone]);
  const pairs = Array.from(head.repositories.ids)
    .filter((id) => !changed.has(id))
    .map((id) => [id, head.repositories.get(id)!] as const);
  const used = new Set<number>();
  for await (const states of catalog.states(pairs, { hasExtra: false }))
    for (const { record } of states) for (const segment of record.segments) used.add(segment);
  return lost.filter(({ segment }) => used.has(segment));
}

/** Stores the objects of new segments and new symbols. New segments get the next numbers of the shard. */
async function sendSegments(publishing: Publishing, now: Before): Promise<Sent[]> {
  const known = new Map(now.contents.segments.map((one) => [one.here, one]));
  let next = publishing.head.nextSegment;
  const sent: Sent[] = [];
  for (const one of now.manifest.segments) {
    const before = known.get(one.segment);
    const segment = before?.segment ?? next++;
    const objects = await sendIfNew(publishing, one, before);
    const { files, textBytes, symbols, hasSymbols } = one;
    const published = { ...objects, segment, files, textBytes, symbols, hasSymbols };
    sent.push({ here: one.segment, published, isPartial: before?.isPartial ?? false });
  }
  return sent;
}

/**
 * Records that the directory holds the published state. REQUIRES: the publication has succeeded, and nothing was
 * written to the directory since it was prepared.
 */
export const recordPublication = (
  environment: Environment,
  { contents }: Pick<Prepared, "contents">,
): Promise<void> => environment.write((writer) => putContents(writer, contents));

async function sendIfNew(
  { environment, store }: Publishing,
  { segment, content, symbols: edition }: ManifestSegment,
  known: LocalSegment | undefined,
): Promise<Pick<PublishedSegment, "object" | "bytes" | "symbolsObject">> {
  const object = known
    ? { object: known.object, bytes: known.bytes }
    : await sendSegment(environment, segment, store).then(({ key, bytes }) => ({
        object: key,
        bytes,
      }));
  if (edition === 0) return { ...object, symbolsObject: undefined };
  if (known?.symbols === edition) return { ...object, symbolsObject: known.symbolsObject };
  const { key } = await sendSymbols(environment, { segment: content ?? segment, edition }, store);
  return { ...object, symbolsObject: key };
}

function localOf(shard: number, { here, published, isPartial }: Sent): LocalSegment {
  const { segment, object, bytes, symbols, symbolsObject } = published;
  return { shard, segment, here, object, bytes, symbols, symbolsObject, isPartial };
}

/** Stores the data of a repository. `numbers` maps the local numbers of segments to their numbers in the shard. */
async function sendState(
  { environment, store, head }: Publishing,
  repository: number,
  numbers: ReadonlyMap<number, number>,
): Promise<PublishedState> {
  const read = reading(environment, (snapshot) => readState(snapshot, repository, numbers));
  const { record, sets, ...extra } = read;
  const changed = head.generation + 1;
  return { repository, changed, record, sets, extra: await sendExtra(extra, store) };
}

/** The byte offsets of the segment's number and the revision's number in the keys of tables 3 and 4. */
const SEGMENT_AT = 5;
const REVISION_AT = 9;

function readState(
  snapshot: Snapshot,
  repository: number,
  numbers: ReadonlyMap<number, number>,
): Pick<PublishedState, "record" | "sets"> & RepositoryExtra {
  const what = `the record of repository ${repository}`;
  const copy = (key: Buffer): Uint8Array => Uint8Array.from(snapshot.get(key, what)!);
  const [, , ofSets, ofVersions] = repositoryRanges(repository);
  const entriesOf = (range: [Buffer, Buffer]) =>
    Array.from(snapshot.keys(range), (key) => Buffer.from(key)).flatMap((key) => {
      const segment = numbers.get(key.readUInt32BE(SEGMENT_AT));
      return segment === undefined ? [] : [{ key, segment }]; // belongs to a segment that is retired
    });
  const record = unpack(copy(repositoryKey(repository))) as RepositoryRecord;
  const skipped = snapshot.get(skippedKey(repository), what);
  return {
    record: { ...record, segments: record.segments.map((here) => numbers.get(here)!) },
    skipped: skipped && Uint8Array.from(skipped),
    sets: entriesOf(ofSets!).map(({ key, segment }): PublishedSet => [
      segment,
      key.readUInt16BE(REVISION_AT),
      copy(key),
    ]),
    versions: entriesOf(ofVersions!).map(({ key, segment }) => [segment, copy(key)] as const),
  };
}
