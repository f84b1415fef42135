/** Asks nodes. One pool of kept connections; what a node answers is decoded, and its refusals are told apart. */

import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { QuernError } from "../../base/errors.ts";
import type { StreamStep } from "../../search/caller/stream.ts";
import {
  errorOf,
  STATUS,
  STREAM,
  type Calls,
  type Failure,
  type OnSlices,
  type StreamCall,
} from "../wire/calls.ts";
import { bytesWithin, decode, decodeFrames, encode, MOST_ANSWER_BYTES } from "../wire/codec.ts";
import { sign } from "../wire/signature.ts";

/**
 * Why a node did not answer: another replica may. Only a search that would be refused everywhere throws
 * its QuernError.
 */
export class NodeFailed extends Error {
  readonly why: "unreachable" | "not-ready" | "overloaded" | "unknown";

  constructor(why: NodeFailed["why"], message: string) {
    super(message);
    this.why = why;
  }
}

export interface NodeClient {
  ask<Path extends keyof Calls>(
    url: string,
    path: Path,
    asked: Calls[Path]["asked"],
    signal?: AbortSignal,
  ): Promise<Calls[Path]["answer"]>;
  /** Resolves when the node has begun to answer. */
  stream(url: string, asked: StreamCall, signal?: AbortSignal): Promise<AsyncGenerator<StreamStep>>;
  close(): void;
}

export function nodeClient(secret: string): NodeClient {
  const agent = new Agent({ keepAlive: true });
  const send = (url: string, path: string, asked: OnSlices, signal?: AbortSignal) => {
    const body = encode(asked);
    const headers = {
      ...sign(secret, { method: "POST", path, body }),
      "content-type": "application/msgpack",
      "content-length": String(body.length),
    };
    const options = { method: "POST", agent, headers, ...(signal && { signal }) };
    return new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(new URL(path, url), options, resolve).on("error", reject).end(body);
    });
  };
  return {
    ask: (url, path, asked, signal) =>
      orFailed(url, async () => {
        const response = await send(url, path, asked, signal);
        const bytes = await bytesOf(response);
        return valueOf(response.statusCode!, bytes, url) as never;
      }),
    stream: (url, asked, signal) =>
      orFailed(url, async () => {
        const response = await send(url, STREAM, asked, signal);
        const { statusCode } = response;
        if (statusCode !== STATUS.OK) valueOf(statusCode!, await bytesOf(response), url);
        return stepsOf(response, url);
      }),
    close: () => agent.destroy(),
  };
}

/** Runs until a value or a QuernError is there; whatever else happens is the node's failure. */
async function orFailed<T>(url: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof NodeFailed || error instanceof QuernError) throw error;
    const { name, message } = error as Error;
    if (name === "AbortError")
      throw new QuernError("ABORTED", "the search was aborted", { cause: error });
    throw new NodeFailed("unreachable", `${url}: ${message}`);
  }
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const bytes = await bytesWithin(response as AsyncIterable<Buffer>, MOST_ANSWER_BYTES);
  if (!bytes) throw new Error("its answer is too long");
  return bytes;
}

/** The steps of a stream. One that ends without its last step is a failure of the node. */
async function* stepsOf(response: IncomingMessage, url: string): AsyncGenerator<StreamStep> {
  const frames = decodeFrames(response as AsyncIterable<Uint8Array>);
  for (let isOver = false; !isOver;) {
    const step = await orFailed(url, async () => {
      const { done, value } = await frames.next();
      if (done === true) throw new Error("the stream is cut off");
      const { step: one, failure } = value as { step?: StreamStep; failure?: Failure };
      if (failure) throw refused(failure, url);
      return one!;
    });
    isOver = step.event.type === "final";
    yield step;
  }
  for await (const _ of frames); // so that the connection is used again
}

function valueOf(status: number, bytes: Buffer, url: string): unknown {
  switch (status) {
    case STATUS.OK:
      return decode(bytes);
    case STATUS.REFUSED:
      throw refused(decode(bytes) as Failure, url);
    case STATUS.NOT_READY:
      throw new NodeFailed("not-ready", `${url} does not hold what was asked for`);
    case STATUS.OVERLOADED:
      throw new NodeFailed("overloaded", `${url} has as many searches as it takes`);
    case STATUS.UNKNOWN:
      throw new NodeFailed("unknown", `${url} answered ${status}: is its secret another one?`);
    default:
      throw new NodeFailed(
        "unreachable",
        `${url} answered ${status}: it is closing, or is no node`,
      );
  }
}

/** What a node is to blame for itself, such as damage, another one may not be. */
function refused(failure: Failure, url: string): Error {
  const own = ["INTERNAL", "INDEX_CORRUPT", "ENGINE_CLOSED", "ABORTED"];
  return own.includes(failure.code)
    ? new NodeFailed("unreachable", `${url}: ${failure.message}`)
    : errorOf(failure);
}
