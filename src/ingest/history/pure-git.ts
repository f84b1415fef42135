/**
 * Runs git so that its diffs depend on nothing but the objects of a repository. Configuration and attributes of the
 * machine, of the user and of the work tree have no effect, and neither have grafts and replaced objects. git runs in an
 * empty folder, because it reads `.gitattributes` from the folder in which it runs. Only `info/attributes` of the
 * repository still applies.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GitProcesses } from "../../git/git-process.ts";
import { locateRepository } from "../../git/open-repository.ts";

/**
 * The options of every patch. With no line of context, git would trim the equal ends of both files first, and would find
 * other differences. One line of context gives the same differences as the usual three.
 */
const PATCH = [
  "-r",
  "--root",
  "-M",
  "-l1000",
  "--diff-algorithm=myers",
  "--indent-heuristic",
  "--unified=1",
  "--inter-hunk-context=0",
  "--no-textconv",
  "--no-ext-diff",
  "--no-color",
  "--no-relative",
  "--full-index",
  "--ignore-submodules=none",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];

const linesOf = (ids: Iterable<string>): string => Array.from(ids, (id) => `${id}\n`).join("");

async function wholeOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export class PureGit {
  readonly processes: GitProcesses;
  readonly #empty: string;
  readonly #configuration: readonly string[];

  constructor(processes: GitProcesses, empty: string, maxFileSize: number) {
    this.processes = processes;
    this.#empty = empty;
    this.#configuration = [
      ["core.attributesFile", "/dev/null"],
      ["core.bigFileThreshold", String(maxFileSize)], // the content of larger files counts as binary
      ["core.deltaBaseCacheLimit", "256m"],
      ["core.quotePath", "true"],
      ["core.commitGraph", "true"],
      ["advice.graftFileDeprecated", "false"],
      ["diff.renameLimit", "1000"],
      ["diff.suppressBlankEmpty", "false"],
      ["diff.noprefix", "false"],
      ["diff.mnemonicPrefix", "false"],
      ["diff.orderFile", ""],
    ].flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  }

  /** Yields the output of a command. */
  stream(args: readonly string[], input: string): AsyncGenerator<Buffer> {
    return this.processes.stream(["-C", this.#empty, ...this.#configuration, ...args], input);
  }

  /**
   * Yields, for each commit of the input, its id, the raw records of its changes, and their patches. A commit with
   * several parents has no changes.
   */
  patches(commits: readonly string[]): AsyncGenerator<Buffer> {
    const args = ["diff-tree", "--stdin", "--always", "--raw", "-p", "-z", ...PATCH];
    return this.stream(args, linesOf(commits));
  }

  /** Resolves to the ids and the raw records of commits. Renames are not detected, because this would read blobs. */
  rawChanges(commits: readonly string[]): Promise<Buffer> {
    const args = ["diff-tree", "--stdin", "--always", "--raw", "-r", "--root", "-z"];
    return wholeOf(this.stream([...args, "--no-renames", "--no-abbrev"], linesOf(commits)));
  }

  /** Resolves to those of the objects that do not exist. */
  async missing(objects: Iterable<string>): Promise<ReadonlySet<string>> {
    const output = await wholeOf(this.stream(["cat-file", "--batch-check"], linesOf(objects)));
    const lines = output.toString("latin1").matchAll(/^(\S+) missing$/gm);
    return new Set(Array.from(lines, ([, id]) => id!));
  }

  async close(): Promise<void> {
    this.processes.kill();
    await rm(this.#empty, { recursive: true, force: true });
  }
}

/** Opens the repository in a folder. REQUIRES: the result is closed. */
export async function openPureGit(
  folder: string,
  maxFileSize: number,
  signal: AbortSignal,
): Promise<PureGit> {
  const place = await locateRepository(folder, signal);
  const empty = await mkdtemp(join(tmpdir(), "quern-"));
  const environment = {
    GIT_DIR: place.gitDir,
    GIT_WORK_TREE: empty,
    GIT_INDEX_FILE: join(empty, "index"), // otherwise git reads attributes from the index
    GIT_ATTR_NOSYSTEM: "1",
    GIT_GRAFT_FILE: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_PARAMETERS: "",
    // with the user's own configuration, git has just accepted the owner of the repository
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
  };
  return new PureGit(new GitProcesses(place.folder, signal, environment), empty, maxFileSize);
}
