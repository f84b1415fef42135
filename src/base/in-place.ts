/**
 * Whether an opened file or folder is the one its path named when its folder was listed. A folder on
 * the way may have been exchanged for a symlink since, which no flag of open() forbids; and it may be
 * exchanged back a moment later, so what is looked at is what was opened, and never the path again.
 *
 * Linux tells where an open file lies, and lets a folder be listed by its descriptor. Elsewhere neither
 * is known, and the last part of a path alone is not followed.
 */

import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from "node:fs";

const { O_RDONLY } = constants;
// these are not there on Windows
const flags: Partial<typeof constants> = constants;
const O_NOFOLLOW = flags.O_NOFOLLOW ?? 0;
const O_NONBLOCK = flags.O_NONBLOCK ?? 0;
const O_DIRECTORY = flags.O_DIRECTORY ?? 0;

/** Opens a file for reading. Throws where it is a symlink; does not wait for who writes to a pipe. */
export const openFile = (path: string): number =>
  openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);

const byDescriptor = (descriptor: number): string => `/proc/self/fd/${descriptor}`;

/**
 * Returns false if a symlink was followed on the way. On systems other than Linux this is always true.
 * REQUIRES: the path is absolute, and that of its root has no symlinks.
 */
export const isInPlace = (descriptor: number, path: string): boolean =>
  (placeOf(descriptor) ?? path) === path;

function placeOf(descriptor: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readlinkSync(byDescriptor(descriptor));
  } catch {
    return undefined; // without /proc
  }
}

/** Holds one folder open at a time, so that what is in it can be looked at, whatever its path names by now. */
export class HeldFolder {
  #descriptor: number | undefined;

  /**
   * Returns a path of the folder, good until the next call, under which it can be exchanged for nothing else
   * where the system has one. Returns undefined if a symlink was followed on the way. Throws what open() throws.
   */
  open(path: string): string | undefined {
    this.close();
    if (process.platform !== "linux") return path;
    const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
    this.#descriptor = descriptor;
    const place = placeOf(descriptor);
    if (place === undefined) return path;
    return place === path ? byDescriptor(descriptor) : undefined;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Calls `list` with such a path of the folder. Returns undefined if a symlink was followed on the way. */
export function inFolder<T>(path: string, list: (path: string) => T): T | undefined {
  const held = new HeldFolder();
  try {
    const place = held.open(path);
    return place === undefined ? undefined : list(place);
  } finally {
    held.close();
  }
}

/** Reads a small file. Returns undefined if it is no file, or a symlink was followed on the way. `tooLarge` throws. */
export function readInPlace(
  path: string,
  { most, tooLarge }: { readonly most: number; readonly tooLarge: () => Error },
): Buffer | undefined {
  const descriptor = openFile(path);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || !isInPlace(descriptor, path)) return undefined;
    if (stat.size > most) throw tooLarge();
    const bytes = Buffer.alloc(stat.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null);
      if (read === 0) break; // shorter by now
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
