/**
 * Compares the history of a repository, as quern indexes it, with `git log -p`: every change, with the side, the number
 * and the bytes of each line, in order. Commits that need a missing blob are left out. Prints the first differences and the number of changes.
 *
 *     node --import tsx scripts/compare-changes.ts REPOSITORY...
 */

import { spawn } from "node:child_process";
import { createHash, type Hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { git, open } from "../src/index.ts";
import { readManifest } from "../src/store/catalog/manifest.ts";
import { openHistorySegment } from "../src/store/history/history-reader.ts";
import { openUnderLock } from "../src/store/lmdb/environment.ts";
import { pureEnvironment } from "./pure-git.ts";

/** For each commit, the digests of its changes, in order. */
type Changes = Map<string, string[]>;

const MOST_SHOWN = 5;

async function main(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const index = mkdtempSync(join(tmpdir(), "quern-compare-"));
    try {
      const start = performance.now();
      const engine = await open(index, { workers: 2, warmUp: false });
      const source = git(folder, { history: true });
      const [report] = await engine.index(source, { symbols: "skip", words: "skip" });
      const withoutLines = new Set(report!.history!.withoutLines);
      await engine.close();
      const seconds = (performance.now() - start) / 1000;
      const ours = await indexedChanges(index);
      const theirs = await loggedChanges(
        folder,
        [...ours.keys()].filter((id) => !withoutLines.has(id)),
      );
      for (const id of withoutLines) ours.delete(id);
      const differing = [...theirs].filter(
        ([id, all]) => all.join() !== (ours.get(id) ?? []).join(),
      );
      const extra = [...ours].filter(([id, all]) => all.length > 0 && !theirs.has(id));
      const count = [...theirs.values()].reduce((sum, { length }) => sum + length, 0);
      console.log(
        `${folder}: ${ours.size} commits, ${count} changes, ${differing.length + extra.length} commits differ, ${withoutLines.size} left out, indexed in ${seconds.toFixed(1)} s`,
      );
      for (const [id] of [...differing, ...extra].slice(0, MOST_SHOWN)) console.log(`  ${id}`);
      if (differing.length + extra.length > 0) process.exitCode = 1;
    } finally {
      rmSync(index, { recursive: true });
    }
  }
}

const addLine = (hash: Hash, isAdded: boolean, line: number, text: Uint8Array): void =>
  void hash
    .update(`${isAdded ? "+" : "-"}${line} `)
    .update(text)
    .update("\n");

async function indexedChanges(index: string): Promise<Changes> {
  const environment = await openUnderLock(index, { readOnly: true });
  const snapshot = environment.snapshot();
  const changes: Changes = new Map();
  for (const { segment } of readManifest(snapshot).history) {
    const reader = openHistorySegment(snapshot, segment)!;
    const text = reader.copyText(snapshot, 0, reader.header.lineBytes);
    const { changeStarts } = reader.commits;
    for (let commit = 0; commit < reader.header.commits; commit++) {
      const own: string[] = [];
      for (let change = changeStarts[commit]!; change < changeStarts[commit + 1]!; change++) {
        const hash = createHash("sha1");
        for (const run of reader.runs(snapshot, change))
          for (const isAdded of [false, true])
            for (const [i, line] of (isAdded ? run.added : run.removed).entries()) {
              const [from, to] = [reader.lineStarts[line]!, reader.lineStarts[line + 1]! - 1];
              const first = isAdded ? run.newLine : run.oldLine;
              addLine(hash, isAdded, first + i, text.subarray(from, to));
            }
        own.push(hash.digest("hex"));
      }
      changes.set(reader.commitId(commit), own);
    }
  }
  snapshot.close();
  await environment.close();
  return changes;
}

/** Reads git log of these commits with its usual three lines of context. */
async function loggedChanges(folder: string, ids: readonly string[]): Promise<Changes> {
  const empty = mkdtempSync(join(tmpdir(), "quern-empty-"));
  const settings = ["core.attributesFile=/dev/null", "core.bigFileThreshold=2097152"];
  const args = ["log", "--stdin", "--no-walk", "-p", "--no-merges", "-M", "-l1000", "--format=@%H"];
  const child = spawn(
    "git",
    [
      ...settings.flatMap((one) => ["-c", one]),
      ...args,
      "--no-color",
      "--no-ext-diff",
      "--no-textconv",
    ],
    {
      cwd: empty,
      env: pureEnvironment(folder, empty),
      stdio: ["pipe", "pipe", "ignore"],
    },
  );
  child.stdin.end(ids.map((id) => `${id}\n`).join(""));
  const log = new LogReader();
  let rest = Buffer.alloc(0);
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    const data = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, from)) {
      log.line(data.subarray(from, end));
      from = end + 1;
    }
    rest = Buffer.from(data.subarray(from));
  }
  log.end();
  rmSync(empty, { recursive: true });
  return log.changes;
}

class LogReader {
  readonly changes: Changes = new Map();
  #own: string[] = [];
  #hash: Hash | undefined;
  #old = 0;
  #new = 0;
  #oldLeft = 0;
  #newLeft = 0;
  /** Whether the file is deleted, so that a patch of the same file may follow that creates it with another type. */
  #head = "";
  #isDeleted = false;

  line(line: Buffer): void {
    if (this.#oldLeft + this.#newLeft > 0) this.#content(line);
    else this.#other(line.toString("latin1"));
  }

  #content(line: Buffer): void {
    const kind = String.fromCharCode(line[0]!);
    if (kind === "\\") return;
    if (kind === "+") addLine(this.#hash!, true, this.#new, line.subarray(1));
    if (kind === "-") addLine(this.#hash!, false, this.#old, line.subarray(1));
    if (kind !== "+") [this.#old, this.#oldLeft] = [this.#old + 1, this.#oldLeft - 1];
    if (kind !== "-") [this.#new, this.#newLeft] = [this.#new + 1, this.#newLeft - 1];
  }

  #other(line: string): void {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      [this.#old, this.#new] = [Number(hunk[1]), Number(hunk[3])];
      [this.#oldLeft, this.#newLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
    } else if (/^@[0-9a-f]{40,64}$/.test(line)) {
      this.end();
      this.#head = "";
      this.changes.set(line.slice(1), (this.#own = []));
    } else if (line.startsWith("diff --git ")) {
      const isSecond = this.#isDeleted && line === this.#head;
      this.#isDeleted = false;
      this.#head = line;
      if (isSecond) return;
      this.end();
      this.#hash = createHash("sha1");
    } else if (line.startsWith("deleted file mode")) this.#isDeleted = true;
  }

  end(): void {
    if (this.#hash) this.#own.push(this.#hash.digest("hex"));
    this.#hash = undefined;
  }
}

await main(process.argv.slice(2));
