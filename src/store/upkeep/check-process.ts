/**
 * Runs the check in a child process, because reading a damaged page of LMDB's own tree can end the process. If the
 * child process dies, the report says so in a problem.
 */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { QuernError } from "../../base/errors.ts";
import { mustHaveStreams } from "../../base/out-of-files.ts";
import type { CheckReport } from "./check.ts";

export function checkInChild(entry: URL, path: string, signal?: AbortSignal): Promise<CheckReport> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(entry), path], {
      stdio: ["ignore", "pipe", "pipe"],
      ...(signal ? { signal } : {}),
    });
    mustHaveStreams(child);
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (data: Buffer) => out.push(data));
    child.stderr.on("data", (data: Buffer) => err.push(data));
    child.on("error", (cause) =>
      reject(
        signal?.aborted
          ? new QuernError("ABORTED", "the caller's signal aborted the check")
          : new QuernError("INTERNAL", "the check could not be started", { cause }),
      ),
    );
    child.on("close", (code, killedBy) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(out).toString()) as CheckReport);
      else resolve(dead(killedBy ?? `exit code ${code}`, Buffer.concat(err).toString()));
    });
  });
}

function dead(how: string, words: string): CheckReport {
  const message = `reading the data file ended the process that checked it (${how}): its tree of pages is damaged ${words.slice(-300)}`;
  return { ok: false, segments: 0, files: 0, bytes: 0, problems: [{ message: message.trim() }] };
}
