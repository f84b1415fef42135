#!/usr/bin/env node
/**
 * The command's process: streams, signals, exit code. It asks for V8's compile cache before it loads
 * the rest, so that a second start compiles nothing (Node 22.1 and later have one).
 */

import module from "node:module";
import { VERSION } from "../http/version.ts";

const { stdout, stderr, env } = process;
const argv = process.argv.slice(2);

if (argv.length === 1 && ["--version", "-V"].includes(argv[0]!)) stdout.write(`${VERSION}\n`);
else await runCommand();

async function runCommand(): Promise<void> {
  enableCompileCache();
  const { run } = await import("./main.ts");
  const stop = new AbortController();
  // the second one ends the process as ever
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  // a reader that has seen enough, such as head
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  process.exitCode = await run(argv, { stdout, stderr, env, signal: stop.signal });
}

function enableCompileCache(): void {
  (module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
}
