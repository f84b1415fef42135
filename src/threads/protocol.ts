/**
 * Defines the messages between the pool and its threads.
 *
 * A thread sends "ready" once. It then answers each request with any number of "message" replies, followed by one
 * "result" or "error". Several requests may be open at the same time, one in each lane. Their ids distinguish them.
 */

import { QuernError, type ErrorCode } from "../base/errors.ts";
import type { Up } from "./start.ts";
import type { Lane } from "./task.ts";
import type { Pulse } from "./watch.ts";

export interface Request {
  readonly id: number; // unique in its pool, in ascending order
  readonly lane: Lane;
  readonly task: string;
  readonly input: unknown;
}

/** Asks the thread to end when its tasks have ended. This is the last message to a thread. */
export const END = "end";

export type Reply =
  | { readonly kind: "ready" }
  | { readonly kind: "message"; readonly id: number; readonly value: unknown }
  | { readonly kind: "result"; readonly id: number; readonly value: unknown }
  | { readonly kind: "error"; readonly id: number; readonly error: Failure };

/** The data that a worker receives when it starts. */
export interface WorkerInput {
  readonly worker: number;
  readonly environment: unknown;
  readonly pulse: Pulse;
  readonly up: Up;
}

/** An error as plain data. Structured cloning would lose the class, the code and the position of the error. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly position?: number;
  readonly cause?: string;
}

export function packError(thrown: unknown): Failure {
  if (!(thrown instanceof QuernError))
    return { code: "INTERNAL", message: messageOf(thrown), cause: trace(thrown) };
  const { code, message, position, cause } = thrown;
  return {
    code,
    message,
    ...(position !== undefined && { position }),
    ...(cause !== undefined && { cause: trace(cause) }),
  };
}

export function unpackError({ code, message, ...options }: Failure): QuernError {
  return new QuernError(code, message, options);
}

const messageOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown));

const trace = (thrown: unknown) =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
