/** Files that have changed on the disk, as a source: what the index lacks of a tree that is followed. */

import type { Entry, Source, SourceOrigin } from "../ingest/sources/source.ts";
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
 * `isWhole`: the changes are all files there are. Else they come on top of what is indexed; without an
 * index of that name they are all there is as well.
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
    open: async ({ revisions }) => {
      const hasBase = !isWhole && revisions.some((one) => one.name === HEAD);
      return {
        revisions: [hasBase ? { name: HEAD, base: HEAD } : { name: HEAD }],
        // a work tree has a history
        ...(existsSync(join(root, ".git")) && { gitFolder: root }),
        async *entries() {
          let batch: Entry[] = [];
          for (const [path, entry] of changes) {
            if (entry) batch.push(entryOf(root, path, entry));
            else if (hasBase) batch.push({ kind: "removed", path, revisions: REVISIONS });
            if (batch.length < BATCH) continue;
            yield batch;
            batch = [];
          }
          yield batch;
        },
        close: async () => {},
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
