/** quern mcp: the tools of a coding agent on standard input and output, until the client leaves. */

import type { Command } from "commander";
import type { Engine } from "../engine.ts";
import type { IndexProgress } from "../ingest/run/report.ts";
import { type Call, type CommonFlags, withCommonOptions } from "./call.ts";
import { withEngine } from "./engine-session.ts";
import { checkPaths, sourcesOf } from "./index-sources.ts";
import type { Io } from "./io.ts";

export function addMcp(program: Command, call: Call): void {
  withCommonOptions(program.command("mcp"))
    .summary("serve a coding agent over the Model Context Protocol")
    .description(
      "Serve the tools of a coding agent over the Model Context Protocol, on standard input and output.\n" +
        "Paths are indexed in the background, and again as they change; searches answer from what is there.",
    )
    .argument("[path...]", "folders and repositories to index and to watch")
    .action((paths: string[], flags: CommonFlags) => {
      const options = { db: flags.db, readOnly: paths.length === 0 };
      return withEngine(call.io, options, (engine) => serve(engine, { paths, flags }, call.io));
    });
}

interface Asked {
  readonly paths: string[];
  readonly flags: CommonFlags;
}

async function serve(engine: Engine, asked: Asked, io: Io): Promise<void> {
  const { serveOnStdio } = await import("../mcp/stdio.ts");
  const abort = new AbortController();
  const signal = AbortSignal.any([io.signal, abort.signal]);
  const background = indexInBackground(engine, asked, { io, signal });
  await serveOnStdio(engine, {
    behind: background.behind,
    signal: io.signal,
    onError: ({ message }) => io.stderr.write(`quern: ${message}\n`),
  });
  abort.abort();
  await background.done;
}

interface Background {
  /** What is still being indexed, in words. */
  readonly behind: () => readonly string[];
  readonly done: Promise<void>;
}

/** Indexes the paths, and again as they change. */
function indexInBackground(
  engine: Engine,
  { paths, flags }: Asked,
  { io, signal }: { readonly io: Io; readonly signal: AbortSignal },
): Background {
  const begun = `INCOMPLETE: ${paths.join(", ")} is still being indexed: what is not read yet is missing.`;
  let words: readonly string[] = paths.length === 0 ? [] : [begun];
  const onProgress = ({ done, total }: IndexProgress): void => {
    words = [`${begun} So far ${done} of ${total} files.`];
  };
  const tell = ({ message }: { message: string }): void => {
    io.stderr.write(`quern: ${message}\n`);
  };
  const run = async (): Promise<void> => {
    if (paths.length === 0) return;
    try {
      checkPaths(paths, flags);
      const repositories = await engine.repositories();
      const sources = await sourcesOf(paths, { flags, repositories, signal });
      await engine.index(sources, { signal, onProgress });
      words = [];
      const { watch } = await import("../watch.ts");
      await watch(engine, sources, { signal, onWarning: tell });
    } catch (error) {
      if (signal.aborted) return;
      const { message } = error as Error;
      tell({ message });
      words = [`INCOMPLETE: ${paths.join(", ")} could not be indexed: ${message}`];
    }
  };
  return { behind: () => words, done: run() };
}
