/** Implements the history of one repository. Each call checks its arguments, and then runs git. */

import { stat } from "node:fs/promises";
import { QuernError } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import { pathTrie } from "../base/path-trie.ts";
import { newPause } from "../base/yield.ts";
import { classify } from "../ingest/classification/classify.ts";
import type { FileContent } from "../repository.ts";
import type { RepositoryRecord } from "../store/format/records.ts";
import { listAuthors } from "./authors.ts";
import { blameFile } from "./blame.ts";
import { idsOf } from "./commit-lists.ts";
import { readCommits, walkPage, withoutParents, type Walk } from "./commits.ts";
import { diffCommits } from "./diff.ts";
import { blameExpression, checkCount, checkFilters, checkPath, datesOf } from "./filters.ts";
import type * as told from "./history.ts";
import { MOST_FILE_BYTES, type Operation } from "./operation.ts";
import { checkRevision, noRevision } from "./revision.ts";
import type { FoundFile, HistoryPlace, Shared } from "./shared.ts";
import { findEntry, listFolders, listPaths } from "./trees.ts";

/** The data of one call: the repository, the git processes of the call, and what all histories share. */
interface Reading {
  readonly record: RepositoryRecord;
  readonly shared: Shared;
  readonly operation: Operation;
  /**
   * Identifies the repository and the state of its shallow boundary. When this identifier changes, older cached
   * values are no longer used.
   */
  readonly state: string;
}

export function openHistory(record: RepositoryRecord, shared: Shared): told.History {
  const read = async <T>(
    signal: AbortSignal | undefined,
    work: (reading: Reading) => Promise<T>,
  ): Promise<T> => {
    const place = await shared.locate(record);
    return shared.run(place, signal, async (operation) =>
      work({ record, shared, operation, state: await stateOf(place) }),
    );
  };
  return {
    repository: record.name,
    commits: async (options = {}) => {
      const asked = checkCommits(options);
      return read(options.signal, (reading) => commits(reading, asked)).catch(blameExpression);
    },
    commit: async (revision, options = {}) => {
      checkKeys(call("commit"), options, { signal: true });
      checkRevision(revision);
      return read(options.signal, (reading) => commit(reading, revision));
    },
    authors: async (options = {}) => {
      const asked = checkAuthors(options);
      return read(options.signal, (reading) => authors(reading, asked));
    },
    diff: async (options) => {
      const asked = checkDiff(options);
      return read(options.signal, (reading) => diff(reading, asked));
    },
    blame: async (options) => {
      const asked = checkFile("blame", options);
      return read(options.signal, (reading) => blame(reading, asked));
    },
    read: async (options) => {
      const asked = checkFile("read", options);
      return read(options.signal, (reading) => readFile(reading, asked));
    },
    folders: async (options) => {
      const asked = checkFolders(options);
      return read(options.signal, (reading) => folders(reading, asked));
    },
    paths: async (options = {}) => {
      checkKeys(call("paths"), options, { revision: true, signal: true });
      const revision = optionalRevision(options.revision);
      return read(options.signal, (reading) => paths(reading, revision));
    },
  };
}

/**
 * Returns an identifier of a repository and of its shallow boundary. When a shallow clone is deepened, its commits
 * get more ancestors although their ids stay the same. So the identifier must change.
 */
async function stateOf({ gitDir, shallowFile }: HistoryPlace): Promise<string> {
  const found = await stat(shallowFile).catch(() => undefined);
  return found === undefined ? gitDir : `${gitDir} ${found.mtimeMs} ${found.size}`;
}

// ── checks of arguments ──

const call = (name: string) => ({ call: `history.${name}`, what: "option" }) as const;

const optionalRevision = (revision: unknown): string | undefined =>
  revision === undefined ? undefined : checkRevision(revision);

const MOST_LISTED = 1000;
const PAGE = { fallback: 50, most: MOST_LISTED };
const SKIP = { fallback: 0, most: Number.MAX_SAFE_INTEGER };

const COMMITS_KEYS: KeysOf<told.CommitsOptions> = {
  revision: true,
  path: true,
  author: true,
  query: true,
  since: true,
  until: true,
  skip: true,
  limit: true,
  signal: true,
};

