/**
 * Asks nodes over a pool of persistent connections, decodes their answers, and distinguishes refusals from failures.
 * An answer without a valid signature is not decoded. So somebody who takes over a node's address can neither change
 * results nor reach the decoder.
 */

import {
  Agent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { urlToHttpOptions } from "node:url";
import { QuernError } from "../../base/errors.ts";
import { LruCache } from "../../base/lru-cache.ts";
import {
  errorOf,
  STATUS,
  STREAM,
  type Calls,
  type OnSlices,
  type SentStep,
  type StreamCall,
} from "../wire/calls.ts";
import {
  bytesWithin,
  decodeBounded,
  decodeFrames,
  encode,
  MOST_ANSWER_BYTES,
} from "../wire/codec.ts";
import { hasShape, isFailure, isStep } from "../wire/shapes.ts";
import {
  callOf,
  frameSigner,
  headersIn,
  isBodyOf,
  lengthOfAnswer,
  sign,
} from "../wire/signature.ts";

/**
 * The error of a call that a node has not answered. Another replica may answer the call. If every node would refuse
 * the call, the error is a QuernError instead.
 */
export class NodeFailed extends Error {
  readonly why: "unreachable" | "not-ready" | "overloaded" | "unknown";

  constructor(why: NodeFailed["why"], message: string) {
    super(message);
    this.why = why;
  }
}

/**
 * The maximum number of nodes whose parsed address a client caches. A front spends 150 µs on a call. Without this
 * cache, 7 µs of that time would be spent on parsing the address.
 */
const MOST_ADDRESSES = 1000;

export interface NodeClient {
  ask<Path extends keyof Calls>(
    url: string,
    path: Path,
    asked: Calls[Path]["asked"],
    signal?: AbortSignal,
  ): Promise<Calls[Path]["answer"]>;
  /** Resolves when the node has begun to answer. */
  stream(url: string, asked: StreamCall, signal?: AbortSignal): Promise<AsyncGenerator<SentStep>>;
  close(): void;
}

/**
 * Makes a client that asks nodes. Calls `onStranger` when a node does not know the secret, or speaks another version
 * of the protocol. Does not call it again for the same node until that node has answered.
 */
export function nodeClient(
  secret: string,
  onStranger: (message: string) => void = () => undefined,
): NodeClient {
  const agent = new Agent({ keepAlive: true });
  const addresses = new LruCache<string, RequestOptions>({ most: MOST_ADDRESSES });
  const addressOf = (url: string): RequestOptions => urlToHttpOptions(new URL(url));
  const send = async (
    url: string,
    path: string,
    asked: OnSlices,
    signal?: AbortSignal,
  ): Promise<Answer> => {
    const body = encode(asked);
    const headers = {
      ...sign(secret, { method: "POST", path, body }),
      "content-type": "application/msgpack",
      "content-length": String(body.length),
    };
    const address = addresses.getOrMake(url, () => addressOf(url));
    const options = { ...address, path, method: "POST", agent, headers, ...(signal && { signal }) };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(options, resolve).on("error", reject).end(body);
    });
    return { secret, url, call: callOf(headersIn(headers)), response };
  };
  const strangers = new Set<string>();
  const orTold = async <T>(url: string, run: () => Promise<T>): Promise<T> => {
    try {
      const value = await orFailed(url, run);
      strangers.delete(url);
      return value;
    } catch (error) {
      if (error instanceof NodeFailed && error.why === "unknown" && !strangers.has(url)) {
        strangers.add(url);
        onStranger(error.message);
      }
      throw error;
    }
  };
  return {
    ask: (url, path, asked, signal) =>
      orTold(url, async () => {
        const value = await valueOf(await send(url, path, asked, signal));
        if (!hasShape(path, value)) throw new Error("its answer has an unexpected format");
        return value as never;
      }),
    stream: (url, asked, signal) =>
      orTold(url, async () => {
        const answer = await send(url, STREAM, asked, signal);
        if (answer.response.statusCode !== STATUS.OK) await valueOf(answer);
        if (signedLength(answer) !== "stream") throw stranger(answer);
        return stepsOf(answer);
      }),
    close: () => agent.destroy(),
  };
}

