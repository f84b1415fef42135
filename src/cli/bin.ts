#!/usr/bin/env node
/**
 * Runs the command as a process, with its streams, its signals and its exit code. Enables V8's compile cache (Node
 * 22.1 and later) before the other modules are loaded, so that a second start compiles nothing.
 */

import module from "node:module";
import { VERSION } from "../base/version.ts";

const { stdout, stderr, env } = process;
const argv = process.argv.slice(2);

/** Commands that end by themselves after a signal, so that they can answer running requests first. */
const SERVERS = new Set(["serve", "mcp"]);
const isServer = SERVERS.has(argv[0] ?? "") || (argv[0] === "sync" && argv.includes("--every"));
const STOP_MS = 800;

if (argv.length === 1 && ["--version", "-V"].includes(argv[0]!)) stdout.write(`${VERSION}\n`);
else await runCommand();

async function runCommand(): Promise<void> {
  enableCompileCache();
  const { run, STOPPED } = await import("./main.ts");
  const { STOPPED_WORDS } = await import("./errors.ts");
  const stop = new AbortController();
  /** Ends the process immediately, even during a step that cannot be interrupted. This does not damage the index. */
  const leave = (): void => {
    stderr.write(STOPPED_WORDS);
    process.exit(STOPPED);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      stop.abort();
      if (!isServer) setTimeout(leave, STOP_MS).unref();
    }); // the second signal ends the process immediately
  // the program that reads the pipe, such as head, has closed the pipe
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  process.exitCode = await run(argv, { stdout, stderr, env, signal: stop.signal });
}

function enableCompileCache(): void {
  (module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
}
