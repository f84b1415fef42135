/**
 * Returns the letter that the system gives to the state of a process, such as T for stopped. Undefined if the process
 * does not exist, or if the system does not say.
 */

import { readFileSync } from "node:fs";

export function stateOfProcess(pid: number): string | undefined {
  try {
    // the name before it, in brackets, may contain anything
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\)/s, ")"))?.[1];
  } catch {
    return undefined;
  }
}
