/**
 * Opens files and folders without following symlinks in any part of their path. A folder on the path may have become a
 * symlink since it was listed, and O_NOFOLLOW protects only the last part of a path. Checking the path again after
 * opening would not help, because by then the folder may be back in its place. So the open descriptor is checked
 * instead.
 *
 * On Linux, /proc gives the path of an open file, and a folder can be listed by its descriptor. Other systems can do
 * neither. On these systems, only the last part of a path is protected.
 */

import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from "node:fs";

const { O_RDONLY } = constants;
// Windows does not have these flags
const flags: Partial<typeof constants> = constants;
const O_NOFOLLOW = flags.O_NOFOLLOW ?? 0;
const O_NONBLOCK = flags.O_NONBLOCK ?? 0;
const O_DIRECTORY = flags.O_DIRECTORY ?? 0;

/**
 * Opens a file for reading. Throws if the file is a symlink. If the file is a pipe, does not wait for a process that
 * writes to it.
 */
export const openFile = (path: string): number =>
  openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);

const byDescriptor = (descriptor: number): string => `/proc/self/fd/${descriptor}`;

/**
 * Returns true if the opened file is really at this path, and false if opening it followed a symlink. Always returns
 * true on systems other than Linux, and if /proc is not mounted. REQUIRES: the path is absolute, and its part up to the
 * root of the source contains no symlinks.
 */
const isAtPath = (descriptor: number, path: string): boolean =>
  (placeOf(descriptor) ?? path) === path;

function placeOf(descriptor: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readlinkSync(byDescriptor(descriptor));
  } catch {
    return undefined; // /proc is not mounted
  }
}

/** Keeps one folder open at a time, so that its files can be read even if its path is replaced meanwhile. */
export class HeldFolder {
  #descriptor: number | undefined;
  #path: string | undefined;
  #place: string | undefined;

  /**
   * Opens a folder, unless it is already open. Returns a path to the folder, which is valid until another folder is
   * opened. On Linux, this path leads to the same folder even if the folder is moved or replaced. Returns undefined if
   * a symlink was followed on the way. Throws what openSync() throws.
   */
  open(path: string): string | undefined {
    if (path === this.#path) return this.#place;
    this.close();
    this.#place = this.#open(path);
    this.#path = path;
    return this.#place;
  }

  #open(path: string): string | undefined {
    if (process.platform !== "linux") return path;
    const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
    this.#descriptor = descriptor;
    const place = placeOf(descriptor);
    if (place === undefined) return path;
    return place === path ? byDescriptor(descriptor) : undefined;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = this.#path = this.#place = undefined;
  }
}

/**
 * Opens a folder, and calls `list` with a path to it as HeldFolder.open() returns it. Returns undefined if a symlink
 * was followed on the way.
 */
export function inFolder<T>(path: string, list: (path: string) => T): T | undefined {
  const held = new HeldFolder();
  try {
    const place = held.open(path);
    return place === undefined ? undefined : list(place);
  } finally {
    held.close();
  }
}

/**
 * Reads a file. If the file has more than `most` bytes, throws what `tooLarge` returns. Returns undefined if the path
 * is not that of a regular file, or if a symlink was followed on the way.
 */
export function readNoFollow(
  path: string,
  { most, tooLarge }: { readonly most: number; readonly tooLarge: () => Error },
): Buffer | undefined {
  const descriptor = openFile(path);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || !isAtPath(descriptor, path)) return undefined;
    if (stat.size > most) throw tooLarge();
    const bytes = Buffer.alloc(stat.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null);
      if (read === 0) break; // the file was truncated after fstat
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
