/**
 * Serves the Model Context Protocol over HTTP, with a function that takes a Request and returns a Response. Clients
 * may use older and newer revisions of the protocol. Between two requests of a client, only cursors are kept.
 */

import { createMcpHandler as serve, type McpServer } from "@modelcontextprotocol/server";
import { holdRequest, JoinedSignal } from "../base/joined-signal.ts";
import { QuernError } from "../base/errors.ts";
import { beyondJsonShape } from "../base/json-shape.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import { isOwnName } from "../base/own-names.ts";
import { readBytes } from "../base/read-bytes.ts";
import { newPause } from "../base/yield.ts";
import type { Engine } from "../engine.ts";
import type { Viewer } from "../search/messages/request.ts";
import type { CountTokens } from "./answer.ts";
import { tokenBound } from "./token-bound.ts";
import { Cursors } from "./cursors.ts";
import type { Guard } from "./guard.ts";
import { createServer } from "./server.ts";
import { BODY_BYTES, MOST_VALUES } from "./message-bounds.ts";
import { shownEngine, type Secrets } from "./secrets.ts";
import { Sessions } from "./sessions.ts";
import { checkShownSecrets, checkToolNames } from "./tool-names.ts";

/**
 * Options of createMcpHandler().
 *
 * @example
 * const options: McpOptions = { allowedHosts: ["code.example.com"] };
 * const handler = createMcpHandler(engine, options);
 */
export interface McpOptions {
  /**
   * Returns the repositories that a request may see, or `undefined` for all repositories. If the function throws, the
   * request is refused with status 401. Default: every request may see all repositories.
   */
  viewer?: (request: Request) => Viewer | undefined | Promise<Viewer | undefined>;
  /**
   * Returns the number of tokens of a text for the model that the host uses. Default: returns an upper bound, which
   * needs no tokenizer.
   */
  countTokens?: (text: string) => number;
  /**
   * Host names under which clients reach this server, without ports. '*' accepts any name. `localhost` and IP
   * addresses are always accepted. Default: no further names.
   */
  allowedHosts?: string[];
  /**
   * Origins whose web pages may send requests, such as 'https://example.com'. '*' accepts any origin. Pages of this
   * server itself are always accepted. Default: no further origins.
   */
  allowedOrigins?: string[];
  /**
   * The time-out of a search, in milliseconds. After that, the search answers with what it has found. Default 10 000.
   */
  timeoutMs?: number;
  /**
   * Names of tools that agents do not get, such as 'history'. Without 'read', files are not offered as resources,
   * either. Default: none.
   */
  withoutTools?: string[];
  /**
   * Whether agents see files and values that look like secrets. If they are hidden, such a file does not exist in any
   * answer or count, and such a value is masked and cannot be searched. Default 'hide', but 'show' for clusters and for
   * engines whose methods a host has replaced, which cannot hide them.
   */
  secrets?: "hide" | "show";
}

const OPTIONS: KeysOf<McpOptions> = {
  viewer: true,
  countTokens: true,
  allowedHosts: true,
  allowedOrigins: true,
  timeoutMs: true,
  withoutTools: true,
  secrets: true,
};
const TIMEOUT_MS = 10_000;

/**
 * Creates a handler that offers quern's tools to coding agents. It serves the streamable HTTP transport of the Model
 * Context Protocol.
 *
 * @example
 * const handler = createMcpHandler(engine, { allowedHosts: ["code.example.com"] });
 * const { status } = await handler(new Request("http://localhost/mcp", { method: "POST" }));
 */
export function createMcpHandler(
  engine: Engine,
  options: McpOptions = {},
): (request: Request) => Promise<Response> {
  checkKeys({ call: "createMcpHandler", what: "option" }, options, OPTIONS);
  const {
    countTokens: count = tokenBound,
    timeoutMs = TIMEOUT_MS,
    allowedHosts = [],
    allowedOrigins = [],
    withoutTools = [],
    secrets,
  } = options;
  checkShownSecrets("createMcpHandler: secrets", secrets);
  checkToolNames("createMcpHandler: withoutTools", withoutTools);
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1)
    throw new QuernError(
      "INVALID_REQUEST",
      `createMcpHandler: timeoutMs must be a whole number of 1 or more, got ${timeoutMs}`,
    );
  const serveAs = createHandlerFor(engine, { timeoutMs, count, withoutTools, secrets });
  return async (request) => {
    const refusal = refuseHost(request, allowedHosts) ?? refuseOrigin(request, allowedOrigins);
    if (refusal) return refuse(403, refusal);
    let viewer: Viewer | undefined;
    try {
      viewer = await options.viewer?.(request);
    } catch {
      return refuse(401, "a valid credential is required");
    }
    return serveAs(request, { viewer });
  };
}

