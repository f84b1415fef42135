/**
 * The mount in the HTTP interface: host names, credentials, limits and the audit apply as with every route, and to each
 * call.
 */

import { expect, onTestFinished, test } from "vitest";
import { memoryAuditStore, type AuditRecord } from "../../src/auth/audit-store.ts";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import type { Engine } from "../../src/engine.ts";
import { createHandler, type Handler } from "../../src/http/handler.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { openEngine } from "../http/engine.ts";
import type { HandlerOptions } from "../../src/http/options.ts";
import { TOOLS } from "../../src/mcp/server.ts";
import { bearer, FIXTURES, startService, type Service } from "../http/service.ts";
import { makeClone } from "../http/git-clone.ts";
import { callTool, connected, type ToolAnswer } from "./connected.ts";

const PATH = "/api/mcp";

/** Returns a client that sends a key with each request. */
const clientAs = (handler: Handler, secret: string, era = "2026") =>
  connected(
    (request) => {
      request.headers.set("authorization", `Bearer ${secret}`);
      return handler(request);
    },
    { era, path: PATH },
  );

// ── the audit ──

async function recorded(
  era: string,
  ask: (call: (name: string, args: object) => Promise<ToolAnswer>) => Promise<unknown>,
): Promise<{ records: AuditRecord[]; service: Service }> {
  const audits = memoryAuditStore();
  const service = await startService({ audits, mcp: true });
  const client = await clientAs(service.handler, service.keys.ada, era);
  await ask((name, args) => callTool(client, name, { ...args }));
  const { records } = await audits.list({ skip: 0, limit: 50 });
  return { records: records.reverse(), service };
}

const BY_ADA = { actorId: "ada", actorType: "api_key" };
const OPEN = { targetId: "acme/open", targetType: "repository" };

const RECORDED: [tool: string, args: object, record: object | undefined][] = [
  [
    "search",
    { query: "needle" },
    {
      action: "search.performed",
      targetId: "",
      targetType: "service",
      metadata: { tool: "search", query: "needle", files: 7, complete: true },
    },
  ],
  [
    "search",
    { query: "needle", repository: "acme/open" },
    { action: "search.performed", ...OPEN, metadata: { files: 4 } },
  ],
  [
    "find_files",
    { query: "plan" },
    { action: "search.performed", metadata: { tool: "find_files", query: "plan", files: 1 } },
  ],
  [
    "outline",
    { path: "acme/open:src/a.ts" },
    { action: "search.performed", metadata: { tool: "outline", path: "acme/open:src/a.ts" } },
  ],
  [
    "definitions",
    { symbol: "needle" },
    { action: "search.performed", metadata: { tool: "definitions", symbol: "needle" } },
  ],
  [
    "references",
    { symbol: "needle" },
    { action: "search.performed", metadata: { tool: "references", symbol: "needle" } },
  ],
  [
    "read",
    { file: "README.md", repository: "acme/open" },
    { action: "file.read", ...OPEN, metadata: { tool: "read", file: "README.md", shown: 3 } },
  ],
  [
    "tree",
    { repository: "acme/open" },
    { action: "folder.read", ...OPEN, metadata: { tool: "tree" } },
  ],
  ["repositories", {}, undefined],
];

test.each(["2025", "2026"].flatMap((era) => RECORDED.map((row) => [era, ...row] as const)))(
  "era %s: %s %j is recorded with who asked",
  async (era, tool, args, expected) => {
    const { records, service } = await recorded(era, (call) => call(tool, args));
    expect(records.length).toBe(expected ? 1 : 0);
    if (!expected) return;
    expect(records[0]).toMatchObject({ ...BY_ADA, ...expected });
    expect(records[0]!.metadata).toHaveProperty("durationMs");
    for (const secret of Object.values(service.keys))
      expect(JSON.stringify(records)).not.toContain(secret);
  },
);

test("history is recorded", async () => {
  const engine = await openEngine([]);
  await engine.index(git(makeClone({ "a.ts": "needle" }).folder, { name: "acme/cloned" }));
  const audits = memoryAuditStore();
  const service = await startService({ audits, mcp: true }, engine);
  const client = await clientAs(service.handler, service.keys.bob);
  const { isError } = await callTool(client, "history", {});
  expect(isError).toBe(false);
  const { records } = await audits.list({ skip: 0, limit: 5 });
  expect(records).toMatchObject([{ actorId: "bob", action: "history.read" }]);
});

test("every tool has a row", () => {
  const rows = new Set([...RECORDED.map(([tool]) => tool), "history"]);
  expect([...rows].sort()).toEqual(TOOLS.map(({ name }) => name).sort());
});

