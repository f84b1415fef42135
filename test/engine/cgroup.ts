/** Cgroups of Linux, for tests of processes whose processor time or memory is limited. Making them needs root. */

import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const ROOT = "/sys/fs/cgroup";
const isSecondVersion = existsSync(join(ROOT, "cgroup.controllers"));

export interface Limits {
  /** The share of a core. */
  readonly cores: number;
  readonly mebibytes: number;
}

/** Returns the words of a command before those of another, so that its process is limited. Undefined if not allowed. */
export function limited({ cores, mebibytes }: Limits): readonly string[] | undefined {
  const name = `quern-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const quota = `${cores * 100_000}`;
  const bytes = `${mebibytes * 2 ** 20}`;
  const groups: Record<string, Record<string, string>> = isSecondVersion
    ? { [name]: { "cpu.max": `${quota} 100000`, "memory.max": bytes, "memory.swap.max": "0" } }
    : {
        [`cpu/${name}`]: { "cpu.cfs_quota_us": quota },
        [`memory/${name}`]: { "memory.limit_in_bytes": bytes },
      };
  try {
    for (const [group, values] of Object.entries(groups)) {
      const folder = join(ROOT, group);
      mkdirSync(folder);
      onTestFinished(() => rmdirSync(folder));
      for (const [file, value] of Object.entries(values)) writeFileSync(join(folder, file), value);
    }
  } catch {
    return undefined;
  }
  const enter = Object.keys(groups).map((group) => `echo $$ > ${ROOT}/${group}/cgroup.procs; `);
  return ["sh", "-c", `${enter.join("")}exec "$@"`, "sh"];
}
