/** Repositories made to hurt whoever reads them: pipes, trees that name each other, ways out of the folder. */

import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { PATIENCE_MS } from "../../src/git/patience.ts";
import { GitProcesses } from "../../src/git/git-process.ts";
import { listChanges, listTree } from "../../src/git/git-trees.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { commit, git as run, readLines, repository } from "../ingest/listing.ts";

/** The real one, while tests put their own in its place. */
const realTimeout = globalThis.setTimeout;
const isWindows = process.platform === "win32";
afterEach(() => void vi.useRealTimers());

function pipe(path: string): void {
  rmSync(path, { force: true });
  execFileSync("mkfifo", [path]);
}

/** A commit whose tree names a tree a thousand times, `levels` deep; the last holds `files` of them. */
function bomb(levels: number, files: boolean): string {
  const folder = repository({ a: "1" });
  const object = (type: string, content: Buffer) =>
    execFileSync("git", ["hash-object", "-w", "--stdin", "-t", type, "--literally"], {
      cwd: folder,
      input: content,
      encoding: "utf8",
    }).trim();
  let id = object("tree", Buffer.alloc(0));
  if (files) id = run(folder, "rev-parse", "HEAD^{tree}");
  for (let level = 0; level < levels; level++) {
    const names = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(3, "0"));
    const entry = (name: string) =>
      Buffer.concat([Buffer.from(`40000 ${name}\0`), Buffer.from(id, "hex")]);
    id = object("tree", Buffer.concat(names.map(entry)));
  }
  run(folder, "update-ref", "refs/heads/main", run(folder, "commit-tree", "-m", "m", id));
  return folder;
}

/** What reading it ends with when git has been silent for too long: timers are moved on as soon as they are set. */
async function endingOf(folder: string): Promise<string> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let ending = "";
  void readLines(git(folder, { revisions: ["main"] })).then(
    (lines) => (ending = lines.join()),
    (error: { code: string; message: string }) => (ending = `${error.code}: ${error.message}`),
  );
  // git answers within a few seconds whatever it can answer; what is left then is silent
  for (let quiet = 0; ending === "" && quiet < 40; quiet++) {
    for (const end = performance.now() + 100; performance.now() < end && ending === "";)
      await new Promise((done) => realTimeout(done, 5));
    if (quiet > 20) vi.advanceTimersByTime(PATIENCE_MS);
  }
  return ending;
}

const SILENT = /^SOURCE_UNREADABLE: git has been silent for 120 s over the repository \//;

describe.skipIf(isWindows)("a repository that never answers", () => {
  test.each<[what: string, make: (folder: string) => void, ending: RegExp]>([
    ["packed-refs is a pipe", (folder) => pipe(join(folder, ".git/packed-refs")), SILENT],
    ["a branch is a pipe", (folder) => pipe(join(folder, ".git/refs/heads/main")), SILENT],
    ["shallow is a pipe", (folder) => pipe(join(folder, ".git/shallow")), SILENT],
    [
      "an included configuration is a pipe",
      (folder) => {
        run(folder, "config", "include.path", "more");
        pipe(join(folder, ".git/more"));
      },
      SILENT,
    ],
    [
      "an object is a pipe",
      (folder) => {
        const id = run(folder, "rev-parse", "HEAD:a");
        pipe(join(folder, ".git/objects", id.slice(0, 2), id.slice(2)));
      },
      SILENT,
    ],
  ])("%s", async (_, make, ending) => {
    const folder = repository({ a: "1" });
    make(folder);
    expect(await endingOf(folder)).toMatch(ending);
  });

  test("a tree without files that never ends", async () => {
    expect(await endingOf(bomb(6, false))).toMatch(SILENT);
  });
});

