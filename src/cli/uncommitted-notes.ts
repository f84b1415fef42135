/** Notes about repositories whose commits are indexed, but whose work trees contain something else. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { JoinedSignal } from "../base/joined-signal.ts";
import { countUncommitted } from "../git/uncommitted.ts";
import type { Repository } from "../repository.ts";
import { count, visible } from "./style.ts";

/** How long git may take, since the notes are only an addition to an answer. */
const MOST_MS = 5_000;
/** The maximum number of work trees that are examined after a search that found nothing. */
const MOST_TREES = 16;

/** Resolves to a note for each repository in whose work tree files differ from the indexed commit. */
export async function uncommittedNotes(
  repositories: readonly Repository[],
  signal: AbortSignal,
): Promise<string[]> {
  const trees = repositories.filter(isOfCommits).slice(0, MOST_TREES);
  const notes = await Promise.all(trees.map((one) => noteOf(one, signal)));
  return notes.filter((note) => note !== undefined);
}

const isOfCommits = ({ origin, revisions }: Repository): boolean =>
  origin !== undefined &&
  revisions[0]?.commit !== undefined &&
  existsSync(join(origin.folder, ".git"));

async function noteOf(
  { name, origin }: Repository,
  signal: AbortSignal,
): Promise<string | undefined> {
  using limited = new JoinedSignal([signal], MOST_MS);
  const files = await countUncommitted(origin!.folder, limited.signal).catch(() => undefined);
  if (!files) return undefined;
  const verb = files === 1 ? "differs" : "differ";
  return `quern: ${count(files, "file")} of ${visible(name)} ${verb} from its commit, which alone is indexed; quern index --worktree includes them`;
}
