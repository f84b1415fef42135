/** Hostile repositories: pipes, trees that name each other, ways out of the folder. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { GitProcesses, nulRecords } from "../../src/git/git-process.ts";
import { MOST_WAITED_MS, Patience, PATIENCE_MS } from "../../src/git/patience.ts";
import { listChanges, listTree } from "../../src/git/git-trees.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { commit, git as run, read, readLines, repository, tempFolder } from "../ingest/listing.ts";

/** The real setTimeout(), which tests replace. */
const realTimeout = globalThis.setTimeout;
const isWindows = process.platform === "win32";
afterEach(() => void vi.useRealTimers());

function pipe(path: string): void {
  rmSync(path, { force: true });
  execFileSync("mkfifo", [path]);
}

/** Writes an object as it is given, and returns its id. */
const put = (folder: string, type: string, content: Buffer): string =>
  execFileSync("git", ["hash-object", "-w", "--stdin", "-t", type, "--literally"], {
    cwd: folder,
    input: content,
    encoding: "utf8",
  }).trim();

/** Writes a tree that holds a tree under each of these names. */
const putTree = (folder: string, names: readonly string[], id: string): string => {
  const entry = (name: string) => [Buffer.from(`40000 ${name}\0`), Buffer.from(id, "hex")];
  return put(folder, "tree", Buffer.concat(names.flatMap(entry)));
};

const commitTree = (folder: string, id: string): string =>
  run(folder, "update-ref", "refs/heads/main", run(folder, "commit-tree", "-m", "m", id));

/**
 * Makes a commit whose tree contains a tree a thousand times, and so on for `levels` levels. The last level contains
 * files if `files` is true.
 */
function bomb(levels: number, files: boolean): string {
  const folder = repository({ a: "1" });
  let id = put(folder, "tree", Buffer.alloc(0));
  if (files) id = run(folder, "rev-parse", "HEAD^{tree}");
  const names = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(3, "0"));
  for (let level = 0; level < levels; level++) id = putTree(folder, names, id);
  commitTree(folder, id);
  return folder;
}

/**
 * Makes a pack of 116 bytes and its index, with two objects that are deltas of each other. The tree has the first as a
 * file.
 */
function circle(): string {
  const folder = repository({ a: "1" });
  const ids = ["31", "32"].map((byte) => Buffer.from(byte.repeat(20), "hex"));
  const copyTen = Buffer.from([10, 10, 0x90, 10]); // copies ten bytes from ten bytes
  const objects = [1, 0].map((base) =>
    Buffer.concat([Buffer.from([(7 << 4) | copyTen.length]), ids[base]!, deflateSync(copyTen)]),
  );
  const sealed = (parts: Buffer[]) => {
    const bytes = Buffer.concat(parts);
    return Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]);
  };
  const words = (...numbers: number[]) => {
    const bytes = Buffer.alloc(4 * numbers.length);
    numbers.forEach((number, i) => bytes.writeUInt32BE(number, 4 * i));
    return bytes;
  };
  const pack = sealed([Buffer.from("PACK"), words(2, ids.length), ...objects]);
  const upTo = Array.from({ length: 256 }, (_, byte) => ids.filter((id) => id[0]! <= byte).length);
  const index = [words(0xff744f63, 2, ...upTo), ...ids, words(0, 0, 12, 12 + objects[0]!.length)];
  const at = join(folder, ".git/objects/pack/pack-circle");
  writeFileSync(`${at}.pack`, pack);
  writeFileSync(`${at}.idx`, sealed([...index, pack.subarray(-20)]));
  const entry = Buffer.concat([Buffer.from("100644 a\0"), ids[0]!]);
  commitTree(folder, put(folder, "tree", entry));
  return folder;
}

/** Resolves to the error of reading when git has been silent for too long. Timers expire as soon as they are set. */
async function endingOf(folder: string): Promise<string> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let ending = "";
  void readLines(git(folder, { revisions: ["main"] })).then(
    (lines) => (ending = lines.join()),
    (error: { code: string; message: string }) => (ending = `${error.code}: ${error.message}`),
  );
  // git answers within a few seconds if it can; the rest of the time it is silent
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

  test("the remote of a source is not asked for twice as long", async () => {
    const folder = repository({ a: "1" });
    pipe(join(folder, ".git/HEAD"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const remote = git(folder).origin!.remote!(never).then(
      String,
      ({ code, message }) => `${code}: ${message}`,
    );
    const advancing = setInterval(() => vi.advanceTimersByTime(PATIENCE_MS), 1_000);
    expect(await remote).toMatch(SILENT);
    clearInterval(advancing);
  });

  test("a tree without files that never ends", async () => {
    expect(await endingOf(bomb(6, false))).toMatch(SILENT);
  });
});

test("a process that outputs a word per minute is awaited for an hour, whatever its caller does in the meantime", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const lost: number[] = [];
  const patience = new Patience((ms) => void lost.push(ms));
  for (let minute = 1; minute < 60; minute++) {
    patience.expect();
    vi.advanceTimersByTime(60_000);
    patience.rest();
    vi.advanceTimersByTime(PATIENCE_MS);
  }
  patience.expect();
  vi.advanceTimersByTime(59_000);
  expect(lost).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(lost).toEqual([MOST_WAITED_MS]);
  const silent = new Patience((ms) => void lost.push(ms));
  silent.expect();
  vi.advanceTimersByTime(PATIENCE_MS);
  expect(lost).toEqual([MOST_WAITED_MS, PATIENCE_MS]);
});

const never = new AbortController().signal;
const all = async (list: AsyncIterable<unknown>) => {
  for await (const _ of list);
};

