#!/usr/bin/env node
/** The command's process: streams, signals, exit code. */

import { run } from "./main.ts";

const stop = new AbortController();
// the second one ends the process as ever
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

// a reader that has seen enough, such as head
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

const { stdout, stderr, env } = process;
process.exitCode = await run(process.argv.slice(2), { stdout, stderr, env, signal: stop.signal });
