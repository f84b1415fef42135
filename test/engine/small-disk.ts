/** File systems of a few mebibytes, for tests of full disks. Mounting them needs root. */

import { spawnSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./opened.ts";

export const mount = (...words: string[]): boolean => spawnSync("mount", words).status === 0;

/** Returns a folder with a file system of its own, or undefined if mounting is not allowed. */
export function smallDisk(mebibytes: number, ...options: string[]): string | undefined {
  const path = temporaryFolder();
  const given = [`size=${mebibytes}m`, ...options].join(",");
  if (!mount("-t", "tmpfs", "-o", given, "tmpfs", path)) return undefined;
  onTestFinished(() => void spawnSync("umount", ["-l", path]));
  return path;
}
