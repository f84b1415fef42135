/** Defines the streams, the environment and the signal that a command uses. Tests pass replacements for them. */

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
}

/**
 * The exit code of a command that returns. It is 0 if something was found or done. It is 1 if nothing was found, if
 * damage was found, or if a part of the work failed. A command throws for the codes 2 (an error) and 130 (stopped by
 * the user).
 */
export type ExitCode = 0 | 1;

/** Prints a value as JSON. The JSON is indented on a terminal, and on one line otherwise. */
export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, null, io.stdout.isTTY ? 2 : 0)}\n`);
}

export function printLines(output: Output, lines: readonly string[]): void {
  if (lines.length > 0) output.write(`${lines.join("\n")}\n`);
}
