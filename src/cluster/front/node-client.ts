/** Asks nodes. One pool of kept connections; what a node answers is decoded, and its refusals are told apart. */

import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { QuernError } from "../../base/errors.ts";
import { errorOf, STATUS, type Calls, type Failure } from "../wire/calls.ts";
import { decode, encode } from "../wire/codec.ts";
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
  close(): void;
}

export function nodeClient(secret: string): NodeClient {
  const agent = new Agent({ keepAlive: true });
  return {
    async ask(url, path, asked, signal) {
      const body = encode(asked);
      const headers = {
        ...sign(secret, { method: "POST", path, body }),
        "content-type": "application/msgpack",
        "content-length": String(body.length),
      };
      const options = { method: "POST", agent, headers, ...(signal && { signal }) };
      const { status, bytes } = await send(new URL(path, url), options, body);
      return valueOf(status, bytes, url) as never;
    },
    close: () => agent.destroy(),
  };
}

async function send(
  to: URL,
  options: Parameters<typeof httpRequest>[1] & object,
  body: Uint8Array,
): Promise<{ status: number; bytes: Buffer }> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(to, options, resolve).once("error", reject).end(body);
    });
    const pieces: Buffer[] = [];
    for await (const piece of response) pieces.push(piece as Buffer);
    return { status: response.statusCode!, bytes: Buffer.concat(pieces) };
  } catch (error) {
    if ((error as Error).name === "AbortError")
      throw new QuernError("ABORTED", "the search was aborted", { cause: error });
    throw new NodeFailed("unreachable", `${to.origin}: ${(error as Error).message}`);
  }
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
    default:
      throw new NodeFailed("unknown", `${url} answered ${status}: is its secret another one?`);
  }
}

/** What a node is to blame for itself, such as damage, another one may not be. */
function refused(failure: Failure, url: string): Error {
  const own = ["INTERNAL", "INDEX_CORRUPT", "ENGINE_CLOSED", "ABORTED"];
  return own.includes(failure.code)
    ? new NodeFailed("unreachable", `${url}: ${failure.message}`)
    : errorOf(failure);
}
