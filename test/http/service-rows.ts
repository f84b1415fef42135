/** Scoped tokens, users, the service itself, and addresses that do not exist. */

import { expect } from "vitest";
import { asks, gets, needle, type Row } from "./rows.ts";
import { bearer, mint, post } from "./service.ts";

const minting = ["post", "/api/ee/scoped_access_token"] as [string, string];
const revoking = ["delete", "/api/ee/scoped_access_token/{id}"] as [string, string];
const metrics = ["get", "/api/metrics"] as [string, string];
const users = ["get", "/api/ee/users"] as [string, string];

export const SERVICE_ROWS: Row[] = [
  // ── scoped tokens ──
  {
    name: "minting",
    operation: minting,
    request: ({ keys, ids }) => [
      "/api/ee/scoped_access_token",
      post({ repoIds: [ids["acme/open"], ids["acme/open"]] }, bearer(keys.ada)),
    ],
    status: 201,
    check: (
      body: { token: string; createdAt: string; expiresAt: string; repoIds: number[] },
      _headers,
      { ids },
    ) => {
      expect(body.token).toMatch(/^qst_[0-9a-f]{64}$/);
      expect(body.repoIds).toEqual([ids["acme/open"]]);
      expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(3_600_000);
    },
  },
  {
    name: "minting for an unknown repository",
    operation: minting,
    request: asks("/api/ee/scoped_access_token", { repoIds: [4_000_000] }),
    status: 400,
    code: "INVALID_REPOSITORY_SCOPE",
  },
  ...[{ repoIds: [] }, { repoIds: [1], ttl: 60 }, { repoIds: "all" }, {}].map((body): Row => ({
    name: `minting with ${JSON.stringify(body)}`,
    operation: minting,
    request: asks("/api/ee/scoped_access_token", body),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: ({ message }: { message: string }) => expect(message).toMatch(/repoIds|"ttl"/),
  })),
  {
    name: "minting under another content type",
    operation: minting,
    request: ({ keys }) => [
      "/api/ee/scoped_access_token",
      post({ repoIds: [] }, { ...bearer(keys.ada), "Content-Type": "text/plain" }),
    ],
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    name: "minting with a scoped token",
    operation: minting,
    request: async (service) => {
      const { token } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
      return ["/api/ee/scoped_access_token", post({ repoIds: [] }, bearer(token))];
    },
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "revoking with another key of the same owner",
    operation: revoking,
    request: async (service) => {
      const { id } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
      const headers = bearer(service.keys.ada2);
      return [`/api/ee/scoped_access_token/${id}`, { method: "DELETE", headers }];
    },
    status: 204,
  },
  {
    name: "revoking another's",
    operation: revoking,
    request: async (service) => {
      const { id } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
      const headers = bearer(service.keys.owner);
      return [`/api/ee/scoped_access_token/${id}`, { method: "DELETE", headers }];
    },
    status: 404,
    code: "SCOPED_ACCESS_TOKEN_NOT_FOUND",
  },
  {
    name: "revoking with a scoped token",
    operation: revoking,
    request: async (service) => {
      const { id, token } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
      return [`/api/ee/scoped_access_token/${id}`, { method: "DELETE", headers: bearer(token) }];
    },
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "revoking under another content type",
    operation: revoking,
    request: async (service) => {
      const { id } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
      const headers = { ...bearer(service.keys.ada), "Content-Type": "text/plain" };
      return [`/api/ee/scoped_access_token/${id}`, { method: "DELETE", headers }];
    },
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    name: "revoking without a credential",
    operation: revoking,
    request: () => ["/api/ee/scoped_access_token/x", { method: "DELETE" }],
    status: 401,
    code: "NOT_AUTHENTICATED",
  },

  // ── users ──
  {
    name: "users, for an owner",
    operation: users,
    request: gets("/api/ee/users", "owner"),
    status: 200,
    check: (body: { id: string; lastActivityAt: null }[]) => {
      expect(body.map(({ id }) => id)).toEqual(["ada", "bob", "owner"]);
      expect(body[0]).toHaveProperty("lastActivityAt", null);
    },
  },
  {
    name: "users, for a member",
    operation: users,
    request: gets("/api/ee/users"),
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "users, for an owner's scoped token",
    operation: users,
    request: async (service) => {
      const { token } = await mint(service, service.keys.owner, [service.ids["acme/open"]!]);
      return ["/api/ee/users", { headers: bearer(token) }];
    },
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "users, for nobody",
    operation: users,
    request: () => ["/api/ee/users"],
    status: 401,
    code: "NOT_AUTHENTICATED",
  },

  // ── metrics ──
  {
    name: "metrics, for an owner",
    operation: metrics,
    request: gets("/api/metrics", "owner"),
    status: 200,
    check: (text: string) =>
      expect(text).toMatch(/^# HELP quern_info .*\n# TYPE quern_info gauge\n/),
  },
  {
    name: "metrics, for a member",
    operation: metrics,
    request: gets("/api/metrics"),
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "metrics, for an owner's scoped token",
    operation: metrics,
    request: async (service) => {
      const { token } = await mint(service, service.keys.owner, [service.ids["acme/open"]!]);
      return ["/api/metrics", { headers: bearer(token) }];
    },
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "metrics, for nobody",
    operation: metrics,
    request: () => ["/api/metrics"],
    status: 401,
    code: "NOT_AUTHENTICATED",
  },

  // ── the service ──
  {
    name: "version",
    operation: ["get", "/api/version"],
    request: () => ["/api/version"],
    status: 200,
    check: (body: { version: string }) => expect(body.version).toMatch(/^\d+\.\d+\.\d+/),
  },
  {
    name: "health",
    operation: ["get", "/api/health"],
    request: () => ["/api/health"],
    status: 200,
    check: (body: object) => expect(body).toEqual({ status: "ok" }),
  },
  {
    name: "health, with a credential that is not good",
    operation: ["get", "/api/health"],
    request: () => ["/api/health", { headers: bearer("qrn_nope") }],
    status: 401,
    code: "NOT_AUTHENTICATED",
  },
  {
    name: "the document",
    operation: ["get", "/api/openapi.json"],
    request: () => ["/api/openapi.json"],
    status: 200,
    check: (body: { info: object }) => expect(body.info).toHaveProperty("version", "v5.1.7"),
  },
  {
    name: "another method",
    request: gets("/api/search"),
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    check: (_: unknown, headers) => expect(headers.get("allow")).toBe("POST, OPTIONS"),
  },
  {
    name: "what a path takes",
    request: () => ["/api/repos", { method: "OPTIONS" }],
    status: 204,
    check: (_: unknown, headers) => expect(headers.get("allow")).toBe("GET, HEAD, OPTIONS"),
  },
  {
    name: "the head of an answer",
    request: ({ keys }) => ["/api/repos", { method: "HEAD", headers: bearer(keys.ada) }],
    status: 200,
    check: (text: string, headers) => {
      expect(text).toBe("");
      expect(headers.get("x-total-count")).toBe("3");
    },
  },
  ...[
    "/",
    "/api",
    "/api/",
    "/api/nope",
    "/api/search/",
    "/API/search",
    "/api/search/x",
    "//api/search",
  ].map((path): Row => ({
    name: `nothing at ${path}`,
    request: asks(path, needle),
    status: 404,
    code: "NOT_FOUND",
  })),
];
