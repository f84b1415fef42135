/**
 * A disk that is full, limited, read-only or somebody else's: what was published stays, and the error has the right
 * code and says what to do. Files that may not be read are listed as such. Each test uses processes of its own. Tests
 * that need root or mount are skipped if these are not allowed.
 */

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bundle, type Bundle } from "./crash/bundle.ts";
import type { Attempt, Outcome } from "./crash/disk-process.ts";
import { temporaryFolder } from "./opened.ts";
import { fill } from "./crash/fill.ts";
import { mount, smallDisk } from "./small-disk.ts";
import { SHORT_LIVED } from "../short-lived.ts";
import { isInTurn, someOf } from "../runs.ts";

let bundled: Bundle;
beforeAll(async () => {
  bundled = await bundle("disk-process");
});
afterAll(() => bundled.remove());

/** The milliseconds after which a process counts as hanging. */
const LONGEST_MS = 280_000;

interface Trial {
  readonly path: string;
  readonly user?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** The longest file that the process may write, in the shell's blocks of 512 or 1024 bytes. */
  readonly fileBlocks?: number;
  /** The number of threads of that search. Default: 0, which starts faster. */
  readonly threads?: number;
}

/** Returns the outcome of each attempt, one line each: `small: ok`, `large: DISK_FULL`, `search: 3`. */
function tryOut(
  { path, user = 0, fileBlocks, environment, threads = 0 }: Trial,
  ...attempts: Attempt[]
) {
  const command = [
    process.execPath,
    ...SHORT_LIVED,
    bundled.script("disk-process"),
    path,
    `${user}`,
    ...attempts,
  ];
  const limit = fileBlocks === undefined ? "" : `ulimit -f ${fileBlocks};`;
  const { stdout, stderr, signal, status } = spawnSync(
    "sh",
    ["-c", `${limit} exec "$@"`, "sh", ...command],
    { env: { ...process.env, ...environment, QUERN_THREADS: `${threads}` }, timeout: LONGEST_MS },
  );
  expect({ signal, status }, stderr.toString()).toEqual({ signal: null, status: 0 });
  const outcomes = JSON.parse(stdout.toString()) as Outcome[];
  return {
    lines: outcomes.map(
      ({ attempt, code, files, skipped }) => `${attempt}: ${code ?? files ?? skipped ?? "ok"}`,
    ),
    messages: outcomes.flatMap(({ message }) => message ?? []),
    outcomes,
  };
}

test("a disk that becomes full, and has room again", ({ skip }) => {
  const disk = smallDisk(8) ?? skip("mounting needs root");
  const path = join(disk, "index");
  const { lines, messages } = tryOut(
    { path, threads: 2 },
    ...([
      "open",
      "small",
      "small",
      "search",
      "large",
      "search",
      "check",
      "small",
      "search",
    ] as const),
  );
  expect(lines.slice(0, 7)).toEqual([
    "open: ok",
    "small: ok",
    "small: ok",
    "search: 2",
    "large: DISK_FULL",
    "search: 2",
    "check: ok",
  ]);
  expect(messages[0]).toMatch(/make room.*nothing that was stored is lost/s);
  fill(disk);
  const full = tryOut(
    { path, threads: 2 },
    "open",
    "large",
    "search",
    "check",
    "open to read",
    "search",
  );
  const there = lines.at(-1)!; // a small value may have fitted into the room that the large one has left
  expect(full.lines).toEqual([
    "open: ok",
    "large: DISK_FULL",
    there,
    "check: ok",
    "open to read: ok",
    there,
  ]);
  rmSync(join(disk, "filler"));
  const { lines: after } = tryOut({ path }, "open", "small", "search", "check");
  expect(after).toEqual([
    "open: ok",
    "small: ok",
    expect.stringMatching(/^search: [34]$/),
    "check: ok",
  ]);
});

test("a disk that becomes full at each stage: the error says what was published", ({ skip }) => {
  const disk = smallDisk(56) ?? skip("mounting needs root");
  const path = join(disk, "index");
  // the first round needs more room for symbols than is free in the data file
  const stages = [
    "symbols",
    "list",
    "content",
    "publish",
    "words",
    ...Array<"merge">(6).fill("merge"),
  ] as const;
  const rounds = stages.map((stage) => `pair, full at ${stage}` as const);
  const { outcomes } = tryOut({ path, threads: 1 }, "open", ...rounds, "check");
  const failed = new Set<string>();
  for (const { attempt, code, message, published, seen } of outcomes) {
    if (code === undefined) continue;
    expect(code, message).toBe("DISK_FULL");
    expect(published, message).toEqual(seen);
    failed.add(`${attempt} ${published!.length}`);
    for (const name of seen!) expect(message).toContain(name);
    if (seen!.length === 0) expect(message).not.toContain("published");
  }
  for (const one of ["content 0", "symbols 2", "words 2", "merge 2"])
    expect([...failed].join()).toContain(`pair, full at ${one}`);
  const { lines } = tryOut({ path }, "open", "small", "search", "check");
  expect(lines).toEqual(["open: ok", "small: ok", "search: 1", "check: ok"]);
});

