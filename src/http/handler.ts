/**
 * Implements createHandler(). A handler is a function from Request to Response, for every server that uses fetch's
 * types.
 *
 *     const handler = createHandler(engine, { tokens, users });
 *     http.createServer(toNodeListener(handler)).listen(3000);
 *
 * A handler never rejects. Every failure becomes a response with an error object.
 */

import { Hono, type Context } from "hono";
import { holdRequest } from "../base/joined-signal.ts";
import type { Identity } from "../auth/principal.ts";
import type { Engine } from "../engine.ts";
import { BROWSE_PATH, browseRoute } from "./browse.ts";
import { connectionRoutes } from "./connection-routes.ts";
import { answerPreflight, withCors } from "./cors.ts";
import type { Caller } from "./gate.ts";
import { jsonResponse } from "./json-body.ts";
import { fileRoutes } from "./file-routes.ts";
import { historyRoutes } from "./history-routes.ts";
import { auditRoutes, userRoutes } from "./member-routes.ts";
import { describeInterface } from "./openapi.ts";
import { checkOptions, type HandlerOptions, type Settings } from "./options.ts";
import { addMcp } from "./mcp.ts";
import { createMetrics } from "./metrics.ts";
import { addPage } from "./page.ts";
import { errorBody, Refusal, STATUS, toRefusal } from "./refusal.ts";
import { audit, record, touch, whoIs } from "./reporting.ts";
import { repositoryRoutes } from "./repository-routes.ts";
import { perform, type Route, type Service } from "./route.ts";
import { searchRoutes } from "./search-routes.ts";
import { metricsRoutes, systemRoutes, tokenRoutes } from "./service-routes.ts";
import { createSlots } from "./slots.ts";
import { symbolRoutes } from "./symbol-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

/**
 * The type of the function that createHandler() returns. It works with any server that uses fetch's types.
 *
 * @example
 * const handler: Handler = createHandler(engine, { anonymous: "all" });
 * const { status } = await handler(new Request("http://localhost/api/version"));
 */
export type Handler = (request: Request) => Promise<Response>;

/**
 * Creates the HTTP interface of an engine, as a function from Request to Response that never rejects. Throws
 * INVALID_REQUEST if an option is out of range, or if the options allow no caller to search.
 *
 * @example
 * const handler = createHandler(engine, { anonymous: "all" });
 * const body = JSON.stringify({ query: "todo", matches: 10 });
 * const response = await handler(new Request("http://localhost/api/search", { method: "POST", body }));
 */
export function createHandler(engine: Engine, options: HandlerOptions): Handler {
  const settings = checkOptions(options);
  const metrics = settings.metrics && createMetrics(engine);
  const slots = createSlots(settings);
  const service: Service = { engine, settings, slots, ...(metrics && { metrics }) };
  const app = new Hono();
  const paths = byPath(routesOf(service));
  for (const [path, routes] of paths) {
    const served = settings.basePath + path.replace(/\{\w+\}/, ":id");
    for (const route of routes)
      app.on(route.method.toUpperCase(), served, (context) => answer(route, service, context));
    app.all(served, (context) => refuseMethod(routes, settings, context.req.raw));
  }
  if (settings.mcp) addMcp(app, service, respond);
  if (settings.page) addPage(app, { ...settings, hasHistory: paths.has("/api/commits") });
  app.get(settings.basePath + BROWSE_PATH, (context) => answer(browseRoute, service, context));
  app.notFound(() => respond(new Refusal("NOT_FOUND", "there is nothing at this path")));
  app.onError((error) => respond(toRefusal(error)));
  return async (request) => {
    holdRequest(request); // without it, an abort may be lost
    const response = isLong(request) ? respond(tooLong()) : await app.fetch(request);
    return withCors(response, request, settings);
  };
}

/**
 * The maximum length of a URL in UTF-16 units. Node's server accepts up to 16 KiB for the URL and the headers
 * together, but other servers may accept more.
 */
