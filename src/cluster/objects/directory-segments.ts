/** Keeps objects as files in a folder, for tests and for machines that share a file system. */

import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { QuernError } from "../../base/errors.ts";
import { compareText } from "../../base/compare.ts";
import {
  checkedKey,
  checkedRange,
  noSuchObject,
  ofLength,
  type SegmentStore,
  type StoredObject,
} from "./segment-store.ts";

/**
 * Returns a store that keeps objects in a folder. The folder is created when the first object is stored. All machines
 * of the cluster must see the same folder.
 *
 * @example
 * const segments = directorySegments("/mnt/shared/quern");
 * for await (const { key } of segments.list("v1/seg/")) console.log(key);
 */
export function directorySegments(path: string): SegmentStore {
  const folder = resolve(path);
  const fileOf = (key: string): string => join(folder, ...checkedKey(key).split("/"));
  return {
    async put(key, body, bytes) {
      const file = fileOf(key);
      await mkdir(dirname(file), { recursive: true });
      // list() leaves this file out, because no part of a key begins with a dot
      const unfinished = join(dirname(file), `.${randomBytes(8).toString("hex")}`);
      try {
        await writeWhole(unfinished, ofLength(body, bytes));
        await rename(unfinished, file);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },
    async get(key, range) {
      const file = fileOf(key);
      const [from, to] = checkedRange(range);
      const found = await stat(file).catch((error: unknown) => {
        throw isMissing(error) ? noSuchObject(key, error) : error;
      });
      if (!found.isFile())
        throw new QuernError(
          "INDEX_CORRUPT",
          `the object ${key} is not a file of the store's folder`,
        );
      const end = Math.min(to, found.size);
      return readPart(file, { from, end, key });
    },
    async delete(key) {
      await rm(fileOf(key), { force: true });
    },
    list: (prefix) => listFolder(folder, "", prefix),
  };
}

/** Writes a file. Resolves when its bytes are on the disk. */
async function writeWhole(file: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(file, "wx");
  try {
    for await (const piece of body) await handle.writeFile(piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* readPart(
  file: string,
  { from, end, key }: { from: number; end: number; key: string },
): AsyncGenerator<Uint8Array> {
  if (from >= end) return;
  try {
    yield* createReadStream(file, { start: from, end: end - 1 }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw isMissing(error) ? noSuchObject(key, error) : error;
  }
}

async function* listFolder(
  folder: string,
  above: string,
  prefix: string,
): AsyncGenerator<StoredObject> {
  const names = await readdir(folder).catch((error: unknown): string[] => {
    if (isMissing(error)) return [];
    throw error;
  });
  const entries = await Promise.all(
    names.filter((name) => !name.startsWith(".")).map((name) => entryOf(folder, above + name)),
  );
  // a folder sorts as if its name ended with "/", so the list is in the order of keys
  const found = entries.filter((entry) => entry !== undefined);
  for (const { key, at, isFolder } of found.sort((a, b) => compareText(a.key, b.key))) {
    if (isFolder && (key.startsWith(prefix) || prefix.startsWith(key)))
      yield* listFolder(join(folder, key.slice(above.length, -1)), key, prefix);
    else if (!isFolder && key.startsWith(prefix)) yield { key, at };
  }
}

/** Describes a file or folder. Resolves to undefined if it no longer exists. */
async function entryOf(folder: string, path: string) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const found = await stat(join(folder, name)).catch(() => undefined);
  const isFolder = found?.isDirectory() === true;
  return found && { key: isFolder ? `${path}/` : path, at: found.mtime, isFolder };
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";
