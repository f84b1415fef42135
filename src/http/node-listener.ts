/**
 * Adapts a fetch handler to `node:http`, which Express and Fastify are based on. Bodies are streamed in both
 * directions with back-pressure. If a client disconnects, `request.signal` is aborted.
 *
 *     app.use("/code", toNodeListener(handler));
 *
 * If a framework has already parsed the body, as express.json() does, the parsed value is serialized again.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ReadableStreamDefaultController, UnderlyingSource } from "node:stream/web";
import { once } from "node:events";
import {
  directHandlerOf,
  toResponse,
  type DirectAnswer,
  type DirectCall,
} from "../base/direct-handlers.ts";
import { noteAddress } from "./client-key.ts";
import type { Handler } from "./handler.ts";
import { noteOuterPath } from "./outer-path.ts";
import { jsonText } from "./json-text.ts";
import { errorBody, Refusal, STATUS, toRefusal } from "./refusal.ts";

/**
 * Returns a request listener that calls a handler, for `node:http`, Express and Fastify.
 *
 * @example
 * import { createServer } from "node:http";
 * createServer(toNodeListener(createHandler(engine, { anonymous: "all" }))).listen(3000);
 */
export function toNodeListener(
  handler: Handler,
): (req: IncomingMessage, res: ServerResponse) => void {
  const listener = (req: IncomingMessage, res: ServerResponse): void => {
    const left = new AbortController();
    res.once("close", () => {
      if (!res.writableFinished) left.abort();
    });
    res.prependOnceListener("finish", () => void dropRest(req)); // otherwise Node would read the whole body
    afterEarlier(req, res, () => {
      void serve(handler, { req, res, signal: left.signal }).catch(() => res.destroy());
    });
  };
  listeners.add(listener);
  return listener;
}

/**
 * The maximum number of requests that may wait on a connection. Common clients send at most a few requests before the
 * first response.
 */
export const MOST_WAITING = 100;

interface Connection {
  latest: ServerResponse;
  /** The number of requests on the connection that wait until earlier requests are answered. */
  waiting: number;
}

const connections = new WeakMap<Socket, Connection>();

/**
 * Calls `begin` when the earlier responses on the connection have been sent. A client may send a thousand requests at
 * once (pipelining), and Node passes all of them on in one turn of the event loop. If too many requests wait, the
 * connection is closed.
 */
function afterEarlier({ socket }: IncomingMessage, res: ServerResponse, begin: () => void): void {
  const known = connections.get(socket);
  if (!known || known.latest.closed) {
    connections.set(socket, { latest: res, waiting: 0 });
    return begin();
  }
  const earlier = known.latest;
  known.latest = res;
  if (++known.waiting > MOST_WAITING) return void socket.destroy();
  earlier.once("close", () =>
    setImmediate(() => {
      known.waiting--;
      if (!socket.destroyed) begin();
    }),
  );
}

const listeners = new WeakSet<object>();
/** Requests whose client waits for "100 Continue" before it sends the body. */
const waiting = new WeakSet<IncomingMessage>();

/**
 * Makes the server send "100 Continue" only when the handler begins to read the body. Clients thus do not send a body
 * that would be rejected. If the server has other listeners, it sends "100 Continue" immediately, as Node does by
 * default.
 */
export function continueLate(server: Server): void {
  server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => {
    if (server.listeners("request").every((one) => listeners.has(one))) waiting.add(req);
    else res.writeContinue();
    server.emit("request", req, res);
  });
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly signal: AbortSignal;
}

async function serve(handler: Handler, exchange: Exchange): Promise<void> {
  const { req, res } = exchange;
  const direct = directHandlerOf(handler);
  let answer: Response | DirectAnswer;
  try {
    checkHost(req);
    checkBody(req);
    answer = await (direct && canCall(req)
      ? direct(toCall(exchange))
      : handler(toRequest(exchange)));
  } catch (error) {
    answer = refuse(error);
  }
  if (answer instanceof Response || answer.status >= 400 || waiting.has(req))
    await send(toResponse(answer), req, res);
  else if (!res.destroyed) res.writeHead(answer.status, answer.headers).end(answer.body);
}

