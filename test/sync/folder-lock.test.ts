/** Tests which process gets and keeps the lock of a folder that is synced into. */

import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockFolder } from "../../src/sync/folder-lock.ts";
import { temporaryFolder } from "../engine/opened.ts";

const TEN_MINUTES = 600;

/** Makes a lock look as if its owner had not updated it for ten minutes. */
function age(file: string): void {
  const then = Date.now() / 1000 - TEN_MINUTES;
  utimesSync(file, then, then);
}

test("a lock is held until it is released", () => {
  const folder = temporaryFolder();
  const release = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(
    `process ${process.pid} syncs into ${folder}; wait for it, or end it`,
  );
  release();
  lockFolder(folder)();
  expect(existsSync(join(folder, "lock"))).toBe(false);
});

test("a lock of a process that no longer runs is void", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "lock"), `${2 ** 22 + 1} 0123456789abcdef`); // greater than any process id
  lockFolder(folder)();
});

test("an owner that was stopped for a long time does not release its successor's lock", () => {
  const folder = temporaryFolder();
  const file = join(folder, "lock");
  const releaseFirst = lockFolder(folder);
  age(file);
  const releaseSecond = lockFolder(folder);
  const text = readFileSync(file, "utf8");
  releaseFirst();
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(() => lockFolder(folder)).toThrow("syncs into");
  releaseSecond();
  expect(existsSync(file)).toBe(false);
});
