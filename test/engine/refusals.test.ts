/** Each error code is provoked by some test here, and its message says what to do. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { QuernError, type ErrorCode } from "../../src/base/errors.ts";
import type { Engine, OpenOptions } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { translated } from "../../src/store/lmdb/failures.ts";
import { storageError } from "../../src/store/lmdb/key-value.ts";
import { engineKey, FORMAT_VERSION } from "../../src/store/format/format.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { openEngine, temporaryFolder } from "./opened.ts";

const source = () => documents({ name: "r", files: [{ path: "a", content: "needle" }] });
const ask = (query: string) => ({ query, matches: 1 });
type Row = [code: ErrorCode, what: string, provoke: () => Promise<unknown>, says: RegExp];

const search = async (request: object) =>
  (await openEngine()).search(request as { query: string; matches: number });
const index = async (...given: Parameters<Engine["index"]>) => (await openEngine()).index(...given);
const opening = (path: string, options?: OpenOptions) => open(path, options).then((e) => e.close());

/** Makes a data directory with one repository, and closes it. */
async function indexed(): Promise<string> {
  const path = temporaryFolder();
  const engine = await openEngine({}, path);
  await engine.index(source());
  await engine.close();
  return path;
}

async function spoiled(key: Buffer, ...payload: Uint8Array[]): Promise<string> {
  const path = await indexed();
  const environment = openEnvironment(path, { readOnly: false });
  await environment.write((writer) => writer.put(key, ...payload));
  await environment.close();
  return path;
}

async function truncated(): Promise<string> {
  const path = await indexed();
  const file = join(path, "quern.mdb");
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.subarray(0, bytes.length - 4096 * 4));
  return path;
}

async function locked(): Promise<unknown> {
  const path = await indexed();
  const other = openEnvironment(path, { readOnly: false });
  const lease = await acquireLease(other, { timeoutMs: 0 });
  try {
    return await (await openEngine({}, path)).index(source());
  } finally {
    await lease.release();
    await other.close();
  }
}

async function closed(work: (engine: Engine) => unknown): Promise<unknown> {
  const engine = await openEngine();
  await engine.close();
  return work(engine);
}

function emptyGit(): string {
  const path = temporaryFolder();
  execFileSync("git", ["init", "-q", "-b", "main", path]);
  const author = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
  execFileSync("git", ["-C", path, ...author, "commit", "-q", "--allow-empty", "-m", "first"]);
  return path;
}

async function withoutGit(): Promise<unknown> {
  const path = process.env["PATH"];
  process.env["PATH"] = temporaryFolder();
  try {
    return await index(git(process.cwd()));
  } finally {
    process.env["PATH"] = path;
  }
}

const searching = (call: "search" | "explain", options: object) => async () =>
  (await openEngine())[call](ask("a"), options);

const nextVersion = Buffer.from([FORMAT_VERSION + 1, 0, 0, 0]);
const gone = "/nowhere/at/all";
const unreadable = () => {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, "");
  return path;
};

const viewerless = { repositoryIDs: new Set<number>() } as never;
const one = { repository: "r", path: "a" };

const UNKNOWN_KEYS: [what: string, provoke: () => Promise<unknown>, says: RegExp][] = [
  [
    "open, readonly",
    () => opening(temporaryFolder(), { readonly: true } as never),
    /open: unknown option "readonly"; did you mean readOnly\?/,
  ],
  ["open, null", () => opening(temporaryFolder(), null as never), /options must be an object/],
  [
    "index, a strange option",
    () => index(source(), { threads: 4 } as never),
    /index: unknown option "threads"; there are signal, onProgress, symbols/,
  ],
  [
    "a request",
    () => search({ ...ask("a"), contextlines: 2 }),
    /unknown field "contextlines"; did you mean contextLines\?/,
  ],
  ["search", searching("search", { viwer: undefined }), /search: .*did you mean viewer\?/],
  ["explain", searching("explain", { timeout: 5 }), /explain: .*did you mean timeoutMs\?/],
  [
    "stream",
    async () => (await openEngine()).stream(ask("a"), { singal: undefined } as never),
    /stream: .*did you mean signal\?/,
  ],
  ["a viewer", searching("search", { viewer: viewerless }), /viewer\.repositoryIds must be a set/],
  [
    "repositories",
    async () => (await openEngine()).repositories({ viewr: undefined } as never),
    /repositories: .*did you mean viewer\?/,
  ],
  [
    "read, a file",
    async () => (await openEngine()).read({ ...one, revison: "main" } as never),
    /read: unknown field "revison"; did you mean revision\?/,
  ],
  [
    "read, a viewer",
    async () => (await openEngine()).read(one, { viewer: viewerless }),
    /read: viewer\.repositoryIds/,
  ],
  [
    "list",
    async () => (await openEngine()).list({ ...one, rev: "main" } as never),
    /list: unknown field "rev"; there are repository, path, revision/,
  ],
  [
    "compact",
    async () => (await openEngine()).compact({ onprogress: undefined } as never),
    /compact: .*did you mean onProgress\?/,
  ],
  [
    "check",
    async () => (await openEngine()).check({ Signal: undefined } as never),
    /check: .*did you mean signal\?/,
  ],
];