/** Makes git end when it takes more than a gigabyte. Otherwise it could use all the machine's memory within minutes. */
function limitGit(): void {
  const folder = tempFolder();
  const path = process.env["PATH"];
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  writeFileSync(join(folder, "git"), `#!/bin/sh\nulimit -v 1000000\nexec "${real}" "$@"\n`);
  chmodSync(join(folder, "git"), 0o755);
  process.env["PATH"] = `${folder}:${path}`;
  onTestFinished(() => void (process.env["PATH"] = path));
}

test.runIf(process.platform === "linux")("objects that are deltas of each other", async () => {
  const folder = circle();
  limitGit();
  const main = run(folder, "rev-parse", "main");
  const processes = new GitProcesses(folder, never, {}, 64 * 2 ** 20);
  await expect(all(listTree(processes, main, true))).rejects.toMatchObject({
    code: "SOURCE_UNREADABLE",
    message: expect.stringContaining("git takes over 67108864 bytes of memory"),
  });
  processes.kill();
});

describe.skipIf(isWindows)("a folder with an endless name", () => {
  const LONG = 2_000_000;
  const FILES = 100;
  /** Puts the name next to a file, so that the rest is listed, too. */
  const long = () => {
    const files = Array.from({ length: FILES }, (_, i) => [`${i}`, "1"] as const);
    const folder = repository(Object.fromEntries(files));
    const inner = run(folder, "rev-parse", "HEAD^{tree}");
    const after = run(folder, "rev-parse", "HEAD:0");
    const entries = [
      Buffer.from(`40000 ${"q".repeat(LONG)}\0`),
      Buffer.from(inner, "hex"),
      Buffer.from("100644 z\0"),
      Buffer.from(after, "hex"),
    ];
    commitTree(folder, put(folder, "tree", Buffer.concat(entries)));
    return folder;
  };

  test("is shortened for display, and the files after it are read", async () => {
    const folder = long();
    const lines = await readLines(git(folder));
    expect(lines).toHaveLength(FILES + 1);
    expect(lines[0]).toMatch(/^q{1011}…[0-9a-f]{12} @0 invalid-path$/);
    expect(lines.at(-1)).toBe('z @0 "1"');
    const processes = new GitProcesses(folder, never);
    for await (const batch of listTree(processes, run(folder, "rev-parse", "main"), false))
      for (const { path } of batch) expect(path.length).toBeLessThanOrEqual(8_192);
    processes.kill();
  });

  test("ends a list that has as many bytes as a list may have", async () => {
    const processes = new GitProcesses(long(), never);
    const listing = ["ls-tree", "-r", "-z", "--full-tree", "main"];
    await expect(all(processes.records(listing, 50 * LONG))).rejects.toMatchObject({
      code: "SOURCE_UNREADABLE",
      message: expect.stringContaining("lists over 100000000 bytes"),
    });
    processes.kill();
  });

  test("of a long record, only the beginning is kept", async () => {
    const chunk = Buffer.alloc(2 ** 16, "q");
    async function* chunks() {
      yield Buffer.from("first\0");
      for (let i = 0; i < 100; i++) yield chunk;
      yield Buffer.from("\0last\0");
    }
    const lengths: number[] = [];
    for await (const batch of nulRecords(chunks())) lengths.push(batch.length);
    expect(lengths).toEqual([5, 2 ** 16 + "\0last".length]);
  });
});

test("a commit whose message is longer than the objects that are read", async () => {
  const folder = repository({ a: "1" });
  const message = join(folder, ".git/message");
  writeFileSync(message, `subject\n\n${"m".repeat(16 * 2 ** 20)}`);
  run(folder, "commit", "-q", "--amend", "-F", message);
  const { revisions, entries } = await read(git(folder));
  expect(revisions[0]!.committedAt).toEqual(new Date("2024-01-02T03:04:05Z"));
  expect(entries).toHaveLength(1);
});

test.each([
  ["[core]\n\tworktree = ../../other\n", "core.worktree in config"],
  ["[core] worktree=/etc\n", "core.worktree in config"],
  ['[core]\n\tworktree = "../../other"\n', "core.worktree in config"],
  ['[a "#"][include]\npath = ../../other\n', "config, which includes another file,"],
  ['[a "#"][core] worktree = ../../other\n', "core.worktree in config"],
])("an untrusted repository with the configuration %j is refused", async (text, what) => {
  const folder = repository({ a: "1" });
  writeFileSync(join(folder, ".git/config"), text, { flag: "a" });
  await expect(read(git(folder, { trusted: false }))).rejects.toMatchObject({
    code: "SOURCE_UNREADABLE",
    message: expect.stringMatching(
      `^${what} of the repository .* leads out of the folder`,
    ) as string,
  });
});

test("an untrusted repository may name its own folder as its work tree", async () => {
  const folder = repository({ a: "1" });
  writeFileSync(join(folder, ".git/config"), "[core]\n\tworktree = ..\n", { flag: "a" });
  expect((await read(git(folder, { trusted: false }))).entries).toHaveLength(1);
});

test.skipIf(isWindows).each(["packed-refs", "refs/heads/main", "config", "objects/pipe"])(
  "an untrusted repository whose %s is a pipe is refused before git runs",
  async (name) => {
    const folder = repository({ a: "1" });
    pipe(join(folder, ".git", name));
    await expect(read(git(folder, { trusted: false }))).rejects.toMatchObject({
      code: "SOURCE_UNREADABLE",
      message: `.git/${name} of the repository ${folder} is not a regular file, so git would wait for it; remove it`,
    });
  },
);

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

  test("one that stays within its folder is read, bare or not", async () => {
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
  const processes = new GitProcesses(folder, never);
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
