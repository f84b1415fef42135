/** Translates errors of the disk and of LMDB to quern's error codes, and adds advice. */

import { constants } from "node:os";
import { isOutOfFiles, outOfFiles } from "../../base/out-of-files.ts";
import { QuernError, type ErrorCode } from "../../base/errors.ts";

/**
 * The maximum size of a data file, in bytes. LMDB reserves only address space for this size. It uses memory and disk
 * space as the file grows.
 */
export const MAP_BYTES = 256 * 2 ** 30;

/** What an error is about: the data directory of an index, or a store of keys and users. */
type Subject = "data directory" | "store" | "backup";

type Advice = string | ((subject: Subject) => string);

/** Matches the errno names and messages of errors that the system reports if the disk has no space left for a file. */
const DISK_FULL = /ENOSPC|No space left|EDQUOT|quota|EFBIG|File too large/i;

// the patterns are matched in this order against the errno name and the message
const FAILURES: readonly [pattern: RegExp, code: ErrorCode, advice: Advice][] = [
  [
    /MDB_MAP_FULL/i,
    "DISK_FULL",
    (subject) =>
      subject === "store"
        ? "the store has reached its largest size; nothing that was stored is lost"
        : `the data directory has reached its largest size, ${MAP_BYTES / 2 ** 30} GiB: compact() it, or divide ` +
          "the repositories among several; nothing that was stored is lost",
  ],
  [
    DISK_FULL,
    "DISK_FULL",
    "the disk is full or its quota reached: make room and try again; nothing that was stored is lost",
  ],
  [
    // LMDB reports EIO if the disk writes fewer bytes than requested; a disk may do this just before it reports that it
    // is full
    /\bEIO\b|Input\/output error/i,
    "DISK_FULL",
    "a write was cut short: the disk is full, its quota or the limit of a file's size reached, or it fails; " +
      "make room or check the system's log, and try again; nothing that was stored is lost",
  ],
  [
    // another process destroyed the locks of LMDB, see directory-lock.ts
    /Invalid argument: No transaction to renew/i,
    "INDEX_LOCKED",
    "another process ended while this one opened the data directory: start this process again",
  ],
  [
    /EACCES|EPERM|Permission denied|not permitted/i,
    "PERMISSION_DENIED",
    (subject) => `this process may not read or write the ${subject}: change its owner or mode`,
  ],
  [
    /EROFS|Read-only file system/i,
    "INDEX_READ_ONLY",
    (subject) =>
      `the ${subject} is on a read-only file system: ` +
      (subject === "data directory"
        ? "open it with readOnly"
        : "move it to a disk that may be written"),
  ],
  [
    /ENOTDIR|EEXIST|Not a directory/i,
    "INDEX_NOT_FOUND",
    (subject) => `the path of the ${subject} is a file or leads through one: name a folder`,
  ],
  [
    // LMDB has given up the file, because a write to its first two pages failed
    /MDB_PANIC/i,
    "DISK_FULL",
    (subject) =>
      `the disk failed, and this process can use the ${subject} no more: check the system's log, then ` +
      "end the process and start it again; nothing that was stored is lost",
  ],
  [
    /MDB_VERSION_MISMATCH/i,
    "INDEX_VERSION",
    (subject) => `the data file was written by another version of LMDB: ${anew(subject)}`,
  ],
  [
    /MDB_(INVALID|CORRUPTED|PAGE_NOTFOUND|BAD_TXN)|Invalid argument|not an LMDB file/i,
    "INDEX_CORRUPT",
    (subject) => `the data file is damaged: ${anew(subject)}`,
  ],
];

const anew = (subject: Subject): string =>
  subject === "store" ? "restore a copy of it" : "index again into a new directory";

/** Returns the system's name of an error. Node has no name for an exceeded quota (EDQUOT), and reports "UNKNOWN". */
function errorName(error: unknown): string {
  const { code = "", errno } = error as { code?: string | number; errno?: number };
  return errno === -constants.errno.EDQUOT ? "EDQUOT" : String(code);
}

/** Returns true if the system reports that the disk has no space left for a file. */
export const isDiskFull = (error: unknown): boolean => DISK_FULL.test(errorName(error));

/** Converts a known failure of the disk or LMDB to a QuernError, and returns any other error unchanged. */
export function translate(error: unknown, subject: Subject = "data directory"): unknown {
  if (error instanceof QuernError || !(error instanceof Error)) return error;
  if (isOutOfFiles(error) || /Too many open files/i.test(error.message)) return outOfFiles(error);
  const text = `${errorName(error)} ${error.message}`;
  const failure = FAILURES.find(([pattern]) => pattern.test(text));
  if (!failure) return error;
  const [, code, advice] = failure;
  const words = typeof advice === "string" ? advice : advice(subject);
  return new QuernError(code, `${words} (${error.message})`, { cause: error });
}

/** Runs `work`, and translates the errors that it throws. */
export function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}
