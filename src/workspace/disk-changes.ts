/**
 * Makes a source that lists the files of a followed tree that have changed on disk. With this source, an index run
 * brings the index up to date with the tree.
 */

import { compareText } from "../base/compare.ts";
import type { Entry, Listing, Source, SourceOrigin } from "../ingest/sources/source.ts";
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

/** Entries by path. A path whose file was removed has no entry. */
export type Changes = ReadonlyMap<string, DiskEntry | undefined>;

/**
 * Makes the source. If `isWhole` is true, the index run takes `changes` as the list of all files. Otherwise, it takes
 * them as changes to the indexed state. If the host has removed the repository from the index, there is no such state.
 * The run then calls `listAll` and takes its result as the list of all files.
 */
export function diskChanges(
  { name, root, metadata }: Tree,
  {
    changes,
    isWhole,
    listAll,
  }: {
    readonly changes: Changes;
    readonly isWhole: boolean;
    readonly listAll: () => Promise<Changes>;
  },
): Source {
  const origin: SourceOrigin = { folder: root };
  return {
    name,
    metadata,
    origin,
    open: async ({ revisions }): Promise<Listing> => {
      const hasBase = !isWhole && revisions.some((one) => one.name === HEAD);
      const listed = isWhole || hasBase ? changes : await listAll();
      return {
        revisions: [hasBase ? { name: HEAD, base: HEAD } : { name: HEAD }],
        // the history of a work tree is read from this folder
        ...(existsSync(join(root, ".git")) && { gitFolder: root }),
        async *entries() {
          let batch: Entry[] = [];
          // the index has the same order, so each path is found close to the previous one
          const sorted = [...listed].sort(([a], [b]) => compareText(a, b));
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
        hasShortVersions: true,
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