const MOST_URL = 32 * 1024;
const isLong = ({ url }: Request): boolean => url.length > MOST_URL;
const tooLong = (): Refusal =>
  new Refusal("HEADERS_TOO_LARGE", `a URL may have at most ${MOST_URL} characters`);

function routesOf({ settings, metrics }: Service): Route[] {
  // created at the first request, because creating it takes as long as all other work here
  let document: object | undefined;
  const routes: Route[] = [
    ...searchRoutes(settings),
    ...symbolRoutes(settings),
    ...repositoryRoutes(),
    ...fileRoutes(),
    ...historyRoutes(),
    ...(settings.tokens ? tokenRoutes(settings.tokens) : []),
    ...(settings.users ? userRoutes(settings.users, settings.tokens) : []),
    ...(settings.audits ? auditRoutes(settings.audits) : []),
    ...connectionRoutes(),
    ...(settings.webhook ? webhookRoutes(settings.webhook) : []),
    ...(metrics && settings.metrics ? metricsRoutes(metrics, settings.metrics) : []),
    ...systemRoutes(() => (document ??= describeInterface(routes, settings))),
  ];
  return routes;
}

function byPath(routes: readonly Route[]): Map<string, Route[]> {
  const paths = new Map<string, Route[]>();
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  return paths;
}

async function answer(route: Route, service: Service, context: Context): Promise<Response> {
  const at = new Date();
  const { settings } = service;
  const request = context.req.raw;
  const noted: Record<string, unknown> = {};
  let identity: Identity | undefined;
  const tell = (status: number, refusal?: Refusal): void => {
    const isOpen = route.access === "anyone" || route.access === "signed";
    const quiet = isOpen && status < 400; // otherwise, health probes would fill the log
    service.metrics?.request(route.action, status);
    if (!quiet) audit(settings, { at, action: route.action, status, ...whoIs(identity) }, refusal);
  };
  const put = (refusal?: Refusal): void =>
    record(settings, { at, action: route.audit, request, identity, noted, refusal });
  const later = { isPutOff: false, hasLeft: false };
  const incoming = {
    request,
    note: (facts: object) => void Object.assign(noted, facts),
    recordLater: () => {
      later.isPutOff = true;
      // if the response is dropped before it is sent, the code after perform() makes the record
      return () => (later.hasLeft ? put() : void (later.isPutOff = false));
    },
    id: context.req.param("id") ?? "",
    onIdentity: (known: Identity) => void (identity = known),
    onCaller: (admitted: Caller) => touch(settings, admitted, at),
    onEnd: (refusal: Refusal | undefined) => {
      tell(refusal ? STATUS[refusal.code] : 200, refusal);
      put(refusal);
    },
  };
  try {
    const response = await perform(route, service, incoming);
    later.hasLeft = true;
    if (!route.streams) {
      tell(response.status);
      if (!later.isPutOff) put();
    }
    // the router drops the body of a response to HEAD, but does not cancel it
    if (context.req.method === "HEAD") await response.body?.cancel();
    return finish(response);
  } catch (error) {
    const refusal = toRefusal(error);
    tell(STATUS[refusal.code], refusal);
    put(refusal);
    return respond(refusal);
  }
}

function respond(refusal: Refusal): Response {
  const { headers, code } = refusal;
  return finish(jsonResponse(errorBody(refusal), { status: STATUS[code], headers }));
}

/**
 * Sets the headers that every response has. A response is only for its caller, so nobody may cache it, and browsers
 * must not guess its type.
 */
function finish(response: Response): Response {
  response.headers.set("Cache-Control", "no-store");
  response.headers.set("X-Content-Type-Options", "nosniff");
  return response;
}

function refuseMethod(routes: readonly Route[], settings: Settings, request: Request): Response {
  const methods = routes.flatMap(({ method }) => (method === "get" ? ["GET", "HEAD"] : [method]));
  const allow = [...methods, "options"].map((method) => method.toUpperCase()).join(", ");
  if (request.method === "OPTIONS") return answerPreflight(request, settings, allow);
  return respond(
    new Refusal("METHOD_NOT_ALLOWED", `this path allows only ${allow}`, {
      headers: { Allow: allow },
    }),
  );
}