const ROWS: Row[] = [
  ["INVALID_REQUEST", "no path", () => opening(""), /path/],
  [
    "INVALID_REQUEST",
    "workers",
    () => opening(temporaryFolder(), { workers: -1 }),
    /workers.*0 to/,
  ],
  [
    "INVALID_REQUEST",
    "a budget",
    () => opening(temporaryFolder(), { memoryBudget: 1 }),
    /memoryBudget/,
  ],
  ...[-1, 1.5, Number.NaN, 2 ** 40, "8"].map((maxFileSize): Row => [
    "INVALID_REQUEST",
    `a largest file of ${maxFileSize}`,
    () => opening(temporaryFolder(), { maxFileSize } as OpenOptions),
    /maxFileSize must be a whole number from 1 to 16777216/,
  ]),
  ["INVALID_REQUEST", "no object", () => search(null as never), /object/],
  ["INVALID_REQUEST", "no matches", () => search({ query: "a" }), /matches is missing; it must be/],
  ["INVALID_REQUEST", "half a match", () => search({ query: "a", matches: 0.5 }), /whole number/],
  ["INVALID_REQUEST", "null", () => search({ ...ask("a"), whole: null }), /whole must be/],
  ["INVALID_REQUEST", "context", () => search({ ...ask("a"), contextLines: 1001 }), /1000/],
  ["INVALID_REQUEST", "a query", () => search({ query: 7, matches: 1 }), /query must be a string/],
  ["INVALID_REQUEST", "no source", () => index(undefined as never), /source/],
  ["INVALID_REQUEST", "neither a source nor several", () => index({} as never), /give a source/],
  [
    "INVALID_REQUEST",
    "nothing to remove",
    async () => (await openEngine()).remove(undefined as never),
    /repository/,
  ],
  ["INVALID_REQUEST", "a thing", () => index([{}] as never), /source|name/],
  ...UNKNOWN_KEYS.map(([what, provoke, says]): Row => ["INVALID_REQUEST", what, provoke, says]),
  ["QUERY_SYNTAX", "blank", () => search(ask(" ")), /./],
  ["QUERY_SYNTAX", "or without an operand", () => search(ask("a or or b")), /./],
  ["REGEX_SYNTAX", "not closed", () => search({ ...ask("(a"), isRegexEnabled: true }), /./],
  ["REGEX_SYNTAX", "1001 times", () => search({ ...ask("x{1001}"), isRegexEnabled: true }), /./],
  [
    "REGEX_TOO_LARGE",
    "1000 times",
    () => search({ ...ask("\\pL{1000}"), isRegexEnabled: true }),
    /./,
  ],
  ["CONTEXT_NOT_FOUND", "no set", () => search(ask("context:team a")), /team/],
  ["SOURCE_NOT_FOUND", "no folder", () => index(directory(gone)), /nowhere.*check the path/],
  ["SOURCE_NOT_FOUND", "no repository", () => index(git(gone)), /nowhere.*check the path/],
  ["SOURCE_UNREADABLE", "a file", () => index(directory(unreadable())), /give the folder it is in/],
  [
    "NOT_A_GIT_REPOSITORY",
    "a folder",
    () => index(git(temporaryFolder())),
    /top folder.*directory\(\)/,
  ],
  [
    "REVISION_NOT_FOUND",
    "a branch",
    () => index(git(emptyGit(), { revisions: ["nope"] })),
    /nope.*git branch --all/,
  ],
  ["GIT_MISSING", "an empty PATH", withoutGit, /install/],
  ["INDEX_NOT_FOUND", "read-only", () => opening(gone, { readOnly: true }), /index something/],
  ["INDEX_NOT_FOUND", "other files", () => opening("src"), /empty or a new folder/],
  ["INDEX_NOT_FOUND", "a file", () => opening(unreadable()), /folder/],
  ["INDEX_LOCKED", "another writer", locked, /lockTimeoutMs/],
  [
    "INDEX_VERSION",
    "the next version",
    async () => opening(await spoiled(engineKey("format"), nextVersion)),
    new RegExp(`version ${FORMAT_VERSION + 1}`),
  ],
  [
    "INDEX_CORRUPT",
    "a version of 3 bytes",
    async () => opening(await spoiled(engineKey("format"), nextVersion.subarray(1))),
    /damaged/,
  ],
  ["INDEX_CORRUPT", "cut short", async () => opening(await truncated()), /cut short/],
  [
    "INDEX_CORRUPT",
    "no data file",
    () => {
      const path = temporaryFolder();
      writeFileSync(join(path, "quern.mdb"), Buffer.alloc(8192));
      return opening(path);
    },
    /damaged/,
  ],
  [
    "INDEX_READ_ONLY",
    "index",
    async () => (await openEngine({ readOnly: true }, await indexed())).index(source()),
    /without/,
  ],
  [
    "INDEX_READ_ONLY",
    "remove",
    async () => (await openEngine({ readOnly: true }, await indexed())).remove("r"),
    /without/,
  ],
  [
    "INDEX_READ_ONLY",
    "compact",
    async () => (await openEngine({ readOnly: true }, await indexed())).compact(),
    /without/,
  ],
  ["ENGINE_CLOSED", "search", () => closed((engine) => engine.search(ask("a"))), /open/],
  ["ENGINE_CLOSED", "index", () => closed((engine) => engine.index(source())), /open/],
  ["ENGINE_CLOSED", "stream", () => closed((engine) => engine.stream(ask("a"))), /open/],
  ["ENGINE_CLOSED", "repositories", () => closed((engine) => engine.repositories()), /open/],
  [
    "ENGINE_CLOSED",
    "read",
    () => closed((engine) => engine.read({ repository: "r", path: "a" })),
    /open/,
  ],
  [
    "ABORTED",
    "search, before",
    async () => (await openEngine()).search(ask("a"), { signal: AbortSignal.abort() }),
    /abort/,
  ],
  [
    "INVALID_REQUEST",
    "search, a signal that is none",
    async () => (await openEngine()).search(ask("a"), { signal: 3 as never }),
    /search: signal must be an AbortSignal/,
  ],
  ["ABORTED", "index, before", () => index(source(), { signal: AbortSignal.abort() }), /abort/],
  [
    "ABORTED",
    "check, before",
    async () => (await openEngine()).check({ signal: AbortSignal.abort() }),
    /abort/,
  ],
  ["DISK_FULL", "no space", async () => translated(() => fail("ENOSPC")), /make room/],
  [
    "INTERNAL",
    "a bug of ours",
    async () => {
      throw new QuernError("INTERNAL", "as thrown");
    },
    /./,
  ],
];

