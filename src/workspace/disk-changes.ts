/** Makes a source that lists the files that have changed on disk, so that the index catches up with a followed tree. */

import { compareText } from "../base/compare.ts";
import type { Entry, Source, SourceOrigin } from "../ingest/sources/source.ts";
import { DISK_VERSIONS, type DiskListing } from "../ingest/sources/walk.ts";
import type { RepositoryMetadata } from "../store/format/records.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DiskEntry } from "./disk-tree.ts";

export interface Tree {
  readonly name: string;
  readonly root: string;
  readonly metadata: RepositoryMetadata;
}

const HEAD = "HEAD";
const REVISIONS = [0] as const;
const BATCH = 256;

/**
 * Makes the source. With `isWhole`, or if no index of this name exists yet, the source lists all files. Otherwise it
 * lists changes to the indexed state.
 */
export function diskChanges(
  { name, root, metadata }: Tree,
  changes: ReadonlyMap<string, DiskEntry | undefined>,
  isWhole: boolean,
): Source {
  const origin: SourceOrigin = { folder: root };
  return {
    name,
    metadata,
    origin,
    open: async ({ revisions }): Promise<DiskListing> => {
      const hasBase = !isWhole && revisions.some((one) => one.name === HEAD);
      return {
        revisions: [hasBase ? { name: HEAD, base: HEAD } : { name: HEAD }],
        // a work tree needs this for its history
        ...(existsSync(join(root, ".git")) && { gitFolder: root }),
        async *entries() {
          let batch: Entry[] = [];
          // the index is in this order, so each path is found close to the one before
          const sorted = [...changes].sort(([a], [b]) => compareText(a, b));
          for (const [path, entry] of sorted) {
            if (entry) batch.push(entryOf(root, path, entry));
            else if (hasBase) batch.push({ kind: "removed", path, revisions: REVISIONS });
            if (batch.length < BATCH) continue;
            yield batch;
            batch = [];
          }
          yield batch;
        },
        close: async () => {},
        [DISK_VERSIONS]: true,
      };
    },
  };
}

function entryOf(root: string, path: string, entry: DiskEntry): Entry {
  if (entry.kind === "skipped")
    return { kind: "skipped", path, revisions: REVISIONS, reason: entry.reason };
  const { version, size } = entry;
  return {
    kind: "file",
    path,
    revisions: REVISIONS,
    ...(version === undefined ? {} : { version }),
    size,
    content: { file: join(root, path), isPinned: true },
  };
}
