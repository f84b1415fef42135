/**
 * Adapts a fetch handler to `node:http`, and so to Express and Fastify. Bodies stream both ways with
 * back-pressure, and a client that leaves aborts `request.signal`.
 *
 *     app.use("/code", toNodeListener(handler));
 *
 * If a framework has parsed the body already (express.json()), the result is serialized again.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import type { Handler } from "./handler.ts";
import { noteOuterPath } from "./outer-path.ts";
import { jsonText } from "./json-text.ts";
import { errorBody, Refusal, STATUS, toRefusal } from "./refusal.ts";

/**
 * Adapts a handler to `node:http`, and so to Express and Fastify.
 *
 * @example
 * import { createServer } from "node:http";
 * createServer(toNodeListener(createHandler(engine, { anonymous: "all" }))).listen(3000);
 */
export function toNodeListener(
  handler: Handler,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const left = new AbortController();
    res.once("close", () => {
      if (!res.writableFinished) left.abort();
    });
    res.once("finish", () => dropRest(req));
    void serve(handler, req, res, left.signal).catch(() => res.destroy());
  };
}

async function serve(
  handler: Handler,
  req: IncomingMessage,
  res: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let response: Response;
  try {
    checkHost(req);
    const request = toRequest(req, signal);
    noteOuterPath(request, (req as { originalUrl?: string }).originalUrl);
    response = await handler(request);
  } catch (error) {
    response = refuse(error);
  }
  await send(response, req, res);
}

function refuse(error: unknown): Response {
  const refusal = toRefusal(error);
  const headers = { ...refusal.headers, "Content-Type": "application/json" };
  return new Response(jsonText(errorBody(refusal)), { status: STATUS[refusal.code], headers });
}

// ── the request ──

/**
 * Refuses HTTP/1.1 without a Host. `node:http` does so itself, without a body, unless it was made with
 * requireHostHeader: false.
 */
function checkHost({ httpVersion, headersDistinct }: IncomingMessage): void {
  if (httpVersion === "1.1" && headersDistinct["host"]?.length !== 1)
    throw new Refusal("INVALID_REQUEST_BODY", "a request of HTTP/1.1 has one Host header");
}

const UNSPEAKABLE = new Set(["CONNECT", "TRACE", "TRACK"]); // methods that fetch refuses

function toRequest(req: IncomingMessage & { body?: unknown }, signal: AbortSignal): Request {
  const { method: asked = "GET" } = req;
  const method = UNSPEAKABLE.has(asked) ? `X-${asked}` : asked; // no path accepts these methods: the router answers which ones it does
  const headers = toHeaders(req.rawHeaders);
  const init = { method, headers, signal };
  if (method === "GET" || method === "HEAD") return new Request(toUrl(req), init);
  return new Request(toUrl(req), { ...init, body: toBody(req), duplex: "half" } as RequestInit);
}

/**
 * Copies every header as often as it was sent, so that a single-valued header that is sent twice is not
 * accepted.
 */
function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let n = 0; n < raw.length; n += 2) {
    const [name = "", value = ""] = [raw[n], raw[n + 1]];
    if (!name.startsWith(":")) headers.append(name, value); // HTTP/2 carries method and path in pseudo-headers
  }
  return headers;
}

/**
 * Returns the URL. The client may choose only path and query: a Host of `x/api/health?`, or a whole URL in
 * place of the path, must not lead elsewhere. A strange Host is ignored.
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

function toBody(req: IncomingMessage & { body?: unknown }): NonNullable<RequestInit["body"]> {
  if (req.body === undefined || !req.readableDidRead) return toStream(req);
  const { body } = req;
  return typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function toStream(req: IncomingMessage): ReadableStream<Uint8Array> {
  let release = (): void => {};
  return new ReadableStream<Uint8Array>({
    start(controller) {
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
    pull: () => void req.resume(),
    cancel: () => (release(), void req.resume()),
  });
}

const LINGER_MS = 5_000;

/**
 * Reads on for a moment before it closes the connection, because a client that is still sending reads its
 * answer only afterwards.
 */
function dropRest(req: IncomingMessage): void {
  if (req.complete) return;
  req.removeAllListeners("data");
  req.resume();
  const timer = setTimeout(() => req.destroy(), LINGER_MS).unref();
  req.once("close", () => clearTimeout(timer)).once("end", () => clearTimeout(timer));
}

// ── the response ──

async function send(response: Response, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (res.destroyed) return void response.body?.cancel();
  const { "set-cookie": _, ...headers } = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  res.writeHead(response.status, {
    ...headers,
    ...(cookies.length > 0 && { "set-cookie": cookies }),
  });
  if (response.body === null || req.method === "HEAD") {
    await response.body?.cancel();
    res.end();
    return;
  }
  res.flushHeaders();
  await pipe(response.body, res);
}

async function pipe(body: ReadableStream<Uint8Array>, res: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const gone = new AbortController();
  const leave = (): void => {
    gone.abort();
    void reader.cancel().catch(() => {});
  };
  res.once("close", leave);
  reader.closed.catch(() => res.destroy()); // it may break off while the client takes nothing
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (res.destroyed) return;
      if (done) break;
      if (!res.write(value)) await once(res, "drain", { signal: gone.signal });
    }
    res.off("close", leave);
    res.end();
  } catch (error) {
    if (!gone.signal.aborted) throw error; // the body broke off: so does the connection, or it would look whole
  }
}
