/** A terminal or a pipe that keeps its output. */

import { run } from "../../src/cli/main.ts";
import type { Io } from "../../src/cli/io.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface World {
  readonly isTTY?: boolean;
  readonly env?: Io["env"];
  readonly signal?: AbortSignal;
  /** Receives everything that is written to stdout. */
  readonly onOutput?: (text: string) => void;
  /** Receives everything that is written to stderr. */
  readonly onNote?: (text: string) => void;
}

export async function quern(argv: readonly string[], world: World = {}): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    isTTY: world.isTTY,
    columns: 80,
    write(text: string | Uint8Array) {
      const added = typeof text === "string" ? text : Buffer.from(text).toString();
      written[name] += added;
      (name === "stdout" ? world.onOutput : world.onNote)?.(added);
    },
  });
  const code = await run(argv, {
    stdout: output("stdout"),
    stderr: output("stderr"),
    env: world.env ?? {},
    signal: world.signal ?? new AbortController().signal,
  });
  return { code, ...written };
}
