/**
 * Reads the repositories of an index of an older format version, so that they can be indexed again, and puts such an
 * index aside. The records of repositories have been MessagePack maps with a name and an origin in every version.
 * Everything else may differ, so no version is converted.
 */

import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { unpack } from "msgpackr";
import { readVersion } from "../catalog/open.ts";
import { FORMAT_VERSION, repositoryKey, skippedKey } from "../format/format.ts";
import type { RepositoryRecord } from "../format/records.ts";
import { DATA_FILE, openUnderLock } from "../lmdb/environment.ts";

/** The folder of an index that was put aside, in its data directory. */
const ASIDE = /^\.format-(\d+)$/;
/** What an index consists of. Stores of keys and clones have other names. */
const FILES = [DATA_FILE, "text"];

export interface OldIndex {
  readonly version: number;
  /** The records that can be read, by the repositories' numbers. */
  readonly repositories: readonly OldRepository[];
}

/** The part of a record that every version has. */
export type OldRepository = Pick<RepositoryRecord, "name" | "metadata"> & Partial<RepositoryRecord>;

/**
 * Resolves to the index of another version that is in a data directory, or that was put aside there. Resolves to
 * undefined if there is none.
 */
export async function readOldIndex(directory: string): Promise<OldIndex | undefined> {
  const folder = asideIn(directory) ?? directory;
  if (!existsSync(join(folder, DATA_FILE))) return undefined;
  const environment = await openUnderLock(folder, { readOnly: true });
  const snapshot = environment.snapshot();
  try {
    const version = readVersion(environment);
    if (version === undefined || version === FORMAT_VERSION) return undefined;
    const repositories: OldRepository[] = [];
    for (const key of snapshot.keys([repositoryKey(0), skippedKey(0)])) {
      const value = snapshot.get(key, "the record of a repository");
      const record = value && (unpack(Buffer.from(value)) as Partial<RepositoryRecord>);
      if (typeof record?.name === "string")
        repositories.push({ metadata: {}, ...record, name: record.name });
    }
    return { version, repositories };
  } finally {
    snapshot.close();
    await environment.close();
  }
}

/** Moves an index of another version to a folder of its data directory. Does nothing if it is there. */
export async function putAside(directory: string, version: number): Promise<void> {
  if (asideIn(directory) !== undefined) return;
  const folder = join(directory, `.format-${version}`);
  await mkdir(folder, { recursive: true });
  // the data file comes last, and only then does the folder count as an index that was put aside
  for (const name of [...FILES].toReversed())
    if (existsSync(join(directory, name))) await rename(join(directory, name), join(folder, name));
  await rm(join(directory, `${DATA_FILE}-lock`), { force: true });
}

/** Deletes an index that was put aside. */
export async function deleteAside(directory: string): Promise<void> {
  const folder = asideIn(directory);
  if (folder !== undefined) await rm(folder, { recursive: true });
}

/** Returns the folder of the index that was put aside. */
export function asideIn(directory: string): string | undefined {
  const name = existsSync(directory)
    ? readdirSync(directory).find(
        (one) => ASIDE.test(one) && existsSync(join(directory, one, DATA_FILE)),
      )
    : undefined;
  return name === undefined ? undefined : join(directory, name);
}
