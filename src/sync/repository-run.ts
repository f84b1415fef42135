/** Syncs one repository. Updates its clone, and indexes the clone if anything has changed. */

import { createHash } from "node:crypto";
import { sep } from "node:path";
import { QuernError } from "../base/errors.ts";
import type { Engine } from "../engine.ts";
import { mustStayInside } from "../git/inside.ts";
import { openRepository } from "../git/open-repository.ts";
import { listRefs } from "../git/ref-patterns.ts";
import { git, type GitOptions } from "../ingest/sources/git.ts";
import type { RepositoryMetadata } from "../store/format/records.ts";
import { digest, updateClone } from "./clones/clone.ts";
import type { Connection } from "./connection.ts";
import type { Found } from "./hosts/found.ts";
import { type IndexQueue, isEverybodys } from "./index-queue.ts";
import {
  cloneFolder,
  readState,
  repositoryFolder,
  type RepositoryState,
  writeState,
} from "./records.ts";
import type { SyncedRepository } from "./report.ts";
import { revisionsOf } from "./revisions.ts";
import { metadataOf } from "./wanted.ts";

export interface RepositoryRun {
  readonly engine: Engine;
  readonly queue: IndexQueue;
  readonly connection: Connection;
  /**
   * Maps the names of indexed repositories to their folders. The run updates the map when it adds or removes a
   * repository.
   */
  readonly known: Map<string, string | undefined>;
  /** The names of the repositories that have lost a part of their index, and so must be indexed again. */
  readonly damaged: ReadonlySet<string>;
  readonly syncFolder: string;
  readonly signal: AbortSignal;
  readonly onProgress: (repository: string, line: string) => void;
}

export interface Claim {
  readonly found: Found;
  /** The name of the repository in the index. */
  readonly name: string;
}

/** Syncs the repository. Rejects only with errors that end the whole run. */
export async function syncRepository(claim: Claim, run: RepositoryRun): Promise<SyncedRepository> {
  const { found, name } = claim;
  const home = repositoryFolder(run.syncFolder, run.connection.id, found.id);
  const before = await readState(home);
  try {
    return await update({ ...claim, home, before }, run);
  } catch (error) {
    if (run.signal.aborted || !(error instanceof QuernError) || isEverybodys(error)) throw error;
    const { message } = error;
    const { goneSince: _back, ...kept } = before ?? { ...blank(claim, run), indexed: undefined };
    await writeState(home, withoutUndefined({ ...kept, failure: message }));
    return { name, outcome: "failed", message };
  }
}

const withoutUndefined = (
  state: Omit<RepositoryState, "indexed"> & { indexed?: string | undefined },
) => {
  const { indexed, ...rest } = state;
  return indexed === undefined ? rest : { ...rest, indexed };
};

interface Task extends Claim {
  /** The folder of the repository's record and clone. */
  readonly home: string;
  /** The repository's record before this run. */
  readonly before: RepositoryState | undefined;
}

const folderOf = ({ found }: Claim, run: RepositoryRun): string =>
  found.place.kind === "folder"
    ? found.place.path
    : cloneFolder(repositoryFolder(run.syncFolder, run.connection.id, found.id));

const blank = (claim: Claim, run: RepositoryRun): RepositoryState => ({
  version: 1,
  id: claim.found.id,
  name: claim.name,
  path: claim.found.path,
  folder: folderOf(claim, run),
});

async function update(task: Task, run: RepositoryRun): Promise<SyncedRepository> {
  const { name, home, before } = task;
  const fresh = blank(task, run);
  const current = await currentState(task, run);
  if (current === undefined) {
    await dropOldName(task, run, undefined);
    await writeState(home, fresh);
    return { name, outcome: "empty" };
  }
  const { revisions, refs } = current;
  const metadata = metadataOf(task.found, run.connection.config, run.connection.codeHostType);
  const { history } = run.connection.config;
  const key = keyOf({ refs, revisions, metadata, name, history });
  const isThere = run.known.get(name) === fresh.folder && run.known.has(name);
  const isWhole = isThere && !run.damaged.has(name);
  const isSame = refs !== undefined && before?.indexed === key && isWhole;
  const outcome = isSame ? "unchanged" : await index(task, run, { revisions, metadata });
  await dropOldName(task, run, name);
  await writeState(home, { ...fresh, indexed: key });
  return { name, outcome };
}

