/**
 * Keeps a bare clone up to date. The clone has all branches and tags of its remote, and its HEAD refers to the
 * default branch. A killed process may leave incomplete packs and lock files behind. These files are removed before
 * the next fetch, which is safe because no other process writes to the clone. A damaged clone is deleted and created
 * again.
 *
 * REQUIRES: one caller at a time for each folder.
 */

import { createHash } from "node:crypto";
import { mkdir, opendir, readFile, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { QuernError } from "../../base/errors.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { sortInSlices } from "../../base/sort.ts";
import { newPause } from "../../base/yield.ts";
import { runRemote, type RemoteGit, type RemoteRun } from "./remote-git.ts";

/** The branches and tags of a remote. */
export interface RemoteState {
  /** Maps the full names of branches and tags to their object ids, in the order of the names. */
  readonly refs: ReadonlyMap<string, string>;
  /** The short name of the branch that HEAD refers to. Undefined if the remote has no branch. */
  readonly head: string | undefined;
}

export interface CloneOptions extends Omit<RemoteGit, "folder"> {
  /** The address of the remote, without a secret. */
  readonly url: string;
  /** The default branch according to the host. */
  readonly defaultBranch: string | undefined;
  readonly onProgress?: RemoteRun["onProgress"];
}

/** Brings the clone up to date. Resolves to its branches and tags. */
export async function updateClone(folder: string, options: CloneOptions): Promise<RemoteState> {
  await mkdir(folder, { recursive: true });
  const git: RemoteGit = { ...options, folder: await realpath(folder) };
  const state = await askRemote(git, options);
  if (state.head === undefined) return state;
  const known = await refsHere(git).catch(() => undefined);
  const hasChanged = known === undefined || (await digest(known)) !== (await digest(state.refs));
  if (hasChanged) {
    await fetchAll(git, options).catch(async (error: unknown) => {
      throwIfAborted(options.signal);
      if (!(error instanceof QuernError) || !isDamage(error)) throw error;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      await fetchAll(git, options);
    });
    await runRemote(["gc", "--auto", "--quiet"], { ...git, stallMs: GC_MS }, HERE).catch(() => {
      throwIfAborted(options.signal); // if repacking fails, the clone is still usable, only larger
    });
  }
  await setHead(git, `refs/heads/${state.head}`);
  // the remote may have changed since askRemote(), so the references that were fetched are returned
  return { refs: hasChanged ? await refsHere(git) : known, head: state.head };
}

/** Makes HEAD refer to a branch. Reads the file HEAD first, because starting git takes longer. */
async function setHead(git: RemoteGit, branch: string): Promise<void> {
  const text = await readFile(join(git.folder, "HEAD"), "utf8").catch(() => "");
  if (text !== `ref: ${branch}\n`) await runRemote(["symbolic-ref", "HEAD", branch], git, HERE);
}

const HERE = { inClone: true } as const;

/** How long git may repack a clone without any output. For a large repository, this takes minutes. */
const GC_MS = 3_600_000;

/** Resolves to a digest of references. If two digests are equal, the references are the same. */
export async function digest(refs: ReadonlyMap<string, string>): Promise<string> {
  const hash = createHash("sha256");
  const pause = newPause();
  for (const [name, id] of refs) {
    hash.update(`${id} ${name}\n`);
    await pause();
  }
  return hash.digest("hex");
}

async function askRemote(
  git: RemoteGit,
  { url, defaultBranch }: CloneOptions,
): Promise<RemoteState> {
  const args = ["ls-remote", "--symref", "--", url, "HEAD", "refs/heads/*", "refs/tags/*"];
  const refs: [string, string][] = [];
  let symbolic: string | undefined;
  let detached: string | undefined;
  await forEachLine(await runRemote(args, git), ([value, name]) => {
    if (value.startsWith("ref: ") && name === "HEAD") symbolic = value.slice(5);
    else if (name === "HEAD") detached = value;
    else if (/^refs\/(heads|tags)\//.test(name) && !name.endsWith("^{}")) refs.push([name, value]);
  });
  const sorted = await byName(refs);
  const named = [symbolic, `refs/heads/${defaultBranch}`];
  return { refs: sorted, head: await headOf(sorted, named, detached) };
}

/**
 * Resolves to the short name of the default branch. This is the first of the `named` branches that exists. If none
 * exists, it is a branch at the commit of a detached HEAD, or else main, master or the first branch.
 */
async function headOf(
  refs: ReadonlyMap<string, string>,
  named: readonly (string | undefined)[],
  detached: string | undefined,
): Promise<string | undefined> {
  const existing = (name: string | undefined) => name !== undefined && refs.has(name);
  let found = named.find(existing);
  let first: string | undefined;
  const pause = newPause();
  if (found === undefined)
    for (const [name, id] of refs) {
      await pause();
      if (!name.startsWith("refs/heads/")) continue;
      first ??= name;
      if (id !== detached) continue;
      found = name;
      break;
    }
  found ??= ["refs/heads/main", "refs/heads/master"].find(existing) ?? first;
  return found?.replace(/^refs\/heads\//, "");
}

/**
 * Calls `take` with the two columns of each line. Yields to the event loop at times, because a remote may have a
 * million references.
 */
async function forEachLine(
  output: Buffer,
  take: (columns: readonly [string, string]) => void,
): Promise<void> {
  const pause = newPause();
  for (let from = 0; from < output.length;) {
    const found = output.indexOf(NEWLINE, from);
    const end = found === -1 ? output.length : found;
    const [left = "", right = ""] = output.toString("utf8", from, end).split("\t");
    take([left, right]);
    from = end + 1;
    await pause();
  }
}

const NEWLINE = 10;

async function byName(refs: readonly (readonly [string, string])[]): Promise<Map<string, string>> {
  const pause = newPause();
  const sorted = await sortInSlices(refs, ([a], [b]) => (a < b ? -1 : 1), pause);
  const map = new Map<string, string>();
  for (const [name, id] of sorted) {
    map.set(name, id);
    await pause();
  }
  return map;
}

async function refsHere(git: RemoteGit): Promise<Map<string, string>> {
  const format = "--format=%(objectname)%09%(refname)";
  const rooms = ["refs/heads/", "refs/tags/"];
  const output = await runRemote(["for-each-ref", format, ...rooms], git, HERE);
  const refs: [string, string][] = [];
  await forEachLine(output, ([id, name]) => refs.push([name, id]));
  return byName(refs);
}

const EVERYTHING = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

async function fetchAll(git: RemoteGit, { url, onProgress }: CloneOptions): Promise<void> {
  await runRemote(["init", "--bare", "--quiet"], git, HERE);
  // index runs recognize the repository by this address (origins.ts)
  await runRemote(["config", "remote.origin.url", url], git, HERE);
  await sweep(git.folder);
  const flags = ["--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
  // the fetch may change or delete the branch that HEAD refers to, which does no harm in a bare repository
  const args = ["fetch", "--progress", "--force", "--update-head-ok", ...flags];
  await runRemote([...args, "--", url, ...EVERYTHING], git, {
    ...HERE,
    ...(onProgress && { onProgress }),
  });
}

/**
 * Removes lock files and incomplete packs. This removes no branch, because git permits no name that ends in `.lock`.
 */
async function sweep(folder: string): Promise<void> {
  const gone = (path: string) => rm(path, { force: true, recursive: true });
  for await (const entry of await opendir(folder))
    if (entry.name.endsWith(".lock")) await gone(join(folder, entry.name));
  const folders = [join(folder, "refs")];
  for (let path = folders.pop(); path !== undefined; path = folders.pop())
    for await (const entry of await opendir(path)) {
      if (entry.isDirectory()) folders.push(join(path, entry.name));
      else if (entry.name.endsWith(".lock")) await gone(join(path, entry.name));
    }
  for (const path of [join(folder, "objects"), join(folder, "objects", "pack")])
    for await (const entry of await opendir(path))
      if (/^(tmp_|\.tmp-)/.test(entry.name)) await gone(join(path, entry.name));
}

const isDamage = ({ message }: QuernError): boolean =>
  /bad object|corrupt|unable to read|did not send all necessary|missing (blob|tree|commit)|not a git repository|bad (ref|config)|loose object|broken|invalid (sha1|object)/i.test(
    message,
  );
