/**
 * Fetches the versions of Node with which the package is tested into build/: `npx tsx scripts/nodes.ts`. The binary for
 * each platform is in a package, which runs nothing when it is installed. Without a network these tests are skipped,
 * and this prints a line that says so. With QUERN_CI=1, which `.ci/run` sets, a missing version is an error, here and
 * in the tests.
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The oldest version that the package supports, and the newest line with long-term support. */
export const NODES = ["20.15.1", "24.21.0"] as const;
type Version = (typeof NODES)[number];

export const isStrict = process.env["QUERN_CI"] === "1";

const { platform, arch } = process;
const isWindows = platform === "win32";
const prefix = platform === "darwin" && arch === "arm64" ? "node-bin" : "node";
const name = `${prefix}-${isWindows ? "win" : platform}-${arch}`;
const folder = (version: Version): string =>
  fileURLToPath(new URL(`../build/node-${version}`, import.meta.url));

/** Returns the path of the binary, which exists once it is fetched. */
export const nodeBinary = (version: Version): string =>
  join(folder(version), "node_modules", name, "bin", isWindows ? "node.exe" : "node");

export const isFetched = (version: Version): boolean => existsSync(nodeBinary(version));

function fetchNode(version: Version): void {
  const flags =
    "--no-save --no-package-lock --ignore-scripts --no-audit --no-fund --fetch-retries=0";
  const args = ["install", ...flags.split(" "), "--prefix", folder(version), `${name}@${version}`];
  execFileSync("npm", args, { stdio: "pipe", timeout: 180_000, shell: isWindows });
}

function fetchOrSay(version: Version): void {
  try {
    if (!isFetched(version)) fetchNode(version);
    const said = execFileSync(nodeBinary(version), ["--version"], { encoding: "utf8" });
    console.log(`   ${said.trim()}`);
  } catch (error) {
    console.log(`   ${version} cannot be had, so nothing is tried on it: ${String(error)}`);
    if (isStrict) process.exitCode = 1;
  }
}

const [, script] = process.argv;
if (script !== undefined && resolve(script) === fileURLToPath(import.meta.url))
  for (const version of NODES) fetchOrSay(version);
