/**
 * Defines handlers that a server of `node:http` calls directly, without the objects of the fetch API. On a node of a
 * cluster, a Request, a Response and their streams would take a quarter of the processor time of a search for a rare
 * word.
 */

import { holdRequest } from "./joined-signal.ts";

/** A request, as a direct handler receives it. */
export interface DirectCall {
  readonly method: string;
  /** The path with the query string. */
  readonly path: string;
  readonly headers: Pick<Headers, "get">;
  readonly body: AsyncIterable<Uint8Array>;
  /** Aborted if the client disconnects. */
  readonly signal: AbortSignal;
}

/** An answer with a short body. */
export interface DirectAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** Answers a call. Resolves to a Response only if the body of the answer is a stream. */
export type DirectHandler = (call: DirectCall) => Promise<DirectAnswer | Response>;

const directHandlers = new WeakMap<object, DirectHandler>();

/** Returns a fetch handler that answers requests with `answer`. */
export function fetchHandler(answer: DirectHandler): (request: Request) => Promise<Response> {
  const handler = async (request: Request): Promise<Response> => {
    const { method, headers, body } = request;
    const signal = holdRequest(request);
    const { pathname, search } = new URL(request.url);
    const path = pathname + search;
    return toResponse(await answer({ method, path, headers, body: body ?? NOTHING, signal }));
  };
  directHandlers.set(handler, answer);
  return handler;
}

/**
 * Returns the function with which fetchHandler() made this handler. Returns undefined if fetchHandler() did not make
 * it.
 */
export const directHandlerOf = (handler: object): DirectHandler | undefined =>
  directHandlers.get(handler);

export function toResponse(answer: DirectAnswer | Response): Response {
  if (answer instanceof Response) return answer;
  return new Response(answer.body.length > 0 ? answer.body : null, answer);
}

const NOTHING: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };
