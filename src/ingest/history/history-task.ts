/**
 * Reads commits and their patches on a thread, and writes them as one history segment. One git process reads a slice of
 * SLICE_COMMITS commits. Starting a process costs as much as 30 commits.
 */

import { QuernError } from "../../base/errors.ts";
import { HistoryBuilder, type WrittenHistory } from "../../store/history/history-builder.ts";
import type { NewLayout } from "../../store/format/format.ts";
import { threadEnvironment } from "../../store/lmdb/thread-environment.ts";
import { segmentTarget } from "../../store/segments/segment-target.ts";
import type { Task, TaskContext } from "../../threads/task.ts";
import { commitsWithoutBlobs, readRawChanges, type RawChange } from "./missing-blobs.ts";
import { PatchParser } from "./patch-parser.ts";
import { openPureGit, type PureGit } from "./pure-git.ts";
import { readCommits } from "./raw-commits.ts";

export interface HistoryInput {
  readonly folder: string;
  readonly maxFileSize: number;
  /** The commits to read, newest first. */
  readonly ids: readonly string[];
  /** Those of them at which the repository is shallow. */
  readonly boundaries: ReadonlySet<string>;
  readonly repository: number;
  readonly segment: number;
  /** The owner of the write lease. */
  readonly owner: string;
  readonly layout: NewLayout;
  readonly bounds: HistoryBounds;
  /** The first word is set to 1 to stop the task. */
  readonly stop: Int32Array;
}

/** When a segment is full. It is written after the slice with which it exceeds one of these. */
export interface HistoryBounds {
  readonly memoryBytes: number;
  readonly textBytes: number;
}

export interface HistoryOutput {
  readonly written: WrittenHistory;
  /** The number of commits that were read. They are the first ones of the input. */
  readonly commits: number;
  /** Those of them that have no lines, because the repository lacks a blob. */
  readonly withoutLines: readonly string[];
}

const SLICE_COMMITS = 2_000;
const STOP_CHECK_MS = 20;

/** REQUIRES: there is at least one commit. */
export const historyTask: Task<HistoryInput, HistoryOutput> = async (input, context) => {
  const { folder, maxFileSize, ids, repository, segment, owner, layout, stop } = input;
  const controller = new AbortController();
  const timer = setInterval(() => {
    if (Atomics.load(stop, 0) !== 0) controller.abort();
  }, STOP_CHECK_MS);
  try {
    const git = await openPureGit(folder, maxFileSize, controller.signal);
    let incomplete: ReadonlySet<string> = new Set();
    let builder: HistoryBuilder;
    try {
      builder = await readCommitsOf(git, { ...input, incomplete, context }).catch(async (error) => {
        if (!isUnreadable(error)) throw error;
        incomplete = await commitsWithoutBlobs(git, ids);
        if (incomplete.size === 0) throw error;
        return readCommitsOf(git, { ...input, incomplete, context });
      });
    } finally {
      await git.close();
    }
    const target = segmentTarget(threadEnvironment(context), segment, owner);
    const pause = () => context.pause();
    const written = await builder.write(target, { repository, layout, pause });
    const { commits } = builder;
    const withoutLines = ids.slice(0, commits).filter((id) => incomplete.has(id));
    return { written, commits, withoutLines };
  } finally {
    clearInterval(timer);
  }
};

const isUnreadable = (error: unknown): boolean =>
  error instanceof QuernError && error.code === "SOURCE_UNREADABLE";

interface Reading extends Pick<HistoryInput, "ids" | "boundaries" | "bounds"> {
  /** Commits whose patches git cannot show. */
  readonly incomplete: ReadonlySet<string>;
  readonly context: TaskContext;
}

/** Reads commits until the segment is full. */
async function readCommitsOf(git: PureGit, reading: Reading): Promise<HistoryBuilder> {
  const { ids, bounds, context } = reading;
  const builder = new HistoryBuilder();
  while (builder.commits < ids.length) {
    const slice = ids.slice(builder.commits, builder.commits + SLICE_COMMITS);
    await readSlice(git, slice, { ...reading, builder });
    context.post(builder.commits);
    if (builder.bytes > bounds.memoryBytes || builder.textBytes > bounds.textBytes) break;
  }
  return builder;
}

async function readSlice(
  git: PureGit,
  ids: readonly string[],
  { boundaries, incomplete, builder, context }: Reading & { readonly builder: HistoryBuilder },
): Promise<void> {
  const commits = await readCommits(git, ids);
  // git lists the patches of these commits in this order
  const isPatched = commits.map(
    ({ id, parents }) => parents.length < 2 && !boundaries.has(id) && !incomplete.has(id),
  );
  const listed = ids.filter((id) => incomplete.has(id));
  const raw =
    listed.length > 0 ? await readRawChanges(git, listed) : new Map<string, RawChange[]>();
  let next = 0;
  const addCommit = (): string => {
    const commit = commits[next++]!;
    builder.commit({ ...commit, isBoundary: boundaries.has(commit.id) });
    return commit.id;
  };
  const addUnpatched = (): void => {
    while (next < commits.length && !isPatched[next])
      for (const { info } of raw.get(addCommit()) ?? []) {
        builder.change(info);
        builder.binary();
      }
  };
  const parser = new PatchParser(
    {
      commit: () => {
        addUnpatched();
        addCommit();
      },
      change: (change) => builder.change(change),
      binary: () => builder.binary(),
      run: (oldLine, newLine) => builder.run(oldLine, newLine),
      line: (data, from, to, isAdded) => builder.line(data, from, to, isAdded),
    },
    ids[0]!.length,
  );
  const patched = ids.filter((_, i) => isPatched[i]);
  if (patched.length > 0)
    for await (const chunk of git.patches(patched)) {
      parser.feed(chunk);
      const wait = context.pause();
      if (wait) await wait;
    }
  parser.end();
  addUnpatched();
}
