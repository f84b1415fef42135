/** Describes the machine and the versions that figures come from. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  readonly quern: string;
  /** The commit of quern's own repository. */
  readonly commit?: string;
}

export function thisMachine(): Machine {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release().split("-")[0]}`,
    node: process.version,
    quern: (JSON.parse(manifest) as { version: string }).version,
    ...commit(),
  };
}

function commit(): { commit?: string } {
  const cwd = new URL("..", import.meta.url);
  const { stdout, status } = spawnSync("git", ["describe", "--always", "--dirty"], { cwd });
  return status === 0 ? { commit: stdout.toString().trim() } : {};
}
