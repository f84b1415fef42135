/**
 * Fuzzes the readers of `git ls-tree -z` and `git diff-tree -z` with mutated output, cut anywhere. The result must be
 * records with fields of the right types, or an error of quern's. The places of the cuts must make no difference, and
 * merging lists must lose no record.
 */

import { QuernError } from "../src/base/errors.ts";
import { GitProcesses, nulRecords } from "../src/git/git-process.ts";
import { listChanges, listTree, mergeTrees, type TreeRecord } from "../src/git/git-trees.ts";
import { isValidPath, printablePath } from "../src/base/paths.ts";
import { randomFrom } from "../test/regex/random.ts";
import { pieces } from "./pieces.ts";
import { holds, type Target } from "./target.ts";

export const gitTrees: Target = {
  async check(input) {
    const cut = pieces(input, randomFrom(input.length));
    for (const list of [listed, changed]) {
      const [whole, several] = [await list([input]), await list(cut)];
      const [one, other] = [JSON.stringify(whole), JSON.stringify(several)];
      holds(one === other, `in one piece: ${one}; in several: ${other}`);
      whole.forEach(checkRecord);
    }
    await checkMerge(await listed(cut));
  },
};

class ScriptedGit extends GitProcesses {
  readonly #output: readonly Buffer[];

  constructor(output: readonly Buffer[]) {
    super(".", new AbortController().signal);
    this.#output = output;
  }

  override async *records(): AsyncGenerator<Buffer> {
    const isWhole = yield* nulRecords(chunksOf(this.#output));
    if (!isWhole) throw new QuernError("SOURCE_UNREADABLE", "git ended early");
  }
}

async function* chunksOf(output: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* output;
}

const listed = (output: readonly Buffer[]) =>
  collect((git) => listTree(git, "HEAD", true), new ScriptedGit(output));
const changed = (output: readonly Buffer[]) =>
  collect((git) => listChanges(git, "a", "b"), new ScriptedGit(output));

async function collect(
  list: (git: GitProcesses) => AsyncGenerator<TreeRecord[]>,
  git: GitProcesses,
): Promise<TreeRecord[]> {
  const records: TreeRecord[] = [];
  try {
    for await (const batch of list(git)) records.push(...batch);
  } catch (error) {
    if (!(error instanceof QuernError)) throw error;
  } finally {
    git.kill();
  }
  return records;
}

function checkRecord({ path, isUtf8, mode, id, size }: TreeRecord): void {
  for (const text of [path, mode, id]) holds(typeof text === "string", "a field is no text");
  holds(size === undefined || typeof size === "number", `the size ${size}`);
  if (isUtf8 && isValidPath(path)) return;
  const shown = printablePath(path);
  holds(!/\p{Cc}|\p{Cs}/u.test(shown), "an invalid path is shown with control characters");
}

async function checkMerge(records: readonly TreeRecord[]): Promise<void> {
  const merged = [];
  const lists = [listOf(records), listOf(records)];
  for await (const batch of mergeTrees(lists, [0, 1])) merged.push(...batch);
  const seen = merged.reduce((sum, { revisions }) => sum + revisions.length, 0);
  holds(seen === 2 * records.length, `${seen} of ${2 * records.length} records`);
}

async function* listOf(records: readonly TreeRecord[]): AsyncGenerator<readonly TreeRecord[]> {
  for (let i = 0; i < records.length; i += 3) yield records.slice(i, i + 3);
}