function refuse(error: unknown): Response {
  const refusal = toRefusal(error);
  const headers = { ...refusal.headers, "Content-Type": "application/json" };
  return new Response(jsonText(errorBody(refusal)), { status: STATUS[refusal.code], headers });
}

// ── the request ──

/**
 * Rejects a request of HTTP/1.1 that does not have exactly one Host header. Unless the server was created with
 * requireHostHeader: false, `node:http` itself rejects a request without a Host, and its response has no body.
 */
function checkHost({ httpVersion, headersDistinct }: IncomingMessage): void {
  if (httpVersion === "1.1" && headersDistinct["host"]?.length !== 1)
    throw new Refusal(
      "INVALID_REQUEST_BODY",
      "an HTTP/1.1 request must have exactly one Host header",
    );
}

/**
 * Rejects transfer codings other than chunked, because their bodies would be read without decoding. Also rejects a
 * long body with GET or HEAD.
 */
function checkBody({ method, headers }: IncomingMessage): void {
  const coding = headers["transfer-encoding"] ?? "chunked";
  if (coding.trim().toLowerCase() !== "chunked")
    throw new Refusal("INVALID_REQUEST_BODY", "the Transfer-Encoding header may only be chunked");
  if (
    (method === "GET" || method === "HEAD") &&
    Number(headers["content-length"] ?? 0) > MOST_DROPPED
  )
    throw new Refusal("BODY_TOO_LARGE", `a ${method} request must not have a body`);
}

const UNSPEAKABLE = new Set(["CONNECT", "TRACE", "TRACK"]); // methods that a Request of fetch cannot have

/**
 * Whether a direct handler may answer the request. The body must be unread, and the client must have sent a path and
 * not a whole URL.
 */
const canCall = ({ url = "", readableDidRead }: IncomingMessage): boolean =>
  url.startsWith("/") && !readableDidRead;

const toCall = ({ req, res, signal }: Exchange): DirectCall => ({
  method: req.method ?? "GET",
  path: req.url ?? "/",
  headers: { get: (name) => req.headers[name]?.toString() ?? null },
  body: partsOf(req, res),
  signal,
});

async function* partsOf(req: IncomingMessage, res: ServerResponse): AsyncGenerator<Uint8Array> {
  if (waiting.delete(req)) res.writeContinue();
  yield* req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
}

function toRequest({ req, res, signal }: Exchange): Request {
  const { method: asked = "GET" } = req;
  // no route accepts the changed method, so the router answers with the methods that the path accepts
  const method = UNSPEAKABLE.has(asked) ? `X-${asked}` : asked;
  const headers = toHeaders(req.rawHeaders);
  const init = { method, headers, signal };
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody && { body: toBody(req, res), duplex: "half" };
  const request = new Request(toUrl(req), { ...init, ...body } as RequestInit);
  noteAddress(request, req.socket.remoteAddress);
  noteOuterPath(request, (req as { originalUrl?: string }).originalUrl);
  return request;
}

/**
 * Copies every header as often as it was sent. A header that may have only one value is then rejected if it was sent
 * twice.
 */
function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let n = 0; n < raw.length; n += 2) {
    const [name = "", value = ""] = [raw[n], raw[n + 1]];
    if (!name.startsWith(":")) headers.append(name, value); // HTTP/2 sends the method and the path in pseudo-headers
  }
  return headers;
}

/**
 * Returns the URL of a request. Uses only the path and the query of what the client has sent in place of a path, and
 * ignores an invalid Host. So neither a whole URL nor a Host of `x/api/health?` leads to another path or host.
 */
function toUrl({ url = "/", headers, socket }: IncomingMessage): string {
  const scheme = "encrypted" in socket && socket.encrypted ? "https" : "http";
  const { host = "" } = headers;
  const isPlain = /^[\w.:[\]-]+$/.test(host) && URL.canParse(`${scheme}://${host}/`);
  const origin = `${scheme}://${isPlain ? host : "localhost"}`;
  if (url.startsWith("/")) return origin + url;
  if (!URL.canParse(url)) return `${origin}/`;
  const { pathname, search } = new URL(url);
  return origin + pathname + search;
}

