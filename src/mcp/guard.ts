/** Defines the guard of each call that reads: it applies limits and records the call. */

/** Adds facts to the record of a call. */
export type Note = (facts: object) => void;

/** The arguments of a call. */
export interface AskedCall {
  /** The name of a tool, or one of "resource", "complete_name" and "complete_path". */
  readonly tool: string;
  readonly args: object;
}

/**
 * Runs a call and returns its answer. Throws CallRefused if the call is not allowed, or if its answer may no longer
 * be sent.
 */
export type Guard = <T>(call: AskedCall, run: (note: Note) => Promise<T>) => Promise<T>;

export const UNGUARDED: Guard = (_, run) => run(() => {});

/** A call that is refused, with the reason as text. */
export class CallRefused extends Error {
  override readonly name = "CallRefused";
}
