/** Installs packages into an empty project, as a host does. */

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs no install scripts: those of `lmdb` and `msgpackr` are not needed, and npm 12 runs none by default. */
export async function installIn(cwd: string, ...packages: string[]): Promise<void> {
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "host", private: true }));
  const flags = "--prefer-offline --ignore-scripts --no-audit --no-fund --fetch-retries=0".split(
    " ",
  );
  const shell = process.platform === "win32";
  await run("npm", ["install", ...flags, ...packages], { cwd, shell, timeout: 180_000 });
}

const NO_NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/;

export const isNoNetwork = (error: unknown): boolean => NO_NETWORK.test(String(error));
