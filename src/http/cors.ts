/**
 * Allows web pages of other origins to call this service. Clients send credentials in headers, so cookies are never
 * allowed.
 */

import type { Settings } from "./options.ts";

const READABLE =
  "Link, Mcp-Session-Id, Retry-After, X-Quern-Ignored-Fields, X-Quern-Not-Indexed, X-Total-Count";
const MAX_AGE_S = 600;

/**
 * Answers an OPTIONS request. A browser reads the Access-Control headers. Other clients read Allow, which lists the
 * methods of the path.
 */
export function answerPreflight(request: Request, settings: Settings, allow: string): Response {
  const headers = new Headers({ Allow: allow, "Cache-Control": "no-store" });
  if (isAllowed(request, settings) && request.headers.has("access-control-request-method")) {
    headers.set("Access-Control-Allow-Methods", allow);
    const sent = sentByClients(request.headers.get("access-control-request-headers") ?? "");
    const allowed = ["Authorization", "Content-Type", settings.apiKeyHeader, ...sent];
    headers.set("Access-Control-Allow-Headers", allowed.join(", "));
    headers.set("Access-Control-Max-Age", String(MAX_AGE_S));
  }
  return new Response(null, { status: 204, headers });
}

/**
 * Matches the additional headers that pages of other origins may send. These are the name of the client, and headers
 * of MCP.
 */
const CLIENT_HEADERS =
  /^(?:x-[a-z0-9-]{1,100}-client-source|accept|last-event-id|mcp-(?:method|name|protocol-version|session-id))$/;

const sentByClients = (requested: string): string[] =>
  requested
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => CLIENT_HEADERS.test(name));

export function withCors(response: Response, request: Request, settings: Settings): Response {
  if (settings.origins.size === 0) return response;
  response.headers.append("Vary", "Origin");
  if (!isAllowed(request, settings)) return response;
  response.headers.set("Access-Control-Allow-Origin", request.headers.get("origin") ?? "");
  response.headers.set("Access-Control-Expose-Headers", READABLE);
  return response;
}

function isAllowed(request: Request, { origins }: Settings): boolean {
  const origin = request.headers.get("origin");
  return origin !== null && (origins.has("*") || origins.has(origin));
}
