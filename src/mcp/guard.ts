/** Defines what surrounds each call that reads: limits, and the record of it. */

/** Adds to what is recorded of a call. */
export type Note = (facts: object) => void;

/** What a call asks for. */
export interface AskedCall {
  /** The name of a tool, "resource", "complete_name" or "complete_path". */
  readonly tool: string;
  readonly args: object;
}

/** Runs a call and returns its answer. Throws CallRefused if the call, or the answer before it leaves, is not allowed. */
export type Guard = <T>(call: AskedCall, run: (note: Note) => Promise<T>) => Promise<T>;

export const UNGUARDED: Guard = (_, run) => run(() => {});

/** A call that is not answered, with the reason in words. */
export class CallRefused extends Error {
  override readonly name = "CallRefused";
}