function fail(code: string): never {
  throw Object.assign(new Error(`${code}: it failed`), { code });
}

test.each(ROWS)("%s: %s", async (code, _, provoke, says) => {
  const error = await provoke().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error, "it was refused").toBeInstanceOf(QuernError);
  const { code: actual, message } = error as QuernError;
  expect(`${actual}: ${message}`).toContain(`${code}: `);
  expect(message).toMatch(says);
});

const isRoot = process.getuid?.() === 0;

test.skipIf(isRoot)("PERMISSION_DENIED: a folder that belongs to another user", async () => {
  const path = join(temporaryFolder(), "closed");
  mkdirSync(path, { mode: 0o500 });
  await expect(open(join(path, "db"))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  chmodSync(path, 0o700);
});

/**
 * The error codes for errors of the system, by Node's name for errno, and by the system's words, which lmdb passes on.
 */
const WORDS: readonly [words: string, code: ErrorCode, advice: string][] = [
  ["EMFILE", "OVERLOADED", "no file descriptor is free"],
  ["Too many open files", "OVERLOADED", "no file descriptor is free"],
  ["ENOSPC", "DISK_FULL", "the disk is full or its quota reached"],
  ["No space left on device", "DISK_FULL", "the disk is full or its quota reached"],
  ["EDQUOT", "DISK_FULL", "the disk is full or its quota reached"],
  ["Disk quota exceeded", "DISK_FULL", "the disk is full or its quota reached"],
  ["EFBIG", "DISK_FULL", "the disk is full or its quota reached"],
  ["File too large", "DISK_FULL", "the disk is full or its quota reached"],
  ["MDB_MAP_FULL", "DISK_FULL", "its largest size, 256 GiB"],
  ["EIO", "DISK_FULL", "a write was cut short"],
  ["Input/output error", "DISK_FULL", "a write was cut short"],
  ["EACCES", "PERMISSION_DENIED", "change its owner or mode"],
  ["Permission denied", "PERMISSION_DENIED", "change its owner or mode"],
  ["EPERM", "PERMISSION_DENIED", "change its owner or mode"],
  ["Operation not permitted", "PERMISSION_DENIED", "change its owner or mode"],
  ["EROFS", "INDEX_READ_ONLY", "open it with readOnly"],
  ["Read-only file system", "INDEX_READ_ONLY", "open it with readOnly"],
  ["ENOTDIR", "INDEX_NOT_FOUND", "name a folder"],
  ["Not a directory", "INDEX_NOT_FOUND", "name a folder"],
  ["EEXIST", "INDEX_NOT_FOUND", "name a folder"],
  ["MDB_VERSION_MISMATCH", "INDEX_VERSION", "another version of LMDB"],
  ["MDB_INVALID", "INDEX_CORRUPT", "the data file is damaged"],
  ["MDB_CORRUPTED", "INDEX_CORRUPT", "the data file is damaged"],
  ["MDB_PAGE_NOTFOUND", "INDEX_CORRUPT", "the data file is damaged"],
  ["MDB_PANIC", "DISK_FULL", "end the process and start it again"],
  ["MDB_BAD_TXN", "INDEX_CORRUPT", "the data file is damaged"],
  ["Invalid argument", "INDEX_CORRUPT", "the data file is damaged"],
];

test("messages of the disk become error codes", () => {
  for (const [words, code, advice] of WORDS)
    expect(() => translated(() => fail(words)), words).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(advice) as string }),
    );
  expect(() => translated(() => fail("EBADF"))).toThrow(/^EBADF: it failed$/);
});

