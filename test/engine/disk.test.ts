/**
 * A disk that is full, limited, read-only or somebody else's: what was published stays, the refusal
 * has the right code and says what to do. Each in processes of their own. What needs root or mount
 * is skipped where that may not be.
 */

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bundle, type Bundle } from "./crash/bundle.ts";
import type { Attempt, Outcome } from "./crash/disk-process.ts";
import { temporaryFolder } from "./opened.ts";

let bundled: Bundle;
beforeAll(async () => {
  bundled = await bundle("disk-process");
});
afterAll(() => bundled.remove());

interface Trial {
  readonly path: string;
  readonly user?: number;
  /** Blocks of 512 or 1024 bytes, as the shell has it: the longest file that the process may write. */
  readonly fileBlocks?: number;
}

/** What came of each attempt, as a line each: `small: ok`, `large: DISK_FULL`, `search: 3`. */
function tryOut({ path, user = 0, fileBlocks }: Trial, ...attempts: Attempt[]) {
  const command = [process.execPath, bundled.script("disk-process"), path, `${user}`, ...attempts];
  const limit = fileBlocks === undefined ? "" : `ulimit -f ${fileBlocks};`;
  const { stdout, stderr, signal } = spawnSync("sh", [
    "-c",
    `${limit} exec "$@"`,
    "sh",
    ...command,
  ]);
  expect(signal, stderr.toString()).toBeNull();
  const outcomes = JSON.parse(stdout.toString()) as Outcome[];
  return {
    lines: outcomes.map(({ attempt, code, files }) => `${attempt}: ${code ?? files ?? "ok"}`),
    messages: outcomes.flatMap(({ message }) => message ?? []),
  };
}

const mount = (...words: string[]): boolean => spawnSync("mount", words).status === 0;

/** A folder with a file system of its own, or undefined where that may not be. */
function smallDisk(mebibytes: number): string | undefined {
  const path = temporaryFolder();
  if (!mount("-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", path)) return undefined;
  onTestFinished(() => void spawnSync("umount", ["-l", path]));
  return path;
}

const fill = (disk: string): void => {
  try {
    writeFileSync(join(disk, "filler"), Buffer.alloc(2 ** 26));
  } catch {
    // as far as it goes
  }
};

test("a disk that becomes full, and has room again", ({ skip }) => {
  const disk = smallDisk(8) ?? skip("mounting needs root");
  const path = join(disk, "index");
  const { lines, messages } = tryOut(
    { path },
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
  expect(messages[0]).toMatch(/make room .*what was published before is intact/s);
  fill(disk);
  const full = tryOut({ path }, "open", "large", "search", "check", "open to read", "search");
  const there = lines.at(-1)!; // a small one may have found room in what the large one has left
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

test("a disk that is full from the beginning", ({ skip }) => {
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

test("a limit of the length of files", () => {
  const path = join(temporaryFolder(), "index");
  const limited = tryOut({ path, fileBlocks: 4_096 }, "open", "small", "large", "search", "check");
  expect(limited.lines).toEqual([
    "open: ok",
    "small: ok",
    "large: DISK_FULL",
    "search: 1",
    "check: ok",
  ]);
  expect(limited.messages[0]).toMatch(/limit|make room/);
  const { lines } = tryOut({ path }, "open", "large", "search", "check");
  expect(lines).toEqual(["open: ok", "large: ok", "search: 41", "check: ok"]);
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
    { path },
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
  expect(messages.at(-1)).toMatch(/store lies on a read-only file system: move it/);
  expect(tryOut({ path: join(disk, "new") }, "open").lines).toEqual(["open: INDEX_READ_ONLY"]);
});

const NOBODY = 65_534;

/** Whether nobody may read what it is to run: not where the project lies in a closed home. */
function mayBecomeNobody(): boolean {
  const become = `process.setuid(${NOBODY}); fs.accessSync(${JSON.stringify(bundled.script("worker"))})`;
  return spawnSync(process.execPath, ["-e", become]).status === 0;
}

test("a directory of somebody else", ({ skip }) => {
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
    const { lines, messages } = tryOut({ path, user: NOBODY }, ...attempts);
    expect(lines).toEqual(expected);
    for (const message of messages) expect(message).toMatch(/change its owner or mode/);
  }
  const theirs = join(folder, "theirs");
  mkdirSync(theirs);
  chownSync(theirs, NOBODY, NOBODY);
  const { lines } = tryOut({ path: theirs, user: NOBODY }, "open", "small", "search");
  expect(lines).toEqual(["open: ok", "small: ok", "search: 1"]);
});
