/** The letter that the system gives a process: T where it is stopped. Undefined where it is not there, or the system does not tell. */

import { readFileSync } from "node:fs";

export function stateOfProcess(pid: number): string | undefined {
  try {
    // the name before it, in brackets, may hold anything
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\)/s, ")"))?.[1];
  } catch {
    return undefined;
  }
}