test.runIf(isInTurn(3, 1))("a disk that is full from the beginning", ({ skip }) => {
  const disk = smallDisk(2) ?? skip("mounting needs root");
  fill(disk);
  const { lines, messages } = tryOut({ path: join(disk, "index") }, "open", "key");
  expect(lines).toEqual(["open: DISK_FULL", "key: DISK_FULL"]);
  for (const message of messages) expect(message).toMatch(/make room/);
  rmSync(join(disk, "filler"));
  expect(tryOut({ path: join(disk, "index") }, "open", "small", "search", "key").lines).toEqual([
    "open: ok",
    "small: ok",
    "search: 1",
    "key: ok",
  ]);
});

test.runIf(isInTurn(3))("a limit of the length of files", () => {
  const path = join(temporaryFolder(), "index");
  const limited = tryOut(
    { path, fileBlocks: 4_096, threads: 2 },
    "open",
    "small",
    "large",
    "search",
    "check",
  );
  expect(limited.lines).toEqual([
    "open: ok",
    "small: ok",
    "large: DISK_FULL",
    "search: 1",
    "check: ok",
  ]);
  expect(limited.messages[0]).toMatch(/limit|make room/);
  const { lines } = tryOut({ path }, "open", "large", "search", "check");
  expect(lines).toEqual(["open: ok", "large: ok", "search: 26", "check: ok"]);
});

test.runIf(isInTurn(3, 1)).each(someOf([280, 400], 2))(
  "a limit of %i blocks, whichever write reaches it",
  (fileBlocks) => {
    const path = join(temporaryFolder(), "index");
    const round: Attempt[] = ["small", "key", "small", "search"];
    const limited = tryOut({ path, fileBlocks }, "open", ...round, "large", ...round, "check");
    expect(limited.lines).toContain("large: DISK_FULL");
    // LMDB reports a failed write of its own as "Input/output error"
    for (const message of limited.messages)
      expect(message).toMatch(/full or its quota reached|no space left/);
    const there = limited.lines.findLast((line) => line.startsWith("search"))!;
    const { lines } = tryOut({ path }, "open", "search", "check", "small", "key");
    expect(lines).toEqual(["open: ok", there, "check: ok", "small: ok", "key: ok"]);
  },
);

/** Returns a library that makes the disk fail, or undefined if there is no compiler. */
function failingDisk(): string | undefined {
  const built = join(temporaryFolder(), "failing-disk.so");
  const source = fileURLToPath(new URL("crash/failing-disk.c", import.meta.url));
  const { status } = spawnSync("cc", ["-shared", "-fPIC", "-o", built, source, "-ldl"]);
  return process.platform === "linux" && status === 0 ? built : undefined;
}