interface Current {
  readonly revisions: string[];
  /**
   * A digest of the references. Undefined for a folder, because the index run itself finds out what has changed
   * there.
   */
  readonly refs: string | undefined;
}

/** Resolves to the revisions that must be indexed, or to undefined if the repository is empty. */
async function currentState(task: Task, run: RepositoryRun): Promise<Current | undefined> {
  const { found, name } = task;
  const { connection, signal } = run;
  if (found.place.kind === "folder") return stateOfFolder(found.place.path, run);
  const { refs, head } = await updateClone(folderOf(task, run), {
    url: found.place.url,
    credential: connection.credentialFor(found.place.url),
    defaultBranch: found.defaultBranch,
    stallMs: connection.stallMs,
    signal,
    onProgress: (line) => run.onProgress(name, line),
  });
  if (head === undefined) return undefined;
  const revisions = await revisionsOf(refs.keys(), head, connection.config);
  return { revisions, refs: await digest(refs) };
}

async function stateOfFolder(
  path: string,
  { signal, connection }: RepositoryRun,
): Promise<Current | undefined> {
  await mustStayInside(path, signal);
  const processes = await openRepository(path, signal);
  try {
    const head = (await processes.run(["symbolic-ref", "-q", "HEAD"])).stdout.trim();
    const refs = await listRefs(processes);
    if (head !== "" && !refs.includes(head)) {
      if (refs.length === 0) return undefined;
      const message = `HEAD of the repository ${path} names ${head}, which does not exist, although other branches do; fix it with git symbolic-ref HEAD`;
      throw new QuernError("SOURCE_UNREADABLE", message);
    }
    const branch = head === "" ? "HEAD" : head.replace(/^refs\/heads\//, "");
    return { revisions: await revisionsOf(refs, branch, connection.config), refs: undefined };
  } finally {
    processes.kill();
  }
}

function keyOf(parts: {
  readonly refs: string | undefined;
  readonly revisions: readonly string[];
  readonly metadata: RepositoryMetadata;
  readonly name: string;
  readonly history: GitOptions["history"];
}): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

async function index(
  task: Task,
  run: RepositoryRun,
  { revisions, metadata }: { revisions: string[]; metadata: RepositoryMetadata },
): Promise<"indexed" | "unchanged"> {
  const { name } = task;
  const folder = folderOf(task, run);
  const taken = run.known.get(name);
  // two repositories may have swapped names, and the other one is about to get its new name
  if (taken !== undefined && taken !== folder && taken.startsWith(run.syncFolder + sep))
    await run.engine.remove(name);
  run.known.set(name, folder); // dropOldName() of the other repository then leaves this name alone
  try {
    const { history = false } = run.connection.config;
    const source = git(folder, { ...metadata, name, revisions, history, trusted: false });
    const { added, removed } = await run.queue.add(source);
    const isOld = taken === folder && task.found.place.kind === "folder";
    return isOld && added + removed === 0 ? "unchanged" : "indexed";
  } catch (error) {
    if (taken === folder) throw error;
    run.known.delete(name);
    throw error;
  }
}

/**
 * Removes the previous name of a repository from the index, unless the repository still has that name. `name` is the
 * current name of the repository, or undefined if the repository is empty.
 */
async function dropOldName(
  { before }: Task,
  { engine, known }: RepositoryRun,
  name: string | undefined,
): Promise<void> {
  if (before?.indexed === undefined || before.name === name) return;
  if (known.get(before.name) !== before.folder) return; // another repository has this name now
  await engine.remove(before.name);
  known.delete(before.name);
}