test("a call with a cursor is recorded with the original request", async () => {
  const lines = Array.from({ length: 300 }, (_, i) => `const needle${i} = ${i};\n`).join("");
  const engine = await openEngine([{ name: "acme/long", files: { "a.ts": lines } }]);
  const audits = memoryAuditStore();
  const { handler, keys } = await startService({ audits, mcp: true }, engine);
  const client = await clientAs(handler, keys.ada);
  const first = await callTool(client, "search", { query: "needle", maxTokens: 200 });
  const second = await callTool(client, "search", { cursor: first.facts.cursor });
  expect(second.isError).toBe(false);
  const { records } = await audits.list({ skip: 0, limit: 9 });
  const metadata = { tool: "search", query: "needle", matches: 300 };
  expect(records).toMatchObject([{ metadata }, { metadata }]);
  expect(JSON.stringify(records)).not.toContain(first.facts.cursor);
});

test("files by address and completed paths are recorded, but completed names and errors are not", async () => {
  const audits = memoryAuditStore();
  const service = await startService({ audits, mcp: true });
  const client = await clientAs(service.handler, service.keys.ada);
  const ref = { type: "ref/resource", uri: "quern://{repository}@{revision}/{+path}" } as const;
  const { contents } = await client.readResource({ uri: "quern://acme%2Fopen@HEAD/README.md" });
  expect(contents[0]).toMatchObject({ text: "# Open\n\nneedle in the open" });
  const context = { arguments: { repository: "acme/open" } };
  const path = await client.complete({ ref, argument: { name: "path", value: "src/d" }, context });
  expect(path.completion.values.toSorted()).toEqual(["src/deep/b.ts", "src/deep/c.c"]);
  await client.complete({ ref, argument: { name: "repository", value: "acme" } });
  expect((await callTool(client, "search", { query: "a or or b" })).isError).toBe(true);
  const { records } = await audits.list({ skip: 0, limit: 9 });
  expect(records.reverse()).toMatchObject([
    { ...BY_ADA, ...OPEN, action: "file.read", metadata: { tool: "resource", file: "README.md" } },
    { ...BY_ADA, ...OPEN, action: "search.performed", metadata: { tool: "complete_path" } },
  ]);
});

test("a wrong key is recorded, events name the caller, and the use of a key is noted", async () => {
  const audits = memoryAuditStore();
  const tokens = memoryTokenStore();
  const service = await startService({ audits, tokens, mcp: true });
  const wrong = new Request(`http://host${PATH}`, { method: "POST", headers: bearer("qrn_wrong") });
  expect((await service.handler(wrong)).status).toBe(401);
  const { records } = await audits.list({ skip: 0, limit: 5 });
  expect(records).toMatchObject([{ action: "credential.rejected", metadata: { path: PATH } }]);
  const client = await clientAs(service.handler, service.keys.ada);
  await callTool(client, "search", { query: "needle" });
  const done = service.events.filter(({ action }) => action === "mcp");
  expect(done[0]).toMatchObject({ outcome: "denied", status: 401 });
  expect(done.at(-1)).toMatchObject({ outcome: "ok", userId: "ada", tokenId: expect.any(String) });
  const used: (Date | null | undefined)[] = [];
  for await (const { lastUsedAt } of tokens.list("ada")) used.push(lastUsedAt);
  expect(used.filter(Boolean)).toHaveLength(1);
});

// ── limits and viewers, call by call ──

/** Returns one request with this many calls, as clients of 2025 may send it. */
const batch = (count: number, secret: string): Request => {
  const calls = Array.from({ length: count }, (_, id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "search", arguments: { query: "needle" } },
  }));
  const accept = "application/json, text/event-stream";
  return new Request(`http://host${PATH}`, {
    method: "POST",
    headers: { ...bearer(secret), accept, "content-type": "application/json" },
    body: JSON.stringify(calls),
  });
};

test("each call of a request takes a slot, and frees it", async () => {
  const { handler, keys } = await startService({ mcp: true, maxConcurrent: 2, maxWaiting: 0 });
  for (let round = 0; round < 2; round++) {
    const response = await handler(batch(20, keys.ada));
    const text = await response.text();
    expect(text.match(/matches in 7 files/g)).toHaveLength(2);
    expect(text.match(/too busy or closing down; try again in a moment/g)).toHaveLength(18);
  }
});

/** Returns an engine that calls `run` within the first search. */
function within(engine: Engine, run: () => void): Engine {
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "search") return typeof value === "function" ? value.bind(target) : value;
      return async (...args: Parameters<Engine["search"]>) => {
        const response = await target.search(...args);
        run();
        return response;
      };
    },
  });
}