/** The viewer of a request that was admitted, and the guard that runs its calls. */
interface Admitted {
  readonly viewer: Viewer | undefined;
  readonly guard?: Guard;
}

/** The values that a request's server is made from. */
interface Serving extends Admitted {
  /** Aborts when the client no longer waits for the answer. */
  readonly left: AbortSignal;
}

/** Creates the function that answers requests after they have been admitted. */
export function createHandlerFor(
  given: Engine,
  limits: {
    readonly timeoutMs: number;
    readonly maxBodyBytes?: number;
    readonly count?: CountTokens;
    readonly withoutTools?: readonly string[] | undefined;
    readonly secrets?: Secrets | undefined;
  },
): (request: Request, admitted: Admitted) => Promise<Response> {
  const { timeoutMs, maxBodyBytes, count = tokenBound, withoutTools, secrets } = limits;
  const { engine, hidesSecrets } = shownEngine(given, secrets);
  const cursors = new Cursors();
  return serveEach(({ viewer, guard, left }) => {
    const fixed = { engine, viewer, timeoutMs, cursors, count, hidesSecrets, behind: () => [] };
    const contextOf = (call: AbortSignal) => ({
      ...fixed,
      signal: new JoinedSignal([call, left]).signal, // both end with the request, so nothing is disposed of
    });
    return createServer(contextOf, { guard, withoutTools, hidesSecrets });
  }, maxBodyBytes);
}

/** Creates the function that answers each request with a server of its own, which `create` returns. */
export function serveEach(
  create: (serving: Serving) => McpServer,
  maxBodyBytes = BODY_BYTES,
): (request: Request, admitted: Admitted) => Promise<Response> {
  const mostBytes = Math.min(maxBodyBytes, BODY_BYTES);
  const handler = serve(({ authInfo }) => create(authInfo!.extra as unknown as Serving), {
    maxRequestBodySize: Math.max(1, mostBytes),
  });
  const sessions = new Sessions();
  return async (request, admitted) => {
    holdRequest(request); // without it, an abort may be lost
    const given = await bounded(request, mostBytes);
    if (given instanceof Response) return given;
    const exchange = sessions.begin(given.request, given.message);
    const extra = { ...admitted, left: exchange.signal } satisfies Serving;
    return exchange.answer(
      await handler.fetch(given.request, { authInfo: { ...NO_TOKEN, extra } }),
    );
  };
}

interface Bounded {
  readonly request: Request;
  /** The parsed body. Undefined if there is no body, or it is not JSON. */
  readonly message: unknown;
}

/** Resolves to the request with a body of bounded size, or to a response that refuses it. */
async function bounded(request: Request, mostBytes: number): Promise<Bounded | Response> {
  if (request.body === null) return { request, message: undefined };
  const body = await readBytes(request, mostBytes);
  if (body === undefined) return refuse(413, `a body may have at most ${mostBytes} bytes`);
  const beyond = await beyondJsonShape(body, { pause: newPause(), ...MOST_VALUES });
  if (beyond !== undefined) return refuse(400, `the body exceeds a limit: ${beyond}`);
  const { url, method, headers, signal } = request;
  return {
    request: new Request(url, { method, headers, signal, body }),
    message: parsed(body),
  };
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined; // The protocol's own parser reports what is wrong.
  }
}

/**
 * The fields of a token that the MCP package requires. Their values are not used, because quern uses only the viewer.
 */
const NO_TOKEN = { token: "", clientId: "", scopes: [] };

function refuse(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }, { status });
}

/** If the request's host name is neither allowed nor a name of this machine, returns why the request is refused. */
export function refuseHost(request: Request, allowed: readonly string[]): string | undefined {
  const { hostname: name } = new URL(request.url);
  if (isOwnName(name) || allowed.includes("*") || allowed.includes(name)) return undefined;
  return `this server does not answer under the name ${name}: add it to allowedHosts`;
}

export function refuseOrigin(request: Request, allowed: readonly string[]): string | undefined {
  const origin = request.headers.get("origin");
  if (origin === null || allowed.includes("*") || allowed.includes(origin)) return undefined;
  if (URL.canParse(origin) && new URL(origin).host === new URL(request.url).host) return undefined;
  return `pages of ${origin.slice(0, 200)} may not call this server: add their origin to allowedOrigins`;
}
