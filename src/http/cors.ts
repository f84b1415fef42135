/** Calls from pages of other origins. Credentials travel in headers, so cookies are never allowed along. */

import type { Settings } from "./options.ts";

const READABLE = "Link, Retry-After, X-Quern-Not-Indexed, X-Total-Count";
const MAX_AGE_S = 600;

/** To an OPTIONS request. The browser judges by the headers; to others it says what the path takes. */
export function answerPreflight(request: Request, settings: Settings, allow: string): Response {
  const headers = new Headers({ Allow: allow, "Cache-Control": "no-store" });
  if (isAllowed(request, settings) && request.headers.has("access-control-request-method")) {
    headers.set("Access-Control-Allow-Methods", allow);
    headers.set(
      "Access-Control-Allow-Headers",
      `Authorization, Content-Type, ${settings.apiKeyHeader}`,
    );
    headers.set("Access-Control-Max-Age", String(MAX_AGE_S));
  }
  return new Response(null, { status: 204, headers });
}

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
