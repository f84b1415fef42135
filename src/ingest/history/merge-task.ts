/** Writes one history segment with the commits of several, newest first. Commits that no revision reaches are left out. */

import { hasBit, type Bitset } from "../../base/bitset.ts";
import {
  HistoryBuilder,
  SIDE_KINDS,
  STATUSES,
  type WrittenHistory,
} from "../../store/history/history-builder.ts";
import { openHistorySegment, type HistoryReader } from "../../store/history/history-reader.ts";
import type { NewLayout } from "../../store/format/format.ts";
import { corrupt } from "../../store/format/sealed.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { threadEnvironment } from "../../store/lmdb/thread-environment.ts";
import { segmentTarget } from "../../store/segments/segment-target.ts";
import type { Task, TaskContext } from "../../threads/task.ts";

export interface HistoryMergeInput {
  /** The segments, newest first. */
  readonly segments: readonly number[];
  /** The commits of each segment that stay. */
  readonly kept: readonly Bitset[];
  readonly repository: number;
  readonly target: number;
  /** The owner of the write lease. */
  readonly owner: string;
  readonly layout: NewLayout;
}

/** REQUIRES: at least one commit stays. */
export const historyMergeTask: Task<HistoryMergeInput, WrittenHistory> = async (input, context) => {
  const { segments, kept, repository, target: segment, owner, layout } = input;
  const environment = threadEnvironment(context);
  const builder = new HistoryBuilder();
  const snapshot = environment.snapshot();
  try {
    for (const [i, one] of segments.entries()) {
      const reader = openHistorySegment(snapshot, one);
      if (!reader) throw corrupt(`history segment ${one} is missing`);
      await replay(reader, { snapshot, builder, kept: kept[i]!, context });
    }
  } finally {
    snapshot.close();
  }
  const pause = () => context.pause();
  return builder.write(segmentTarget(environment, segment, owner), { repository, layout, pause });
};

interface Replaying {
  readonly snapshot: Snapshot;
  readonly builder: HistoryBuilder;
  readonly kept: Bitset;
  readonly context: TaskContext;
}

async function replay(
  reader: HistoryReader,
  { snapshot, builder, kept, context }: Replaying,
): Promise<void> {
  const { commits, changes, lineStarts } = reader;
  const paths = reader.paths(snapshot);
  const people = reader.people(snapshot);
  const text = reader.copyText(snapshot, 0, reader.header.lineBytes);
  const addLines = (lines: Uint32Array, isAdded: boolean): void => {
    for (const line of lines)
      builder.line(text, lineStarts[line]!, lineStarts[line + 1]! - 1, isAdded);
  };
  for (let commit = 0; commit < reader.header.commits; commit++) {
    if (!hasBit(kept, commit)) continue;
    builder.commit({
      id: reader.commitId(commit),
      parents: reader.parentsOf(commit),
      author: people[commits.authors[commit]!]!,
      committer: people[commits.committers[commit]!]!,
      authored: commits.authored[commit]!,
      committed: commits.committed[commit]!,
      isBoundary: reader.isBoundary(commit),
      message: reader.message(snapshot, commit),
    });
    const end = commits.changeStarts[commit + 1]!;
    for (let change = commits.changeStarts[commit]!; change < end; change++) {
      builder.change({
        status: STATUSES[changes.statuses[change]!]!,
        path: paths[changes.paths[change]!]!,
        oldPath: paths[changes.oldPaths[change]!]!,
        kind: SIDE_KINDS[changes.kinds[change]! & 3]!,
        oldKind: SIDE_KINDS[changes.kinds[change]! >>> 2]!,
      });
      if (changes.binary[change]) builder.binary();
      for (const { oldLine, newLine, removed, added } of reader.runs(snapshot, change)) {
        builder.run(oldLine, newLine);
        // within a run, git shows the removed lines first
        addLines(removed, false);
        addLines(added, true);
      }
      const wait = context.pause();
      if (wait) await wait;
    }
  }
}
