/**
 * Fetches Node 24 into build/, for the test that runs the package on it: `npx tsx scripts/node-24.ts`.
 * The binary comes in a package for each platform that runs nothing when it is installed. Where there is
 * no network the test is skipped, and the line that this prints says so.
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const VERSION = "24.21.0";
const { platform, arch } = process;
const isWindows = platform === "win32";
const prefix = platform === "darwin" && arch === "arm64" ? "node-bin" : "node";
const name = `${prefix}-${isWindows ? "win" : platform}-${arch}`;
const folder = fileURLToPath(new URL("../build/node-24", import.meta.url));
const binary = join(folder, "node_modules", name, "bin", isWindows ? "node.exe" : "node");

/** Where it is; undefined if it was not fetched. */
export const node24 = (): string | undefined => (existsSync(binary) ? binary : undefined);

function fetchNode(): void {
  const flags =
    "--no-save --no-package-lock --ignore-scripts --no-audit --no-fund --fetch-retries=0";
  const args = ["install", ...flags.split(" "), "--prefix", folder, `${name}@${VERSION}`];
  execFileSync("npm", args, { stdio: "pipe", timeout: 180_000, shell: isWindows });
}

const [, script] = process.argv;
if (script !== undefined && resolve(script) === fileURLToPath(import.meta.url)) {
  try {
    if (node24() === undefined) fetchNode();
    console.log(`   ${execFileSync(binary, ["--version"], { encoding: "utf8" }).trim()}`);
  } catch (error) {
    console.log(`   it cannot be had, so the package is not tried on it: ${String(error)}`);
  }
}
