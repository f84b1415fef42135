import { expect, test } from "vitest";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import { memoryUserStore } from "../../src/auth/user-store.ts";
import { createApiKey } from "../../src/auth/secrets.ts";
import { createHandler } from "../../src/http/handler.ts";
import type { HandlerOptions } from "../../src/http/options.ts";
import { openEngine } from "./engine.ts";
import { bearer, clientOf, FIXTURES, post, startService } from "./service.ts";

const engine = await openEngine(FIXTURES);
const tokens = memoryTokenStore();
const search = post({ query: "needle", matches: 1 });

test.each<[string, HandlerOptions]>([
  ["no caller could search", {}],
  ["no caller could search with users alone", { users: memoryUserStore() }],
  ["anonymous", { tokens, anonymous: "some" as "all" }],
  ["basePath", { tokens, basePath: "code" }],
  ["basePath", { tokens, basePath: "/a//b" }],
  ["basePath", { tokens, basePath: "/:id" }],
  ["serviceName", { tokens, serviceName: "a b" }],
  ["serviceName", { tokens, serviceName: "" }],
  ["tokenPrefixes", { tokens, tokenPrefixes: { apiKey: "x", scoped: "x" } }],
  ["tokenPrefixes", { tokens, tokenPrefixes: { apiKey: "a b", scoped: "x" } }],
  ["hmacKey", { tokens, hmacKey: "" }],
  ["maxMatches", { tokens, maxMatches: -1 }],
  ["maxConcurrent", { tokens, maxConcurrent: 0 }],
  ["timeoutMs", { tokens, timeoutMs: Number.NaN }],
  ["scopedTokenTtlMs", { tokens, scopedTokenTtlMs: 1.5 }],
  ["anonymous?", { tokens, anonymus: "all" } as HandlerOptions],
  ["metrics", { tokens, metrics: true as unknown as "owners" }],
  ["origins?", { tokens, cors: { origin: ["*"] } as never }],
  ["cors.origins", { tokens, cors: {} as never }],
  ['not "foo"', { tokens, cors: { origins: ["https://a.example", "foo"] } }],
  ['not "https://a.example/"', { tokens, cors: { origins: ["https://a.example/"] } }],
  ["scoped?", { tokens, tokenPrefixes: { apiKey: "x", scopd: "y" } as never }],
])("%s is rejected: %j", (word, options) => {
  const refusal = expect.objectContaining({
    code: "INVALID_REQUEST",
    message: expect.stringContaining(word.split(" ")[0]!),
  });
  expect(() => createHandler(engine, options)).toThrow(refusal);
});

test("without stores, their routes do not exist", async () => {
  const client = clientOf(createHandler(engine, { anonymous: "all" }));
  expect((await client("/api/search", search)).status).toBe(200);
  const mint = await client("/api/ee/scoped_access_token", post({ repoIds: [] }));
  expect([mint.status, (await client("/api/ee/users")).status]).toEqual([404, 404]);
  const document = await (await client("/api/openapi.json")).text();
  expect(document).not.toContain("/api/ee/");
  expect((await client("/api/search", post({}, bearer("qrn_" + "0".repeat(64))))).status).toBe(401);
});

test("a misspelt option of an API key is rejected", async () => {
  const options = { ownerId: "ada", expiresat: new Date(0) };
  await expect(createApiKey(tokens, options)).rejects.toThrow(
    expect.objectContaining({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("expiresAt?"),
    }),
  );
});

test("without a store of users, a key sees everything", async () => {
  const { secret } = await createApiKey(tokens, { ownerId: "ada" });
  const client = clientOf(createHandler(engine, { tokens }));
  const response = await client("/api/repos", { headers: bearer(secret) });
  expect(response.headers.get("x-total-count")).toBe("3");
});

test("clients of another service keep working with basePath, serviceName, tokenPrefixes and hmacKey", async () => {
  const tokenPrefixes = { apiKey: "acme-", scoped: "acme-oat-" };
  const { handler, tokens } = await startService({
    basePath: "/code/",
    serviceName: "Acme",
    tokenPrefixes,
    hmacKey: "pepper",
  });
  const client = clientOf(handler);
  const options = { ownerId: "ada", prefix: "acme-", hmacKey: "pepper" };
  const { secret } = await createApiKey(tokens, options);
  const headers = { "X-Acme-Api-Key": secret };
  expect((await client("/code/api/repos", { headers })).status).toBe(200);
  expect((await client("/api/repos", { headers })).status).toBe(404);
  expect((await client("/codex/api/repos", { headers })).status).toBe(404);
  expect((await client("/code/api/repos", { headers: { "X-Quern-Api-Key": secret } })).status).toBe(
    401,
  );
  const minted = await client("/code/api/ee/scoped_access_token", post({ repoIds: [1] }, headers));
  const { token } = (await minted.json()) as { token: string };
  expect(token).toMatch(/^acme-oat-[0-9a-f]{64}$/);
  expect((await client("/code/api/repos", { headers: bearer(token) })).status).toBe(200);
  const { secret: plain } = await createApiKey(tokens, { ownerId: "ada", prefix: "acme-" });
  expect((await client("/code/api/repos", { headers: bearer(plain) })).status).toBe(401);
});

test("maxBodyBytes is the largest size that is read", async () => {
  const { handler, keys } = await startService({ maxBodyBytes: 100 });
  const client = clientOf(handler);
  const bodyOf = (bytes: number) => JSON.stringify({ query: "a", matches: 1 }).padEnd(bytes, " ");
  expect((await client("/api/search", post(bodyOf(100), bearer(keys.ada)))).status).toBe(200);
  expect((await client("/api/search", post(bodyOf(101), bearer(keys.ada)))).status).toBe(413);
});

test.each<[string, string[] | undefined, string | null, string | null]>([
  ["https://a.example", ["https://a.example"], "https://a.example", "Origin"],
  ["https://a.example", ["*"], "https://a.example", "Origin"],
  ["https://b.example", ["https://a.example"], null, "Origin"],
  ["https://a.example.evil", ["https://a.example"], null, "Origin"],
  ["null", ["https://a.example"], null, "Origin"],
  ["https://a.example", undefined, null, null],
])("whether a page of %s may call if %j is allowed", async (origin, origins, allowed, vary) => {
  const { handler, keys } = await startService(origins ? { cors: { origins } } : {});
  const client = clientOf(handler);
  const preflight = await client("/api/search", {
    method: "OPTIONS",
    headers: {
      Origin: origin,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers":
        "authorization, X-Some-Service-Client-Source, mcp-session-id, cookie, x-other",
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe(allowed);
  expect(preflight.headers.get("access-control-allow-methods")).toBe(allowed && "POST, OPTIONS");
  expect(preflight.headers.get("access-control-allow-headers")).toBe(
    allowed &&
      "Authorization, Content-Type, X-Quern-Api-Key, x-some-service-client-source, mcp-session-id",
  );
  expect(preflight.headers.get("access-control-allow-credentials")).toBe(null);
  for (const headers of [{ Origin: origin }, { Origin: origin, ...bearer(keys.ada) }]) {
    const response = await client("/api/repos", { headers });
    expect(response.headers.get("access-control-allow-origin")).toBe(allowed);
    expect(response.headers.get("vary")).toBe(vary);
  }
});

test("a host's log function that throws does not affect the caller", async () => {
  const { handler, keys } = await startService({
    audit: () => {
      throw new Error("the log is full");
    },
  });
  expect((await clientOf(handler)("/api/repos", { headers: bearer(keys.ada) })).status).toBe(200);
});