test("an exceeded quota is recognized, although Node has no name for it", () => {
  const said = "UNKNOWN: unknown error, write";
  const error = Object.assign(new Error(said), {
    code: "UNKNOWN",
    errno: -constants.errno.EDQUOT,
  });
  const refused = () => {
    throw error;
  };
  const expected = {
    code: "DISK_FULL",
    message: expect.stringMatching(/quota.*reached/) as string,
  };
  expect(() => translated(refused)).toThrow(expect.objectContaining(expected));
  expect(storageError(error)).toMatchObject(expected);
});

test.each([
  ["ENOSPC", "DISK_FULL", "make room"],
  ["EDQUOT", "DISK_FULL", "make room"],
  ["Input/output error", "DISK_FULL", "make room"],
  ["MDB_PANIC", "DISK_FULL", "end the process and start it again"],
  ["EROFS", "INDEX_READ_ONLY", "read-only file system: move it"],
  ["Read-only file system", "INDEX_READ_ONLY", "read-only file system: move it"],
  ["EACCES", "PERMISSION_DENIED", "change its owner or mode"],
  ["Operation not permitted", "PERMISSION_DENIED", "change its owner or mode"],
  ["EMFILE", "INTERNAL", "could not be used"],
])("a store of keys: %s is %s", (words, code, advice) => {
  const error = storageError(new Error(`${words}: it failed`));
  expect(error).toMatchObject({ code, message: expect.stringContaining(advice) as string });
});

test("the table has every error code of this side", () => {
  const elsewhere: Partial<Record<ErrorCode, string>> = {
    DUPLICATE_ID: "test/auth",
    PERMISSION_DENIED: "above",
    INVALID_GIT_REF: "test/history/revisions.test.ts",
    HISTORY_NOT_AVAILABLE: "test/history/files.long.test.ts",
    FILE_TOO_LARGE: "test/history/files.long.test.ts",
    BINARY_FILE: "test/history/files.long.test.ts",
    CURSOR_EXPIRED: "test/engine/pages.long.test.ts",
    OVERLOADED: "test/cluster/search-nodes.test.ts",
  };
  const source = readFileSync("src/base/errors.ts", "utf8");
  const union = source.slice(source.indexOf("type ErrorCode"), source.indexOf("export class"));
  const codes = [...union.matchAll(/\| "([A-Z_]+)"/g)].map(([, code]) => code as ErrorCode);
  const tested = new Set([...ROWS.map(([code]) => code), ...Object.keys(elsewhere)]);
  expect(codes.filter((code) => !tested.has(code))).toEqual([]);
  expect(codes.length).toBe(tested.size);
});