function checkCommits(options: told.CommitsOptions) {
  checkKeys(call("commits"), options, COMMITS_KEYS);
  return {
    revision: optionalRevision(options.revision) ?? "HEAD",
    filters: checkFilters(options),
    skip: checkCount("skip", options.skip, SKIP),
    limit: checkCount("limit", options.limit, PAGE),
  };
}

const AUTHORS_KEYS: KeysOf<told.AuthorsOptions> = {
  revision: true,
  path: true,
  skip: true,
  limit: true,
  signal: true,
};

function checkAuthors(options: told.AuthorsOptions) {
  checkKeys(call("authors"), options, AUTHORS_KEYS);
  return {
    revision: optionalRevision(options.revision) ?? "HEAD",
    path: checkPath(options.path),
    skip: checkCount("skip", options.skip, SKIP),
    limit: checkCount("limit", options.limit, PAGE),
  };
}

const DIFF_KEYS: KeysOf<told.DiffOptions> = { base: true, head: true, path: true, signal: true };

function checkDiff(options: told.DiffOptions) {
  checkKeys(call("diff"), options, DIFF_KEYS);
  return {
    base: checkRevision(options.base),
    head: checkRevision(options.head),
    path: checkPath(options.path),
  };
}

const FILE_KEYS: KeysOf<told.FileOptions> = { path: true, revision: true, signal: true };

function checkFile(name: "blame" | "read", options: told.FileOptions) {
  checkKeys(call(name), options, FILE_KEYS);
  return { path: checkText(options.path), revision: optionalRevision(options.revision) };
}

function checkFolders(options: told.FoldersOptions) {
  checkKeys(call("folders"), options, { paths: true, revision: true, signal: true });
  if (!Array.isArray(options.paths))
    throw new QuernError("INVALID_REQUEST", "history.folders: paths must be an array of strings");
  return {
    paths: options.paths.map(checkText),
    revision: optionalRevision(options.revision),
  };
}

function checkText(path: unknown): string {
  if (typeof path === "string") return path;
  throw new QuernError("INVALID_REQUEST", "a path must be a string");
}

// ── revisions ──

/**
 * Resolves to the commit that a revision names in the clone now. If the revision no longer exists there, resolves to
 * the commit that was indexed under this name.
 */
async function currentCommit(
  { operation, record }: Reading,
  revision: string,
): Promise<string | undefined> {
  const found = await operation.resolve(revision);
  const indexed = record.revisions.find(({ name }) => name === revision)?.commit;
  return found ?? (indexed === undefined ? undefined : operation.resolve(indexed));
}

/**
 * Resolves to the commit that was indexed under a name. If no commit was indexed under it, resolves to the commit
 * that the revision names in the clone now.
 */
async function indexedCommit(
  reading: Reading,
  revision: string | undefined,
): Promise<string | undefined> {
  const { revisions } = reading.record;
  const named = revisions.find(({ name, commit }) => [name, commit].includes(revision));
  const isDefault = revision === undefined || revision === "HEAD";
  const { commit } = named ?? (isDefault ? revisions[0]! : {});
  if (commit !== undefined) return reading.operation.resolve(commit);
  return currentCommit(reading, revision ?? revisions[0]!.name);
}

async function mustResolve(reading: Reading, revision: string): Promise<string> {
  const commit = await currentCommit(reading, revision);
  if (commit === undefined) throw noRevision(revision);
  return commit;
}

// ── commits and authors ──

/**
 * If a page skips at least this many commits, it is read by its ids from a cached list. Without the list, git would
 * walk over all skipped commits each time.
 */
const DEEP = 1000;

async function commits(
  reading: Reading,
  { revision, filters, ...page }: ReturnType<typeof checkCommits>,
): ReturnType<told.History["commits"]> {
  const { operation, shared, state } = reading;
  const tip = await mustResolve(reading, revision);
  const walk: Walk = { tip, filters, dates: await datesOf(operation, filters) };
  const asked = { repository: state, revision, walk };
  const isDeep = page.skip >= DEEP;
  if (isDeep || shared.lists.peek(asked) !== undefined) {
    const list = await shared.lists.find(operation, asked, { needsIds: isDeep });
    const { total } = list;
    if (list.ids !== undefined) {
      const ids = idsOf({ ids: list.ids, idBytes: tip.length / 2 }, page);
      return { total, commits: (await readCommits(operation, ids)).map(withoutParents) };
    }
  }
  const [{ total }, listed] = await Promise.all([
    shared.lists.find(operation, asked, { needsIds: false }),
    walkPage(operation, walk, page),
  ]);
  return { total, commits: listed.map(withoutParents) };
}

