/** What the command has of the world. Tests hand in their own. */

export interface Output {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the user wants to stop. */
  readonly signal: AbortSignal;
}

/** 0: found, or done. 1: nothing found, or damage. 2, an error, and 130, stopped by the user, are thrown. */
export type ExitCode = 0 | 1;

/** People get it indented, programs on one line. */
export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, null, io.stdout.isTTY ? 2 : 0)}\n`);
}

export function printLines(output: Output, lines: readonly string[]): void {
  if (lines.length > 0) output.write(`${lines.join("\n")}\n`);
}
