/** Creates the OpenAPI 3.1 document from the routes and their schemas. */

import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import { IGNORED_HEADER } from "./field-names.ts";
import { GENERATION_HEADER } from "./generation.ts";
import type { Settings } from "./options.ts";
import { STATUS, type RefusalCode } from "./refusal.ts";
import type { Route } from "./route.ts";
import { errorBody, streamEvent } from "./schemas.ts";
import { VERSION } from "../base/version.ts";
import { INTERFACE_VERSION } from "./version.ts";

const TAGS: Readonly<Record<string, string>> = {
  "Search & Navigation": "Code search and symbol navigation.",
  Git: "Commits, differences, blame, and the folders and files of any revision.",
  Repositories: "Repositories, folders and files that can be searched.",
  Connections: "Where the repositories come from.",
  "Scoped Access Tokens": "Short-lived credentials for some repositories.",
  "Enterprise (EE)": "Members of the organization, and the audit log.",
  System: "Version, health and this document.",
};

const REASONS: Readonly<Record<RefusalCode, string>> = {
  INVALID_REQUEST_BODY:
    "the body is not JSON, or a field of the body or of the query string is missing, has the wrong type, or is out of range",
  FAILED_TO_PARSE_QUERY: "the query or a regular expression in it does not parse",
  INVALID_REPOSITORY_SCOPE: "a repository is unknown or not visible",
  INVALID_GIT_REF:
    "a revision is empty, begins with a dash, contains control characters, or does not exist",
  NOT_AUTHENTICATED: "a credential is missing or not valid",
  INSUFFICIENT_PERMISSIONS:
    "the credential does not allow this, or the host in the request is not accepted",
  NOT_FOUND: "there is nothing at this path",
  REPOSITORY_NOT_FOUND: "the repository does not exist or is not visible",
  FILE_NOT_FOUND: "the file does not exist",
  HISTORY_NOT_AVAILABLE: "the repository has no git history here",
  SEARCH_CONTEXT_NOT_FOUND: "the query names an unknown context",
  SCOPED_ACCESS_TOKEN_NOT_FOUND:
    "the token does not exist, belongs to another user, or was revoked",
  METHOD_NOT_ALLOWED:
    "the path does not support this method; the Allow header lists those it supports",
  REQUEST_TIMEOUT: "the request took too long to arrive",
  BODY_TOO_LARGE: "the body is too long",
  FILE_TOO_LARGE: "a file is larger than 16 MiB, or a difference is larger than 32 MiB",
  BINARY_FILE: "the file is binary",
  UNSUPPORTED_MEDIA_TYPE: "the content type is not JSON",
  EXPECTATION_FAILED: "the Expect header is not 100-continue",
  HEADERS_TOO_LARGE: "the path and the headers are too long",
  UNEXPECTED_ERROR: "an error inside the server",
  OVERLOADED: "too many searches are running; the Retry-After header contains the seconds to wait",
};

const STREAM_EVENT = { $ref: "#/components/schemas/StreamEvent" };

export function describeInterface(routes: readonly Route[], settings: Settings): object {
  const app = new OpenAPIHono();
  const { openAPIRegistry: registry } = app;
  registry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description:
      "An API key, a scoped access token, or another credential that this instance accepts.",
  });
  registry.registerComponent("securitySchemes", "apiKey", {
    type: "apiKey",
    in: "header",
    name: settings.apiKeyHeader,
  });
  const generation = registry.registerParameter("Generation", GENERATION);
  registry.register("StreamEvent", streamEvent); // only the items of a stream refer to it
  for (const route of routes) registry.registerPath(pathOf(route, generation));
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Code search",
      version: INTERFACE_VERSION,
      description: "Exact code search over indexed repositories.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: settings.basePath === "" ? "/" : settings.basePath }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    // the empty alternative is for instances that allow anonymous searches
    security: [{ bearer: [] }, { apiKey: [] }, {}],
  });
  return { ...document, "x-quern-version": VERSION };
}

const GENERATION = z
  .string()
  .optional()
  .openapi({
    param: { name: GENERATION_HEADER, in: "header" },
    description:
      "For an index on several machines: answer from this state or a newer one, given as shard=generation pairs with commas between. Only for callers who may search every repository.",
    example: "3=17",
  });

/** Whether a route reads the index. Such a route accepts a generation in a header. */
const readsIndex = ({ access }: Route): boolean => access === "search";

function pathOf(route: Route, generation: typeof GENERATION): RouteConfig {
  const { method, path, action, tag, summary, description, body, query, params } = route;
  return {
    method,
    path,
    operationId: action,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    request: {
      ...(body && { body: { required: true, content: { "application/json": { schema: body } } } }),
      ...(query && { query }),
      ...(readsIndex(route) && { headers: [generation] }),
      ...(params && { params }),
    },
    responses: { ...answersOf(route), ...refusalsOf(route) },
  };
}

function answersOf({ answers, body }: Route): RouteConfig["responses"] {
  const { status, description, schema, contentType = "application/json" } = answers;
  const headers = { ...answers.headers, ...(body && IGNORED_HEADER) };
  return {
    [status]: {
      description,
      ...(schema && { content: { [contentType]: contentOf(schema, contentType) } }),
      ...(Object.keys(headers).length > 0 && { headers: describeHeaders(headers) }),
    },
  };
}

/**
 * Describes the content of an answer. The schema of a stream is that of each of its events: JSON by the schema, and
 * `[DONE]` in the last one. OpenAPI 3.2 has the word `itemSchema` for it, which tools for 3.1 reject.
 */
function contentOf(schema: z.ZodType, contentType: string) {
  if (contentType !== "text/event-stream") return { schema };
  const json = { contentMediaType: "application/json", contentSchema: STREAM_EVENT };
  const data = { type: "string" as const, anyOf: [{ const: "[DONE]" }, json] };
  return { schema: { type: "object" as const, required: ["data"], properties: { data } } };
}

function describeHeaders(headers: Readonly<Record<string, string>>) {
  const entries = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: "string" as const } },
  ]);
  return Object.fromEntries(entries) as Record<
    string,
    { description: string; schema: { type: "string" } }
  >;
}

/**
 * Describes the error responses of a route. There is one for each status, and its description lists the error codes
 * with this status.
 */
function refusalsOf(route: Route): RouteConfig["responses"] {
  const reasons = new Map<number, string[]>();
  for (const code of possibleRefusals(route)) {
    const status = STATUS[code];
    reasons.set(status, [...(reasons.get(status) ?? []), `${code}: ${REASONS[code]}`]);
  }
  const content = { "application/json": { schema: errorBody } };
  return Object.fromEntries(
    [...reasons].map(([status, texts]) => [status, { description: texts.join("; "), content }]),
  );
}

function possibleRefusals(route: Route): RefusalCode[] {
  const { access, body, query, changes, refusals = [] } = route;
  return [
    ...(body || query || readsIndex(route) ? (["INVALID_REQUEST_BODY"] as const) : []),
    "NOT_AUTHENTICATED",
    // a stream whose caller loses permission has the error in an event, but `quern serve` refuses foreign names
    ...(access === "anyone" || access === "signed" ? [] : (["INSUFFICIENT_PERMISSIONS"] as const)),
    ...(body ? (["BODY_TOO_LARGE"] as const) : []),
    ...(changes ? (["UNSUPPORTED_MEDIA_TYPE"] as const) : []),
    ...refusals,
    "UNEXPECTED_ERROR",
    "OVERLOADED",
  ];
}