describe.skipIf(isWindows)("a repository that leads elsewhere", () => {
  const secret = () => repository({ secret: "s" });
  const ROWS: [what: string, make: (folder: string) => void, refused: RegExp][] = [
    [
      ".git is a link",
      (folder) => {
        rmSync(join(folder, ".git"), { recursive: true });
        symlinkSync(join(secret(), ".git"), join(folder, ".git"));
      },
      /^\.git of the repository/,
    ],
    [
      ".git names another folder",
      (folder) => {
        rmSync(join(folder, ".git"), { recursive: true });
        writeFileSync(join(folder, ".git"), `gitdir: ${join(secret(), ".git")}\n`);
      },
      /^\.git of the repository/,
    ],
    [
      "objects and references are links",
      (folder) => {
        const other = secret();
        for (const part of ["objects", "refs"]) {
          rmSync(join(folder, ".git", part), { recursive: true });
          symlinkSync(join(other, ".git", part), join(folder, ".git", part));
        }
      },
      /^\.git\/(?:objects|refs) of the repository/,
    ],
    [
      "objects have an alternate",
      (folder) => {
        const other = secret();
        const alternates = join(folder, ".git/objects/info/alternates");
        writeFileSync(alternates, `${join(other, ".git/objects")}\n`);
        run(folder, "update-ref", "refs/heads/main", run(other, "rev-parse", "HEAD"));
      },
      /^objects\/info\/alternates of/,
    ],
    [
      "it has a common folder",
      (folder) => writeFileSync(join(folder, ".git/commondir"), join(secret(), ".git")),
      /^commondir of/,
    ],
    [
      "its configuration includes a file",
      (folder) => run(folder, "config", "include.path", "/dev/null"),
      /^config, which includes another file, of/,
    ],
  ];

  test.each(ROWS)("%s", async (_, make, refused) => {
    const folder = repository({ a: "1" });
    make(folder);
    const reading = readLines(git(folder, { trusted: false }));
    const message = expect.stringMatching(refused);
    await expect(reading).rejects.toMatchObject({ code: "SOURCE_UNREADABLE", message });
    const remote = git(folder, { trusted: false }).origin!.remote!(new AbortController().signal);
    await expect(remote).rejects.toMatchObject({ code: "SOURCE_UNREADABLE" });
  });

  test("one that keeps to its folder is read, bare or not", async () => {
    const folder = repository({ a: "1" });
    symlinkSync("main", join(folder, ".git/refs/heads/alias"));
    expect(await readLines(git(folder, { trusted: false }))).toEqual(['a @0 "1"']);
    const bare = join(folder, ".git");
    expect(await readLines(git(bare, { trusted: false }))).toEqual(['a @0 "1"']);
    await expect(readLines(git(`${folder}-none`, { trusted: false }))).rejects.toMatchObject({
      code: "SOURCE_NOT_FOUND",
    });
    expect(() => git(folder, { trusted: 1 as never })).toThrow("trusted must be a boolean");
  });
});

test.skipIf(isWindows)("a tree with more files than a commit may have", async () => {
  const folder = bomb(4, true);
  const never = new AbortController().signal;
  const processes = new GitProcesses(folder, never);
  const all = async (list: AsyncIterable<readonly unknown[]>) => {
    for await (const _ of list);
  };
  const main = run(folder, "rev-parse", "main");
  const want = { code: "SOURCE_UNREADABLE", message: /has more than 50000 files/ };
  const message = expect.stringMatching(want.message);
  await expect(all(listTree(processes, main, false, 50_000))).rejects.toMatchObject({
    ...want,
    message,
  });
  processes.kill();
});

test.skipIf(isWindows)("changes with more files than a commit may have", async () => {
  const folder = repository({ a: "1" });
  const before = run(folder, "rev-parse", "HEAD");
  writeFileSync(join(folder, "b"), "1");
  writeFileSync(join(folder, "c"), "1");
  const after = commit(folder);
  const processes = new GitProcesses(folder, new AbortController().signal);
  const list = async () => {
    for await (const _ of listChanges(processes, before, after, 1));
  };
  await expect(list()).rejects.toMatchObject({ code: "SOURCE_UNREADABLE" });
  processes.kill();
});