/**
 * Runs `run`, and converts its errors to NodeFailed. A QuernError stays as it is. If the caller has aborted, the
 * error is a QuernError with the code ABORTED.
 */
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

interface Answer {
  readonly secret: string;
  readonly url: string;
  /** The signature of the call. */
  readonly call: string;
  readonly response: IncomingMessage;
}

const signedLength = ({ secret, call, response }: Answer): number | "stream" | undefined =>
  lengthOfAnswer(secret, {
    call,
    status: response.statusCode!,
    headers: headersIn(response.headers),
  });

/** Returns the error for an answer without a valid signature, and stops reading the answer. */
function stranger({ url, response }: Answer): NodeFailed {
  response.destroy();
  return new NodeFailed("unknown", `${url} did not prove that it has the secret: is it a node?`);
}

/** Returns the value of a signed answer. */
async function readAnswer(answer: Answer): Promise<unknown> {
  const { response } = answer;
  const length = signedLength(answer);
  if (typeof length !== "number") throw stranger(answer);
  if (length > MOST_ANSWER_BYTES) throw new Error("its answer is too long");
  const body = await bytesWithin(response as AsyncIterable<Buffer>, length);
  if (!body || !isBodyOf(headersIn(response.headers), body.digest)) throw stranger(answer);
  return length === 0 ? undefined : decodeBounded(body.bytes);
}

/** Yields the steps of a stream. If the stream ends without its last step, the node has failed. */
async function* stepsOf({ secret, url, call, response }: Answer): AsyncGenerator<SentStep> {
  const frames = decodeFrames(response as AsyncIterable<Uint8Array>, frameSigner(secret, call));
  for (let isOver = false; !isOver;) {
    const step = await orFailed(url, async () => {
      const { done, value } = await frames.next();
      if (done === true) throw new Error("the stream is cut off");
      const { step: one, failure } = value as { step?: unknown; failure?: unknown };
      if (failure !== undefined) throw refused(failure, url);
      if (!isStep(one)) throw new Error("a step has an unexpected format");
      return one;
    });
    isOver = step.event.type === "final";
    yield step;
  }
  for await (const _ of frames); // reads to the end, so that the connection can be reused
}

/** Returns the value of an answer. If there is none, throws the error that says why. */
async function valueOf(answer: Answer): Promise<unknown> {
  const { url, response } = answer;
  const status: number = response.statusCode!;
  switch (status) {
    case STATUS.OK:
      return readAnswer(answer);
    case STATUS.REFUSED:
      throw refused(await readAnswer(answer), url);
    case STATUS.NOT_READY:
      await readAnswer(answer);
      throw new NodeFailed("not-ready", `${url} does not have the requested slices`);
    case STATUS.OVERLOADED:
      await readAnswer(answer);
      throw new NodeFailed("overloaded", `${url} already runs as many searches as it allows`);
  }
  response.destroy(); // the following statuses need no signature, because they only say that there is no answer
  if (status === STATUS.UNKNOWN)
    throw new NodeFailed("unknown", `${url} answered ${status}: does it have a different secret?`);
  if (status === STATUS.NO_SUCH_CALL)
    throw new NodeFailed("unknown", `${url} answered ${status}: it runs another version of quern`);
  throw new NodeFailed("unreachable", `${url} answered ${status}: it is closing, or is not a node`);
}

/**
 * Returns a NodeFailed for a node's own failure, such as damage, and otherwise the refusal that every node would give.
 */
function refused(failure: unknown, url: string): Error {
  if (!isFailure(failure)) return new Error("its error has an unexpected format");
  const own = ["INTERNAL", "INDEX_CORRUPT", "ENGINE_CLOSED", "ABORTED"];
  return own.includes(failure.code)
    ? new NodeFailed("unreachable", `${url}: ${failure.message}`)
    : errorOf(failure);
}
