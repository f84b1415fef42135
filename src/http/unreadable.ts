/**
 * Answers requests that `node:http` rejects before a handler sees them. Examples are invalid bytes, endless headers,
 * unknown expectations and CONNECT. Node itself answers such requests without a body, or not at all. This module
 * answers with an error object.
 */

import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { continueLate } from "./node-listener.ts";
import { jsonText } from "./json-text.ts";
import { errorBody, Refusal, STATUS, type RefusalCode } from "./refusal.ts";

/**
 * Makes a `node:http` server answer with an error object even if it cannot read a request. Also makes the server send
 * "100 Continue" only when a body is read, if all its listeners come from toNodeListener().
 *
 * @example
 * import { createServer } from "node:http";
 * const listener = toNodeListener(createHandler(engine, { anonymous: "all" }));
 * const server = createServer({ requireHostHeader: false }, listener); // the handler rejects requests without a Host
 * answerUnreadable(server);
 * server.listen(3000);
 */
export function answerUnreadable(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) =>
    answerSocket(refusalOf(error), error, socket as Socket),
  );
  continueLate(server);
  server.on("checkExpectation", (_req: IncomingMessage, res: ServerResponse) => {
    const { head, body } = answerOf(
      new Refusal("EXPECTATION_FAILED", "the Expect header may only be 100-continue"),
    );
    res.writeHead(STATUS.EXPECTATION_FAILED, head).end(body);
  });
  server.on("connect", (_req: IncomingMessage, socket: Socket) => {
    if (server.listenerCount("connect") > 1) return; // the host program has added its own listener
    socket.on("error", () => {}); // without a listener, a connection reset would end the process
    end(socket, NO_TUNNEL);
  });
}

/** The response to CONNECT. The target of CONNECT is not a path, so Allow lists every method that some path accepts. */
const NO_TUNNEL = new Refusal("METHOD_NOT_ALLOWED", "this server is not a proxy", {
  headers: { Allow: "GET, HEAD, POST, DELETE, OPTIONS" },
});

/** The refusal for each error code of `node:http`. Any other code means that the bytes are not an HTTP request. */
const REASONS: Readonly<Record<string, readonly [RefusalCode, string]>> = {
  HPE_HEADER_OVERFLOW: ["HEADERS_TOO_LARGE", "the path and the headers are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: ["REQUEST_TIMEOUT", "the request took too long to arrive"],
};

function refusalOf({ code = "" }: NodeJS.ErrnoException): Refusal {
  const [refused, message] = REASONS[code] ?? NO_REQUEST;
  return new Refusal(refused, message);
}

const NO_REQUEST = ["INVALID_REQUEST_BODY", "this is not an HTTP/1.1 request"] as const;

/** Writes a refusal to a socket, unless a response has already begun. */
function answerSocket(refusal: Refusal, error: Error, socket: Socket): void {
  const { _httpMessage: begun } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (!socket.writable || begun?.headersSent) return void socket.destroy(error);
  end(socket, refusal);
}

function end(socket: Socket, refusal: Refusal): void {
  const status = STATUS[refusal.code];
  const { head, body } = answerOf(refusal);
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
  socket.write([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n"));
  socket.destroySoon();
}

function answerOf(refusal: Refusal): { head: Record<string, string>; body: string } {
  const body = jsonText(errorBody(refusal));
  const head = {
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    Connection: "close",
    ...refusal.headers,
  };
  return { head, body };
}
