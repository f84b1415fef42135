/** Defines the guard, which runs each call that reads the index. It applies limits and records the call. */

/** Adds facts to the record of a call. */
export type Note = (facts: object) => void;

/** A call, as a client has requested it. */
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

/** The error of a call that is refused. Its message tells the model the reason. */
export class CallRefused extends Error {
  override readonly name = "CallRefused";
}