function toBody(
  req: IncomingMessage & { body?: unknown },
  res: ServerResponse,
): NonNullable<RequestInit["body"]> {
  if (req.body === undefined || !req.readableDidRead) return toStream(req, res);
  const { body } = req;
  return typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
}

/** Returns the body as a stream. Nothing is read from the client before somebody reads the stream. */
function toStream(req: IncomingMessage, res: ServerResponse): ReadableStream<Uint8Array> {
  let release = (): void => {};
  const source: UnderlyingSource<Uint8Array> = {
    start(controller: ReadableStreamDefaultController<Uint8Array>) {
      const onData = (part: Uint8Array): void => {
        controller.enqueue(part);
        if ((controller.desiredSize ?? 0) <= 0) req.pause();
      };
      const onEnd = (): void => (release(), controller.close());
      const onClose = (): void => (release(), controller.error(new Error("the client left")));
      release = () => void req.off("data", onData).off("end", onEnd).off("close", onClose);
      if (req.readableEnded) return controller.close();
      req.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
      req.pause();
    },
    pull() {
      if (waiting.delete(req)) res.writeContinue();
      req.resume();
    },
    cancel: release,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

const LINGER_MS = 5_000;
/** The maximum number of bytes that are read from a body only to drop them. */
const MOST_DROPPED = 100 * 1024;

/**
 * Reads and drops the rest of a body for a moment, because some clients read the response only after they have sent
 * everything. Resolves when the body has ended, when the client has disconnected, or after LINGER_MS.
 */
function dropRest(req: IncomingMessage): Promise<void> {
  if (req.complete || req.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = MOST_DROPPED;
    req.removeAllListeners("data");
    req.on("data", ({ length }: Uint8Array) => {
      left -= length;
      if (left < 0) req.pause();
    });
    req.read(0); // starts reading now; otherwise Node would read the whole body
    req.resume();
    const timer = setTimeout(() => req.destroy(), LINGER_MS).unref();
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    req.once("close", stop).once("end", stop);
  });
}

/** Whether the client is still sending a body that will not be read to its end. */
const isSending = ({ complete, headers, httpVersionMajor }: IncomingMessage): boolean =>
  !complete && httpVersionMajor === 1 && !(Number(headers["content-length"]) <= MOST_DROPPED);

// ── the response ──

async function send(response: Response, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (res.destroyed) return void response.body?.cancel();
  const { "set-cookie": _, ...headers } = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  const head = {
    ...headers,
    ...(cookies.length > 0 && { "set-cookie": cookies }),
    ...(waiting.has(req) && { connection: "close" }), // it is unknown whether the client still sends a body
  };
  if (response.status >= 400 && isSending(req)) return sendAndClose(response, head, { req, res });
  res.writeHead(response.status, head);
  if (response.body === null || req.method === "HEAD") {
    await response.body?.cancel();
    res.end();
    return;
  }
  await pipe(response.body, res);
}

/**
 * Sends an error response and closes the connection. The response has a Content-Length, so the client need not wait
 * until the connection is closed.
 */
async function sendAndClose(
  response: Response,
  head: Record<string, string | string[]>,
  { req, res }: Pick<Exchange, "req" | "res">,
): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  res.writeHead(response.status, { ...head, connection: "close", "content-length": body.length });
  res.write(req.method === "HEAD" ? "" : body);
  await dropRest(req);
  res.end();
}

async function pipe(body: ReadableStream<Uint8Array>, res: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const gone = new AbortController();
  // a part that is ready before this callback shares a packet with the headers; a second packet takes 0.3 ms
  const late = setImmediate(() => res.flushHeaders());
  const leave = (): void => {
    gone.abort();
    void reader.cancel().catch(() => {});
  };
  res.once("close", leave);
  reader.closed.catch(() => res.destroy()); // the body may fail while the client reads nothing
  try {
    for (;;) {
      const { done, value } = await reader.read();
      clearImmediate(late);
      if (res.destroyed) return;
      if (done) break;
      if (!res.write(value)) await once(res, "drain", { signal: gone.signal });
    }
    res.off("close", leave);
    res.end();
  } catch (error) {
    // the body failed; the caller closes the connection, because otherwise the response would look complete
    if (!gone.signal.aborted) throw error;
  }
}
