/** Serves scoped tokens, metrics, and facts about the service. */

import { mintScopedToken } from "../auth/principal.ts";
import type { TokenStore } from "../auth/token-store.ts";
import { coreOf } from "../core-of.ts";
import { METRICS_TYPE } from "../metrics/metrics-text.ts";
import { forbidden, type Access } from "./gate.ts";
import { jsonResponse } from "./json-body.ts";
import type { Metrics } from "./metrics.ts";
import { Refusal } from "./refusal.ts";
import { plain, withBody, type Call, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { VERSION } from "../base/version.ts";

const TOKEN_PATH = "/api/ee/scoped_access_token";
const TOKEN_TAG = "Scoped Access Tokens";

export function tokenRoutes(tokens: TokenStore): Route[] {
  const common = { tag: TOKEN_TAG, access: "api-key", changes: true } as const;
  return [
    withBody(
      {
        ...common,
        method: "post",
        path: TOKEN_PATH,
        action: "mintScopedAccessToken",
        audit: "token.minted",
        summary: "Mint a token for some repositories",
        description: "Requires that the owner of the API key may see all of them.",
        body: schemas.mintRequest,
        answers: { status: 201, description: "The token", schema: schemas.mintResponse },
        refusals: ["INVALID_REPOSITORY_SCOPE"],
      },
      (call, { repoIds }) => mint(call, tokens, repoIds),
    ),
    plain(
      {
        ...common,
        method: "delete",
        path: `${TOKEN_PATH}/{id}`,
        action: "revokeScopedAccessToken",
        audit: "token.revoked",
        summary: "Revoke a token",
        description: "Takes effect immediately, also for running searches.",
        params: schemas.tokenPath,
        answers: { status: 204, description: "The token is revoked" },
        refusals: ["SCOPED_ACCESS_TOKEN_NOT_FOUND"],
      },
      (call) => revoke(call, tokens),
    ),
  ];
}

async function mint(call: Call, tokens: TokenStore, repoIds: number[]): Promise<Response> {
  const { token: minter } = call.caller.identity;
  if (minter === undefined) throw forbidden("an API key of this service is required");
  for (const id of new Set(repoIds))
    if ((await coreOf(call.engine).repositories.find(id, call.caller.viewer)) === undefined)
      throw new Refusal(
        "INVALID_REPOSITORY_SCOPE",
        "every id must belong to a repository that the API key's owner may see",
      );
  const { settings } = call;
  const { record, secret } = await mintScopedToken(tokens, minter, {
    repositoryIds: repoIds,
    ttlMs: settings.scopedTokenTtlMs,
    secrets: settings.secrets,
  });
  call.note({ id: record.id });
  const body = {
    id: record.id,
    token: secret,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt.toISOString(),
    repoIds: record.repositoryIds,
  };
  return jsonResponse(body, { status: 201 });
}

/**
 * Revokes a token. The refusal is the same if the id is unknown, belongs to another owner or to an API key, or
 * belongs to a revoked token.
 */
async function revoke(call: Call, tokens: TokenStore): Promise<Response> {
  call.note({ id: call.id });
  const { principal, token: key } = call.caller.identity;
  const ownerId = key?.ownerId ?? principal.user?.id;
  const token = await tokens.get(call.id);
  const isTheirs = token?.kind === "scoped" && ownerId !== undefined && token.ownerId === ownerId;
  if (!isTheirs || !(await tokens.revoke(call.id, new Date())))
    throw new Refusal("SCOPED_ACCESS_TOKEN_NOT_FOUND", "there is no such token");
  return new Response(null, { status: 204 });
}

export function metricsRoutes(metrics: Metrics, who: "owners" | "anyone"): Route[] {
  const access: Access = who === "owners" ? "owner" : "anyone";
  return [
    plain(
      {
        method: "get",
        path: "/api/metrics",
        action: "readMetrics",
        tag: "System",
        access,
        summary: "Read metrics, in the text format of Prometheus",
        answers: {
          status: 200,
          description: "Counters since the start of the service, and sizes now",
          schema: schemas.metricsText,
          contentType: METRICS_TYPE,
        },
      },
      async () => new Response(await metrics.text(), { headers: { "Content-Type": METRICS_TYPE } }),
    ),
  ];
}

/**
 * Returns the routes for facts about the service. `document` returns the OpenAPI document of all routes, including
 * these.
 */
export function systemRoutes(document: () => object): Route[] {
  const common = { method: "get", tag: "System", access: "anyone" } as const;
  return [
    plain(
      {
        ...common,
        path: "/api/version",
        action: "readVersion",
        summary: "Read the version of the service",
        answers: { status: 200, description: "The version", schema: schemas.versionResponse },
      },
      async () => jsonResponse({ version: VERSION }),
    ),
    plain(
      {
        ...common,
        path: "/api/health",
        action: "readHealth",
        summary: "Check that the service answers",
        answers: {
          status: 200,
          description: "The service answers",
          schema: schemas.healthResponse,
        },
      },
      async () => jsonResponse({ status: "ok" }),
    ),
    plain(
      {
        ...common,
        path: "/api/models",
        action: "listModels",
        access: "search",
        summary: "List language models; this service has none",
        answers: { status: 200, description: "An empty list", schema: schemas.modelList },
      },
      async () => jsonResponse([]),
    ),
    plain(
      {
        ...common,
        path: "/api/openapi.json",
        action: "readInterface",
        summary: "Read this document",
        answers: { status: 200, description: "OpenAPI 3.1", schema: schemas.openApiDocument },
      },
      async () => jsonResponse(document()),
    ),
  ];
}
