/**
 * Implements quern mcp, which offers tools to a coding agent over standard input and output until the client
 * disconnects.
 */

import { JoinedSignal } from "../base/joined-signal.ts";
import type { Command } from "commander";
import type { Engine } from "../engine.ts";
import { checkToolNames } from "../mcp/tool-names.ts";
import { type Call, type CommonFlags, collect, withCommonOptions } from "./call.ts";
import { inNewDirectory } from "./data-directory.ts";
import { withEngine } from "./engine-session.ts";
import { firstAnswer } from "./first-answer.ts";
import type { FollowedPaths } from "./followed-paths.ts";
import type { Io } from "./io.ts";

type McpFlags = CommonFlags & {
  readonly withoutTool?: string[];
  readonly showSecrets?: boolean;
};

export function addMcp(program: Command, call: Call): void {
  withCommonOptions(program.command("mcp"))
    .summary("serve a coding agent over the Model Context Protocol")
    .description(
      "Serve the tools of a coding agent over the Model Context Protocol, on standard input and output.\n" +
        "Indexes the paths in the background; until then, answers list what is missing.\n" +
        "Afterwards, they contain the files on disk, and the commits of bare repositories.",
    )
    .argument("[path...]", "folders and repositories to index and watch")
    .option("--without-tool <name>", "do not offer this tool; repeatable", collect)
    .option("--show-secrets", "show files and values that look like secrets")
    .addHelpText("after", WHERE)
    .action((paths: string[], flags: McpFlags) => {
      const { io } = call;
      checkToolNames("quern mcp: --without-tool", flags.withoutTool ?? []);
      const { db } = flags;
      const readOnly = paths.length === 0;
      const run = () =>
        withEngine(io, { db, readOnly }, (engine) => serve(engine, { paths, flags }, io));
      return readOnly ? run() : inNewDirectory(db, run, () => false);
    });
}

const WHERE = `
Without --db and QUERN_DB, the index of a path is in PATH/.quern. That of several paths, and of a path in which
nothing can be written, is in the user's cache directory. Without a path, the nearest .quern is searched.`;

async function serve(
  engine: Engine,
  paths: FollowedPaths & { readonly flags: McpFlags },
  io: Io,
): Promise<void> {
  const { withoutTool, showSecrets } = paths.flags;
  const { serveOnStdio } = await import("../mcp/stdio.ts");
  const { follow } = await import("./followed-paths.ts");
  const abort = new AbortController();
  using either = new JoinedSignal([io.signal, abort.signal]);
  const { signal } = either;
  const { guard, given } = firstAnswer(signal);
  const followed = follow(engine, paths, { io, signal, begin: given });
  await serveOnStdio(followed.engine, {
    behind: followed.behind,
    guard,
    withoutTools: withoutTool,
    secrets: showSecrets ? "show" : undefined,
    signal: io.signal,
    onError: ({ message }) => io.stderr.write(`quern: ${message}\n`),
  });
  abort.abort();
  await followed.done;
}
