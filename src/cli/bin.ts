#!/usr/bin/env node
/**
 * The command's process: streams, signals, exit code. It asks for V8's compile cache before it loads
 * the rest, so that a second start compiles nothing (Node 22.1 and later have one).
 */

import module from "node:module";
import { VERSION } from "../base/version.ts";

const { stdout, stderr, env } = process;
const argv = process.argv.slice(2);

/** Commands that end by themselves when they are told to: running requests may be answered. */
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
  /** The index is as it was whenever the process ends, so nobody waits for a step that cannot be left. */
  const leave = (): void => {
    stderr.write(STOPPED_WORDS);
    process.exit(STOPPED);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      stop.abort();
      if (!isServer) setTimeout(leave, STOP_MS).unref();
    }); // the second one ends the process as ever
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
