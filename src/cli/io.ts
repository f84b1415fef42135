/** Defines the command's streams, environment and signal. Tests pass their own. */

import type { Internals } from "../internals.ts";

export interface Output {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the user stops the command. */
  readonly signal: AbortSignal;
  /** Settings that tests pass to the engines that a command opens. */
  readonly internals?: Partial<Internals> | undefined;
}

/**
 * The exit code: 0 if something was found or done; 1 if nothing was found, or if damage was found. A command throws
 * for the codes 2 (an error) and 130 (stopped by the user).
 */
export type ExitCode = 0 | 1;

/** Prints JSON: indented for people, on one line for programs. */
export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, null, io.stdout.isTTY ? 2 : 0)}\n`);
}

export function printLines(output: Output, lines: readonly string[]): void {
  if (lines.length > 0) output.write(`${lines.join("\n")}\n`);
}
