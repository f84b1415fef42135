/**
 * Serves the Model Context Protocol over the process's standard input and output. Nothing else may write to standard
 * output.
 */

import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { once } from "node:events";
import { Readable } from "node:stream";
import type { Engine } from "../engine.ts";
import { Cursors } from "./cursors.ts";
import type { Guard } from "./guard.ts";
import { createServer } from "./server.ts";
import { shownEngine, type Secrets } from "./secrets.ts";
import { messageLines } from "./stdio-lines.ts";
import { tokenBound } from "./token-bound.ts";

export interface StdioOptions {
  /** Returns sentences that say what is still being indexed. */
  readonly behind: () => readonly string[];
  /** The guard that runs each call. */
  readonly guard: Guard;
  /** The names of the tools that are not offered. */
  readonly withoutTools?: readonly string[] | undefined;
  readonly secrets: Secrets | undefined;
  /** Aborting ends the server. */
  readonly signal: AbortSignal;
  readonly onError: (error: Error) => void;
}

/** Serves one client. Resolves when the client has closed standard input, or when the signal aborts. */
export async function serveOnStdio(
  given: Engine,
  { behind, guard, withoutTools, secrets, signal, onError }: StdioOptions,
): Promise<void> {
  const { engine, hidesSecrets } = shownEngine(given, secrets);
  const cursors = new Cursors();
  const messages = Readable.from(messageLines(process.stdin, process.stdout), { highWaterMark: 1 });
  const ended = once(messages, "end", { signal }).catch(() => undefined);
  const handle = serveStdio(
    () =>
      createServer(
        (call) => ({
          engine,
          viewer: undefined,
          signal: call,
          timeoutMs: undefined,
          cursors,
          count: tokenBound,
          behind,
          hidesSecrets,
        }),
        { guard, withoutTools, hidesSecrets },
      ),
    { onerror: onError, transport: new StdioServerTransport(messages, process.stdout) },
  );
  await ended;
  await handle.close();
}
