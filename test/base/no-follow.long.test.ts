import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HeldFolder, inFolder, readNoFollow } from "../../src/base/no-follow.ts";
import { temporaryFolder } from "../engine/opened.ts";

const isLinux = process.platform === "linux";
const limit = { most: 10, tooLarge: () => new Error("too large") };

/** Makes a tree with `a/file` and with other ways that lead to it. */
function tree(): string {
  const root = realpathSync(temporaryFolder());
  mkdirSync(join(root, "a"));
  writeFileSync(join(root, "a/file"), "text");
  writeFileSync(join(root, "a/long"), "x".repeat(11));
  symlinkSync(join(root, "a"), join(root, "link"));
  symlinkSync("file", join(root, "a/other"));
  return root;
}

const ROWS: [path: string, what: string | undefined | RegExp][] = [
  ["a/file", "text"],
  ["a", undefined],
  ["link/file", undefined],
  ["a/other", /ELOOP/],
  ["a/none", /ENOENT/],
  ["a/long", /too large/],
  ["a/pipe", undefined],
];

test.runIf(isLinux).each(ROWS)("readNoFollow %s", (path, want) => {
  const root = tree();
  execFileSync("mkfifo", [join(root, "a/pipe")]);
  const read = () => readNoFollow(join(root, path), limit)?.toString();
  if (want instanceof RegExp) expect(read).toThrow(want);
  else expect(read()).toBe(want);
});

test.runIf(isLinux)("an opened folder is listed even if another folder has replaced it", () => {
  const root = tree();
  const list = (path: string) => {
    renameSync(join(root, "a"), join(root, "b"));
    mkdirSync(join(root, "a"));
    writeFileSync(join(root, "a/new"), "");
    return readdirSync(path).sort();
  };
  expect(inFolder(join(root, "a"), list)).toEqual(["file", "long", "other"]);
  mkdirSync(join(root, "b/below"));
  symlinkSync(join(root, "b"), join(root, "way"));
  expect(inFolder(join(root, "way/below"), list) ?? "a link").toBe("a link");
  expect(() => inFolder(join(root, "link"), list)).toThrow("ENOTDIR");
  expect(() => inFolder(join(root, "none"), list)).toThrow("ENOENT");
});

test("opening a thousand folders in turn uses one descriptor", () => {
  const held = new HeldFolder();
  const root = tree();
  const count = () => (isLinux ? readdirSync("/proc/self/fd").length : 0);
  const before = count();
  for (let i = 0; i < 1_000; i++) expect(held.open(join(root, "a"))).toBeDefined();
  expect(count() - before).toBeLessThanOrEqual(1);
  held.close();
  held.close();
  expect(count()).toBe(before);
});
