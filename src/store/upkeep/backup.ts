/**
 * Copies a data directory while it is searched. The copy is a data directory itself. It contains the index, and the
 * stores of keys, members and audit records, which are LMDB environments in folders whose names begin with a dot.
 * Clones of code hosts are left out, because they can be fetched again.
 *
 * LMDB copies its file within one read transaction. The text files are copied while no other process writes, because
 * their folder has no transactions. They never change once their segment is published. So a text file of an earlier
 * backup whose seals are the same has the same text, and a hard link to it is enough.
 *
 * The copy is made beside its destination, checked like every index, and renamed. So the destination does not exist
 * until the copy is complete and on the disk.
 */

import { readdirSync, statSync } from "node:fs";
import { copyFile, link, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { throwIfAborted } from "../../base/abort.ts";
import { invalid, QuernError } from "../../base/errors.ts";
import { openStore } from "../catalog/open.ts";
import { engineKey, PART, segmentKey } from "../format/format.ts";
import { DATA_FILE, type Environment } from "../lmdb/environment.ts";
import { translate } from "../lmdb/failures.ts";
import { isStore, openKeyValue } from "../lmdb/key-value.ts";
import type { CheckReport } from "./check.ts";

/**
 * Options of Engine.backup().
 *
 * @example
 * const options: BackupOptions = { base: "/backups/monday", onProgress: ({ bytes }) => console.log(bytes) };
 * await engine.backup("/backups/tuesday", options);
 */
export interface BackupOptions {
  /**
   * The folder of an earlier backup on the same file system. Text that it contains is not copied again: the new backup
   * gets hard links to it. Either of the two can be deleted.
   */
  base?: string;
  /** Aborting makes backup() reject with ABORTED, and leaves nothing. LMDB's own file is first copied to its end. */
  signal?: AbortSignal;
  /** Called when a file has been copied. */
  onProgress?: (progress: BackupProgress) => void;
}

/**
 * The progress of a backup.
 *
 * @example
 * const show = ({ bytes, totalBytes }: BackupProgress) => console.error(`${bytes}/${totalBytes}`);
 * await engine.backup("/backups/monday", { onProgress: show });
 */
export interface BackupProgress {
  /** The number of bytes that were copied or linked. */
  bytes: number;
  /** The number of bytes to copy or link. LMDB's file may become smaller, because its free pages are left out. */
  totalBytes: number;
}

/**
 * The result of Engine.backup().
 *
 * @example
 * const { bytes, linkedBytes } = await engine.backup("/backups/tuesday", { base: "/backups/monday" });
 * console.log(`${bytes - linkedBytes} bytes are new`);
 */
export interface BackupReport {
  /** The size of all files of the backup, in bytes. */
  bytes: number;
  /** The part of `bytes` that is hard links to files of the earlier backup. */
  linkedBytes: number;
  /** The duration in milliseconds. */
  durationMs: number;
}

export interface BackupParts {
  readonly environment: Environment;
  /** Runs `work` while no process writes to the index. The signal is aborted if `work` must end. */
  readonly whileUnchanged: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  readonly check: (path: string, signal: AbortSignal) => Promise<CheckReport>;
}

const LOCK_FILE = `${DATA_FILE}-lock`;

/** Makes a backup. REQUIRES: the options are checked. */
export async function backUp(
  target: string,
  { base, onProgress = () => {} }: Omit<BackupOptions, "signal">,
  { environment, whileUnchanged, check }: BackupParts,
): Promise<BackupReport> {
  const start = performance.now();
  const to = resolve(target);
  refuseTarget(to, environment.path);
  const seals = base === undefined ? NO_SEALS : await sealsOf(resolve(base));
  const partial = join(dirname(to), `.${basename(to)}.partial`);
  try {
    return await whileUnchanged(async (stop) => {
      await rm(partial, { recursive: true, force: true }); // an interrupted backup may have left it
      await mkdir(partial, { recursive: true });
      const copying = { base: base && resolve(base), seals, stop, onProgress };
      const linkedBytes = await copyIndex(environment, partial, copying);
      await copyStores(environment.path, partial);
      await forgetWriter(partial);
      await mustBeSound(partial, await check(partial, stop));
      const bytes = await flushed(partial);
      throwIfAborted(stop);
      await rm(to, { recursive: true, force: true }); // it is an empty folder at most
      await rename(partial, to);
      await flush(dirname(to));
      return { bytes, linkedBytes, durationMs: performance.now() - start };
    });
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw translate(error, "backup");
  }
}

/** Throws INDEX_CORRUPT if a copy is damaged. */
async function mustBeSound(copy: string, { ok, problems }: CheckReport): Promise<void> {
  await rm(join(copy, LOCK_FILE), { force: true }); // the check has opened the copy
  if (ok) return;
  throw new QuernError(
    "INDEX_CORRUPT",
    `backup: the copy is damaged, because the index or the earlier backup is; verify both with check(): ${problems[0]!.message}`,
  );
}

/** Throws INVALID_REQUEST if the backup must not be made at this path. */
function refuseTarget(to: string, directory: string): void {
  if (`${to}${sep}`.startsWith(`${resolve(directory)}${sep}`))
    throw invalid(`backup: ${to} is in the data directory; name a folder outside of it`);
  const found = statSync(to, { throwIfNoEntry: false });
  if (found && !(found.isDirectory() && readdirSync(to).length === 0))
    throw invalid(`backup: ${to} exists already; name a new folder`);
}

/** Returns the stored seals of the text of a segment, or undefined if the segment has none. */
type SealsOf = (segment: number) => Uint8Array | undefined;
const NO_SEALS: SealsOf = () => undefined;

/** Reads the seals of all text files of a data directory. */
async function sealsOf(directory: string): Promise<SealsOf> {
  const environment = await openStore(directory, { readOnly: true });
  try {
    const read = sealsIn(environment);
    const seals = new Map(environment.texts.segments().map((one) => [one, read(one)?.slice()]));
    return (segment) => seals.get(segment);
  } finally {
    await environment.close();
  }
}

const sealsIn =
  (environment: Environment): SealsOf =>
  (segment) => {
    const snapshot = environment.snapshot();
    try {
      const what = `the seals of the text of segment ${segment}`;
      return snapshot.get(segmentKey(segment, PART.SEALS), what);
    } finally {
      snapshot.close();
    }
  };

interface Copying {
  readonly base: string | undefined;
  /** The seals of the earlier backup. */
  readonly seals: SealsOf;
  readonly stop: AbortSignal;
  readonly onProgress: (progress: BackupProgress) => void;
}

/** Copies LMDB's file and the text files. Resolves to the number of bytes that were linked. */
async function copyIndex(
  environment: Environment,
  partial: string,
  { base, seals, stop, onProgress }: Copying,
): Promise<number> {
  const { path, texts } = environment;
  const segments = texts.segments();
  const sizes = new Map<number, number>();
  for (const segment of segments) sizes.set(segment, (await stat(texts.pathOf(segment))).size);
  const dataBytes = (await stat(join(path, DATA_FILE))).size;
  const totalBytes = [...sizes.values()].reduce((sum, size) => sum + size, dataBytes);
  await environment.copyTo(partial);
  let [bytes, linkedBytes] = [dataBytes, 0];
  onProgress({ bytes, totalBytes });
  const own = sealsIn(environment);
  for (const segment of segments) {
    throwIfAborted(stop);
    const from = texts.pathOf(segment);
    const to = join(partial, relative(path, from));
    await mkdir(dirname(to), { recursive: true });
    const seal = seals(segment);
    const isSame = seal !== undefined && Buffer.compare(seal, own(segment) ?? EMPTY) === 0;
    const isLinked =
      isSame &&
      (await link(join(base!, relative(path, from)), to).then(
        () => true,
        () => false,
      )); // or another disk
    if (!isLinked) await copyFile(from, to);
    const size = sizes.get(segment)!;
    [bytes, linkedBytes] = [bytes + size, linkedBytes + (isLinked ? size : 0)];
    onProgress({ bytes, totalBytes });
  }
  return linkedBytes;
}

const EMPTY = new Uint8Array();

/** Copies the stores of a data directory, and its .gitignore. */
async function copyStores(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const { name } = entry;
    if (entry.isDirectory() && isStore(join(from, name))) {
      const store = openKeyValue(join(from, name));
      try {
        await mkdir(join(to, name));
        await store.copyTo(join(to, name));
      } finally {
        await store[Symbol.asyncDispose]();
      }
    } else if (name === ".gitignore") await copyFile(join(from, name), join(to, name));
  }
}

/** Removes the write lease from a copy. */
async function forgetWriter(copy: string): Promise<void> {
  const environment = await openStore(copy, { readOnly: false });
  try {
    await environment.write((writer) => writer.remove(engineKey("lease")));
  } finally {
    await environment.close();
  }
}

/** Flushes all files of a folder to the disk. Resolves to their size in bytes. */
async function flushed(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await flushed(path);
    else {
      bytes += (await stat(path)).size;
      await flush(path);
    }
  }
  await flush(folder);
  return bytes;
}

async function flush(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory();
  if (isFolder && process.platform === "win32") return; // Windows cannot flush a folder
  const file = await open(path, isFolder ? "r" : "r+"); // Windows flushes a file only if it is open for writing
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