test("if the disk fails, every call is answered, and published data is intact", ({ skip }) => {
  const built = failingDisk() ?? skip("needs Linux and a C compiler");
  for (const [call, after, says] of [
    ["meta", "13", /end the process and start it again/],
    ["sync", "4", /check the system's log/],
  ] as const) {
    const path = join(temporaryFolder(), "index");
    const environment = {
      LD_PRELOAD: built,
      FAILING_FILE: "quern.mdb",
      FAILING_CALL: call,
      FAILING_AFTER: after,
    };
    const tried = tryOut({ path, environment }, "open", "small", "small", "search");
    for (const line of tried.lines) expect(line).toMatch(/: (ok|DISK_FULL|[012])$/);
    expect(tried.messages.at(-1), call).toMatch(says);
    const { lines } = tryOut({ path }, "open", "check", "small", "search");
    expect(lines.slice(0, 3)).toEqual(["open: ok", "check: ok", "small: ok"]);
    expect(lines[3]).toMatch(/^search: [12]$/);
  }
});

test("a read-only disk", ({ skip }) => {
  const disk = smallDisk(8) ?? skip("mounting needs root");
  const path = join(disk, "index");
  expect(tryOut({ path }, "open", "small", "key").lines).toEqual([
    "open: ok",
    "small: ok",
    "key: ok",
  ]);
  rmSync(join(path, "quern.mdb-lock"));
  expect(mount("-o", "remount,ro", disk)).toBe(true);
  const { lines, messages } = tryOut(
    { path, threads: 2 },
    ...(["open", "open to read", "search", "check", "small", "key"] as const),
  );
  expect(lines).toEqual([
    "open: INDEX_READ_ONLY",
    "open to read: ok",
    "search: 1",
    "check: ok",
    "small: INDEX_READ_ONLY",
    "key: INDEX_READ_ONLY",
  ]);
  expect(messages[0]).toMatch(/open it with readOnly/);
  expect(messages.at(-1)).toMatch(/store is on a read-only file system: move it/);
  expect(tryOut({ path: join(disk, "new") }, "open").lines).toEqual(["open: INDEX_READ_ONLY"]);
});

const NOBODY = 65_534;

/** Whether the user nobody may read the program, which is false if the project is in a private home folder. */
function mayBecomeNobody(): boolean {
  const become = `process.setuid(${NOBODY}); fs.accessSync(${JSON.stringify(bundled.script("worker"))})`;
  return spawnSync(process.execPath, ["-e", become]).status === 0;
}

test("a directory that belongs to another user", ({ skip }) => {
  if (!mayBecomeNobody()) skip("needs root, and a project that others may read");
  const folder = temporaryFolder();
  const path = join(folder, "index");
  chmodSync(folder, 0o755);
  expect(tryOut({ path }, "open", "small", "key").lines).toEqual([
    "open: ok",
    "small: ok",
    "key: ok",
  ]);
  for (const [mode, expected] of [
    [
      0o700,
      ["open: PERMISSION_DENIED", "open to read: PERMISSION_DENIED", "key: PERMISSION_DENIED"],
    ],
    [0o755, ["open: PERMISSION_DENIED", "open to read: ok", "search: 1"]],
  ] as const) {
    chmodSync(path, mode);
    chmodSync(join(folder, "keys"), mode);
    const attempts = expected.map((line) => line.split(":")[0] as Attempt);
    const { lines, messages } = tryOut({ path, user: NOBODY, threads: 1 }, ...attempts);
    expect(lines).toEqual(expected);
    for (const message of messages) expect(message).toMatch(/change its owner or mode/);
  }
  const theirs = join(folder, "theirs");
  mkdirSync(theirs);
  chownSync(theirs, NOBODY, NOBODY);
  const { lines } = tryOut({ path: theirs, user: NOBODY }, "open", "small", "search");
  expect(lines).toEqual(["open: ok", "small: ok", "search: 1"]);
});

/**
 * Returns a disk of which the user nobody may use 8 MiB: a tmpfs, or ext4 in a file. Undefined if neither is possible.
 */
function diskWithQuota(): string | undefined {
  return smallDisk(256, "usrquota", "usrquota_block_hardlimit=8m") ?? ext4WithQuota();
}

function ext4WithQuota(): string | undefined {
  const folder = temporaryFolder();
  const [image, path] = [join(folder, "image"), join(folder, "disk")];
  chmodSync(folder, 0o755);
  mkdirSync(path);
  writeFileSync(image, "");
  truncateSync(image, 2 ** 26);
  const isOk = (command: string, ...words: string[]): boolean =>
    spawnSync(command, words).status === 0;
  if (!isOk("mkfs.ext4", "-q", "-O", "quota", image)) return undefined;
  if (!mount("-o", "loop,usrquota", image, path)) return undefined;
  onTestFinished(() => void spawnSync("umount", ["-l", path]));
  return isOk("setquota", "-u", `${NOBODY}`, "0", "8192", "0", "0", path) ? path : undefined;
}

test("a quota", ({ skip }) => {
  if (!mayBecomeNobody())
    skip("needs root, whom no quota binds, and a project that others may read");
  const disk =
    diskWithQuota() ??
    skip(
      "needs a kernel with quotas for tmpfs (Linux 6.6, CONFIG_TMPFS_QUOTA), or for ext4 and setquota",
    );
  chmodSync(disk, 0o777);
  const trial = { path: join(disk, "index"), user: NOBODY };
  const tried = tryOut(trial, "open", "small", "small", "large", "search", "check");
  expect(tried.lines).toEqual([
    "open: ok",
    "small: ok",
    "small: ok",
    "large: DISK_FULL",
    "search: 2",
    "check: ok",
  ]);
  const says = /quota reached: make room .*nothing that was stored is lost/s;
  expect(tried.messages[0]).toMatch(says);
  const { lines } = tryOut(trial, "open to read", "search", "check");
  expect(lines).toEqual(["open to read: ok", "search: 2", "check: ok"]);
  const filler = join(disk, "filler"); // fills the rest and more, because root is not limited
  writeFileSync(filler, Buffer.alloc(2 ** 23));
  chownSync(filler, NOBODY, NOBODY);
  const full = tryOut(trial, "open", "large", "key", "compact", "search", "check");
  expect(full.lines.filter((line) => !line.startsWith("compact"))).toEqual([
    "open: ok",
    "large: DISK_FULL",
    "key: DISK_FULL",
    "search: 2",
    "check: ok",
  ]);
  for (const message of full.messages) expect(message).toMatch(/quota.*make room/s);
  rmSync(filler);
  const after = tryOut(trial, "open", "small", "key", "compact", "search", "check");
  expect(after.lines).toEqual([
    "open: ok",
    "small: ok",
    "key: ok",
    "compact: ok",
    expect.stringMatching(/^search: [23]$/),
    "check: ok",
  ]);
});

/**
 * Returns a user to whom permissions apply, which is another user if this process is root. Undefined if there is none.
 */
function ordinaryUser(): number | undefined {
  if (process.getuid?.() !== 0) return process.platform === "win32" ? undefined : 0;
  return mayBecomeNobody() ? NOBODY : undefined;
}

/** Makes a data directory that the user may write, and next to it a folder that the user may index. */
function placeFor(user: number): { folder: string; path: string; own: (name: string) => void } {
  const folder = temporaryFolder();
  const path = join(folder, "index");
  const own = (name: string) => {
    if (user > 0) spawnSync("chown", ["-R", `${user}:${user}`, join(folder, name)]);
  };
  chmodSync(folder, 0o755);
  mkdirSync(path);
  own("index");
  return { folder, path, own };
}

test.runIf(isInTurn(3))("files and folders of a directory that may not be read", ({ skip }) => {
  const user = ordinaryUser() ?? skip("every file can be read: no permissions, or only root here");
  const { folder, path } = placeFor(user);
  const source = join(folder, "folder");
  for (const name of ["sub", "closed"]) mkdirSync(join(source, name), { recursive: true });
  for (const name of ["open.txt", "secret.txt", "sub/b.txt", "closed/c.txt"])
    writeFileSync(join(source, name), "marker 0\n");
  chmodSync(join(source, "secret.txt"), 0);
  chmodSync(join(source, "closed"), 0);
  onTestFinished(() => chmodSync(join(source, "closed"), 0o700));
  const listed = "folder: 2 and closed unreadable, secret.txt unreadable";
  const tried = tryOut({ path, user }, "open", "folder", "search", "folder");
  expect(tried.lines).toEqual(["open: ok", listed, "search: 2", listed]);
  chmodSync(join(source, "secret.txt"), 0o644);
  chmodSync(join(source, "closed"), 0o755);
  const { lines } = tryOut({ path, user }, "open", "folder", "search");
  expect(lines).toEqual(["open: ok", "folder: 4 and ", "search: 4"]);
  chmodSync(source, 0);
  const closed = tryOut({ path, user }, "open", "folder", "search");
  chmodSync(source, 0o700);
  expect(closed.lines).toEqual(["open: ok", "folder: SOURCE_UNREADABLE", "search: 4"]);
  expect(closed.messages[0]).toMatch(/check its permissions/);
});

test.runIf(isInTurn(3, 1))(
  "objects and folders of a repository that may not be read",
  ({ skip }) => {
    const user =
      ordinaryUser() ?? skip("every file can be read: no permissions, or only root here");
    const { folder, path, own } = placeFor(user);
    const tree = join(folder, "tree");
    const run = (...words: string[]): string =>
      spawnSync(
        "git",
        ["-C", tree, "-c", "user.name=t", "-c", "user.email=t@example.org", ...words],
        {
          encoding: "utf8",
        },
      ).stdout.trim();
    mkdirSync(tree);
    run("init", "-q", "-b", "main");
    for (const name of ["a", "b", "c"]) writeFileSync(join(tree, name), `marker 0 of ${name}\n`);
    run("add", ".");
    run("commit", "-q", "-m", "first");
    const id = run("rev-parse", "HEAD:b");
    const object = join(tree, ".git/objects", id.slice(0, 2), id.slice(2));
    own("tree");
    chmodSync(join(tree, "a"), 0); // the copy in the work tree; the committed content is indexed
    chmodSync(object, 0);
    const tried = tryOut({ path, user }, "open", "tree", "search");
    expect(tried.lines).toEqual(["open: ok", "tree: 2 and b unreadable", "search: 2"]);
    chmodSync(object, 0o444);
    const { lines } = tryOut({ path, user }, "open", "tree", "search");
    expect(lines).toEqual(["open: ok", "tree: 3 and ", "search: 3"]);
    chmodSync(join(tree, ".git"), 0);
    const closed = tryOut({ path, user }, "open", "tree", "search");
    chmodSync(join(tree, ".git"), 0o700);
    expect(closed.lines).toEqual(["open: ok", "tree: SOURCE_UNREADABLE", "search: 3"]);
    expect(closed.messages[0]).toMatch(/permission/);
  },
);