async function commit(
  reading: Reading,
  revision: string,
): Promise<(told.Commit & { parents: string[] }) | undefined> {
  const id = await currentCommit(reading, revision);
  return id === undefined ? undefined : (await readCommits(reading.operation, [id]))[0];
}

async function authors(
  reading: Reading,
  { revision, path, skip, limit }: ReturnType<typeof checkAuthors>,
): ReturnType<told.History["authors"]> {
  const { operation, shared, state } = reading;
  const tip = await mustResolve(reading, revision);
  const key = JSON.stringify([state, tip, path]);
  const all = shared.authors.get(key) ?? (await listAuthors(operation, tip, path));
  shared.authors.set(key, all);
  return { authors: all.slice(skip, skip + limit), total: all.length };
}

// ── differences and blame ──

async function diff(
  reading: Reading,
  { base, head, path }: ReturnType<typeof checkDiff>,
): Promise<told.FileDiff[]> {
  const [from, to] = await Promise.all([mustResolve(reading, base), mustResolve(reading, head)]);
  return diffCommits(reading.operation, { base: from, head: to, path }, newPause());
}

async function blame(
  reading: Reading,
  { path, revision = "HEAD" }: ReturnType<typeof checkFile>,
): Promise<told.Blame | undefined> {
  const { operation } = reading;
  const pause = newPause();
  const commit = await currentCommit(reading, revision);
  const found = commit && (await findFile(operation, { commit, path }));
  return found ? blameFile(operation, { commit, path }, pause) : undefined;
}

// ── files and folders ──

/**
 * Finds a file or symbolic link in a commit. Rejects with FILE_TOO_LARGE if it has more than MOST_FILE_BYTES bytes.
 */
async function findFile(
  operation: Operation,
  at: { commit: string; path: string },
): Promise<{ id: string; isLink: boolean } | undefined> {
  const entry = await findEntry(operation, at, newPause());
  if (entry?.type !== "file" && entry?.type !== "symlink") return undefined;
  const header = await operation.headers.read(entry.id);
  if (header === undefined) return undefined;
  if (header.size <= MOST_FILE_BYTES) return { id: entry.id, isLink: entry.type === "symlink" };
  const message = `${at.path} has ${header.size} bytes; files up to ${MOST_FILE_BYTES} are read`;
  throw new QuernError("FILE_TOO_LARGE", message);
}

async function readFile(
  reading: Reading,
  { path, revision }: ReturnType<typeof checkFile>,
): Promise<FileContent | undefined> {
  const { operation, record, shared } = reading;
  const commit = await indexedCommit(reading, revision);
  const found = commit === undefined ? undefined : await findFile(operation, { commit, path });
  const object = found && (await operation.objects.read(found.id));
  if (!object) return undefined;
  const isDefault = revision === undefined || revision === "HEAD";
  const file: FoundFile = {
    path,
    revision: isDefault ? record.revisions[0]!.name : revision,
    ...(found.isLink ? { language: "", bytes: object.content } : textOf(path, object.content)),
  };
  return shared.present(record, file);
}

function textOf(path: string, content: Uint8Array): Pick<FoundFile, "language" | "bytes"> {
  const classified = classify(path, content);
  if (classified.kind === "text") return classified;
  throw new QuernError("BINARY_FILE", `${path} is a binary file; it has no lines`);
}

async function folders(
  reading: Reading,
  { paths: asked, revision }: ReturnType<typeof checkFolders>,
): Promise<Map<string, told.HistoryEntry[]> | undefined> {
  const commit = await indexedCommit(reading, revision);
  if (commit === undefined) return undefined;
  const pause = newPause();
  const wanted = { commit, paths: await pathTrie(asked, pause) };
  return listFolders(reading.operation, wanted, pause);
}

async function paths(
  reading: Reading,
  revision: string | undefined,
): Promise<told.HistoryEntry[] | undefined> {
  const commit = await indexedCommit(reading, revision);
  return commit === undefined ? undefined : listPaths(reading.operation, commit, newPause());
}
