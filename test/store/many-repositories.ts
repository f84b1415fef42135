/**
 * Makes an index of many small repositories with the engine's own parts, in a few large transactions. An index run
 * publishes each repository separately, which would mean a hundred thousand waits for the disk.
 */

import { pack } from "msgpackr";
import { countBits } from "../../src/base/bitset.ts";
import { bytesOf } from "../../src/base/growable.ts";
import { SegmentSession } from "../../src/ingest/run/segment-session.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import { nextManifest, putManifest, readManifest } from "../../src/store/catalog/manifest.ts";
import { repositoryListOf } from "./repository-lists.ts";
import type { RepositoryRecord } from "../../src/store/format/records.ts";
import {
  HASH_BYTES,
  LAYOUT,
  repositoryKey,
  revisionKey,
  SEGMENT_BYTES,
} from "../../src/store/format/format.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { segmentTarget } from "../../src/store/segments/segment-target.ts";
import type { RevisionSet } from "../../src/store/segments/segment-writer.ts";

/** The number of records in one transaction. */
const BATCH = 5_000;
const SEGMENT = 1;

export const nameOf = (id: number): string => `group-${id % 100}/repository-${id}`;

/**
 * Makes repositories 1 to `count`, each with a file `a.c` that contains `int needle_<id>;`. Those with even numbers are
 * public. The last one has additional files, so that there are `files` in total.
 */
export async function writeManyRepositories(
  path: string,
  count: number,
  files = count,
): Promise<void> {
  const environment = await openStore(path, { readOnly: false });
  try {
    const lease = await acquireLease(environment, { timeoutMs: 0 });
    const session = new SegmentSession((segment, owner) =>
      segmentTarget(environment, segment, owner),
    );
    for (let file = 1; file <= files; file++)
      await session.add(batchOf(Math.min(file, count), file, lease.owner), () => undefined);
    const written = session.finish([])[0]!;
    for (let from = 0; from < count; from += BATCH)
      await environment.write((writer) => {
        for (const set of written.sets.slice(from, from + BATCH)) {
          writer.put(repositoryKey(set.repository), pack(recordOf(set, count)));
          writer.put(revisionKey(set.repository, SEGMENT, 0), bytesOf(set.bits));
        }
      });
    const { segment, textBytes } = written;
    await environment.write((writer) => {
      const manifest = readManifest(writer);
      const change = {
        segments: [{ segment, files: written.files, textBytes, symbols: 0, hasSymbols: false }],
        repositories: repositoryListOf(written.sets.map(({ repository }) => [repository, 1])),
        nextRepository: count + 1,
        nextSegment: SEGMENT + 1,
      };
      putManifest(writer, nextManifest(manifest, change));
    });
    await lease.release();
  } finally {
    await environment.close();
  }
}

const batchOf = (repository: number, file: number, owner: string) => ({
  repository,
  segment: SEGMENT,
  owner,
  layout: LAYOUT,
  maxFileSize: 1 << 20,
  memoryBytes: 1 << 30,
  segmentBytes: SEGMENT_BYTES,
  leastSharedBytes: Infinity,
  files: [
    {
      path: file === repository ? "a.c" : `more/${file}.c`,
      version: new Uint8Array(HASH_BYTES),
      revisions: [0],
      content: { bytes: Buffer.from(`int needle_${file};\n`) },
      known: new Uint8Array(),
    },
  ],
});

/** Returns a repository's record. Repositories with higher numbers have older commit dates. */
function recordOf({ repository: id, bits }: RevisionSet, count: number): RepositoryRecord {
  return {
    id,
    name: nameOf(id),
    metadata: { public: id % 2 === 0, codeHostType: "github" },
    revisions: [
      { number: 0, name: "HEAD", files: countBits(bits), committedAt: 1e12 + (count - id) * 1000 },
    ],
    indexedAt: 1.7e12 + id,
    contentBytes: countBits(bits) * "int needle_1;\n".length,
    segments: [SEGMENT],
  };
}