test.each(["2025", "2026"])(
  "era %s: who sees less by the time of the answer gets none",
  async (era) => {
    const engine = await openEngine(FIXTURES);
    let hide = () => {};
    const audits = memoryAuditStore();
    const service = await startService(
      { mcp: true, audits },
      within(engine, () => hide()),
    );
    const client = await clientAs(service.handler, service.keys.ada, era);
    hide = () => service.visible.set("ada", new Set([service.ids["acme/open"]!]));
    const first = await callTool(client, "search", { query: "ours" });
    expect(first).toMatchObject({
      isError: true,
      text: expect.stringMatching(/send the request again$/),
    });
    expect(first.text).not.toContain("secret");
    const again = await callTool(client, "search", { query: "ours" });
    expect(again.text).toMatch(/^# Nothing found/);
    const { records } = await audits.list({ skip: 0, limit: 5 });
    expect(records.at(-1)).toMatchObject({ metadata: { refused: "INSUFFICIENT_PERMISSIONS" } });
  },
);

// ── names ──

const NAMES: [options: Partial<HandlerOptions>, url: string, headers: object, status: number][] = [
  [{}, "http://localhost", {}, 400],
  [{}, "http://127.0.0.1:3000", {}, 400],
  [{}, "http://[::1]:3000", {}, 400],
  [{}, "http://code.example.com", {}, 403],
  [{ mcp: { allowedHosts: ["code.example.com"] } }, "http://code.example.com:3000", {}, 400],
  [{ mcp: { allowedHosts: ["code.example.com"] } }, "http://evil.example.com", {}, 403],
  [{ mcp: { allowedHosts: ["code.example.com"] } }, "http://localhost", {}, 400],
  [{ mcp: { allowedHosts: ["*"] } }, "http://any.example.com", {}, 400],
  [{ publicUrl: "https://code.example.com/x" }, "http://code.example.com", {}, 400],
  [{}, "http://localhost", { origin: "https://evil.example.com" }, 403],
  [{}, "http://localhost", { origin: "null" }, 403],
  [{}, "http://localhost", { origin: "http://localhost" }, 400],
  [
    { cors: { origins: ["https://a.example"] } },
    "http://localhost",
    { origin: "https://a.example" },
    400,
  ],
  [
    { mcp: { allowedOrigins: ["https://a.example"] } },
    "http://localhost",
    { origin: "https://a.example" },
    400,
  ],
  [
    { mcp: { allowedOrigins: ["https://a.example"] } },
    "http://localhost",
    { origin: "https://b.example" },
    403,
  ],
];

// requests that are allowed have no content, so they are answered with 400
test.each(NAMES)("%j: %s with %j answers %i", async (options, url, headers, status) => {
  const { engine } = await startService();
  const handler = createHandler(engine, { anonymous: "all", mcp: true, ...options });
  const type = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const init = { method: "POST", headers: { ...type, ...headers }, body: "{}" };
  const response = await handler(new Request(url + PATH, init));
  expect(response.status).toBe(status);
  if (status === 403)
    expect(await response.json()).toMatchObject({ errorCode: "INSUFFICIENT_PERMISSIONS" });
});

test.each<[HandlerOptions["mcp"], number]>([
  [true, 400],
  [{ allowedHosts: ["other.example.com"] }, 403],
  [{ allowedHosts: ["code.example.com"] }, 400],
])("a caller with a key, using its own name, with %j gets %i", async (mcp, status) => {
  const { handler, keys } = await startService({ mcp: mcp! });
  const type = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const headers = { ...bearer(keys.ada), ...type };
  const init = { method: "POST", headers, body: "{}" };
  expect((await handler(new Request(`http://code.example.com${PATH}`, init))).status).toBe(status);
});

test.each<[object, string]>([
  [{ mcp: "yes" }, "mcp must be true, false or an object"],
  [{ mcp: { hosts: [] } }, "createHandler: mcp"],
  [{ mcp: { allowedHosts: "a" } }, "mcp.allowedHosts must be an array of non-empty strings"],
  [{ mcp: { allowedOrigins: [""] } }, "mcp.allowedOrigins must be an array of non-empty strings"],
])("%j is rejected", async (options, words) => {
  const engine = await openEngine([]);
  expect(() => createHandler(engine, { anonymous: "all", ...options } as HandlerOptions)).toThrow(
    words,
  );
});

test("the answer to a browser permits pages of allowed origins", async () => {
  const engine = await openEngine([]);
  const cors = { origins: ["https://a.example"] };
  const handler = createHandler(engine, { anonymous: "all", mcp: true, cors });
  const headers = {
    origin: "https://a.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type, mcp-protocol-version, mcp-method",
  };
  const response = await handler(
    new Request(`http://localhost${PATH}`, { method: "OPTIONS", headers }),
  );
  expect(response.status).toBe(204);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    allow: "POST, OPTIONS",
    "access-control-allow-origin": "https://a.example",
    "access-control-allow-headers": expect.stringContaining("mcp-method"),
  });
});

// ── both eras ──

test.each(["2025", "2026"])("era %s: every tool answers over the mount", async (era) => {
  const { handler, keys } = await startService({ mcp: true });
  const client = await clientAs(handler, keys.ada, era);
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  for (const one of tools) {
    expect(one.annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
    expect(one.title).toMatch(/\w/);
    expect(one.name).toMatch(/^[a-z_]+$/);
    expect(one.outputSchema).toBeDefined();
  }
  for (const [tool, args] of RECORDED)
    expect(await callTool(client, tool, { ...args })).toMatchObject({ isError: false });
});
