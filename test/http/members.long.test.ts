/** What happens when members go, what is recorded, and where addresses lead. */

import { expect, onTestFinished, test } from "vitest";
import { memoryAuditStore, type AuditRecord } from "../../src/auth/audit-store.ts";
import { memoryUserStore } from "../../src/auth/user-store.ts";
import { createHandler } from "../../src/http/handler.ts";
import { openEngine } from "./engine.ts";
import { makeClone } from "./git-clone.ts";
import { needle } from "./rows.ts";
import { bearer, clientOf, mint, person, post, startService, type Service } from "./service.ts";

const removal = (userId: string, secret: string): [string, RequestInit] => [
  `/api/ee/user?userId=${userId}`,
  { method: "DELETE", headers: bearer(secret) },
];

const statusOf = async (service: Service, secret: string): Promise<number> =>
  (await clientOf(service.handler)("/api/repos", { headers: bearer(secret) })).status;

test("the keys and tokens of a removed member stop working immediately and for ever", async () => {
  const service = await startService();
  const { keys, users, handler } = service;
  const { token } = await mint(service, keys.ada, [service.ids["acme/open"]!]);
  expect([await statusOf(service, keys.ada), await statusOf(service, token)]).toEqual([200, 200]);
  const response = await clientOf(handler)(...removal("ada", keys.owner));
  expect(response.status).toBe(200);
  for (const secret of [keys.ada, keys.ada2, token])
    expect(await statusOf(service, secret)).toBe(401);
  await users.put(person("ada"));
  for (const secret of [keys.ada, keys.ada2, token])
    expect(await statusOf(service, secret)).toBe(401);
  expect(await statusOf(service, keys.bob)).toBe(200);
});

test("an owner may remove themselves while another owner is active", async () => {
  const service = await startService();
  const client = clientOf(service.handler);
  await service.users.put(person("second", { role: "OWNER", suspendedAt: new Date() }));
  expect((await client(...removal("owner", service.keys.owner))).status).toBe(403);
  await service.users.put(person("second", { role: "OWNER" }));
  expect((await client(...removal("owner", service.keys.owner))).status).toBe(200);
  expect((await client(...removal("second", service.keys.owner))).status).toBe(401);
});

test("if two owners remove each other at the same time, one of them stays", async () => {
  const service = await startService();
  await service.users.put(person("bob", { role: "OWNER" }));
  const client = clientOf(service.handler);
  const statuses = await Promise.all([
    client(...removal("bob", service.keys.owner)),
    client(...removal("owner", service.keys.bob)),
  ]).then((all) => all.map(({ status }) => status));
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 403]);
});

test("a store that cannot remove members answers 404", async () => {
  const users = memoryUserStore();
  delete users.remove;
  const service = await startService({ users });
  const response = await clientOf(service.handler)(...removal("ada", service.keys.owner));
  expect([response.status, await response.json()]).toMatchObject([404, { errorCode: "NOT_FOUND" }]);
});

// ── the audit ──

async function recordedAfter(
  ask: (service: Service) => Promise<Response>,
): Promise<{ records: AuditRecord[]; secrets: string }> {
  const audits = memoryAuditStore();
  const service = await startService({ audits, anonymous: "public" });
  const response = await ask(service);
  await response.text();
  const { records } = await audits.list({ skip: 0, limit: 10 });
  return { records, secrets: Object.values(service.keys).join("|") };
}

const asked = (path: string, init: (service: Service) => RequestInit) => (service: Service) =>
  clientOf(service.handler)(path, init(service));
const as = (who: "ada" | "owner") => (service: Service) => ({ headers: bearer(service.keys[who]) });

test.each<[string, (service: Service) => Promise<Response>, object | undefined]>([
  [
    "a search",
    asked("/api/search", ({ keys }) => post(needle, bearer(keys.ada))),
    {
      action: "search.performed",
      actorId: "ada",
      actorType: "api_key",
      targetType: "service",
      metadata: { query: "needle", matches: 100, fileCount: 7, isSearchExhaustive: true },
    },
  ],
  [
    "a stream",
    asked("/api/stream_search", ({ keys }) => post(needle, bearer(keys.ada))),
    {
      action: "search.performed",
      metadata: { query: "needle", fileCount: 7 },
    },
  ],
  [
    "a search of nobody",
    asked("/api/search", () => post(needle)),
    {
      action: "search.performed",
      actorId: "",
      actorType: "anonymous",
      metadata: { fileCount: 4 },
    },
  ],
  [
    "references",
    asked("/api/find_references", ({ keys }) =>
      post({ symbolName: "needle", repoName: "acme/open" }, bearer(keys.ada)),
    ),
    {
      action: "search.performed",
      targetId: "acme/open",
      targetType: "repository",
      metadata: { symbolName: "needle" },
    },
  ],
  [
    "a file",
    asked("/api/source?repo=acme/open&path=README.md", as("ada")),
    {
      action: "file.read",
      targetId: "acme/open",
      metadata: { path: "README.md" },
    },
  ],
  [
    "a folder",
    asked("/api/tree", ({ keys }) =>
      post({ repoName: "acme/open", revisionName: "HEAD", paths: ["src"] }, bearer(keys.ada)),
    ),
    { action: "folder.read", targetId: "acme/open", metadata: { paths: ["src"] } },
  ],
  [
    "a token",
    asked("/api/ee/scoped_access_token", ({ keys, ids }) =>
      post({ repoIds: [ids["acme/open"]] }, bearer(keys.ada)),
    ),
    { action: "token.minted", targetType: "scoped_access_token" },
  ],
  [
    "a member who goes",
    (service) => clientOf(service.handler)(...removal("bob", service.keys.owner)),
    {
      action: "user.removed",
      actorId: "owner",
      targetId: "bob",
      targetType: "user",
    },
  ],
  [
    "who may not remove",
    (service) => clientOf(service.handler)(...removal("bob", service.keys.ada)),
    {
      action: "user.removed",
      actorId: "ada",
      metadata: { refused: "INSUFFICIENT_PERMISSIONS" },
    },
  ],
  [
    "a credential that is not good",
    asked("/api/search", () => post(needle, bearer(`qrn_${"0".repeat(64)}`))),
    { action: "credential.rejected", actorId: "", metadata: { path: "/api/search" } },
  ],
  [
    "a query that does not parse",
    asked("/api/search", ({ keys }) => post({ query: "file:(", matches: 1 }, bearer(keys.ada))),
    undefined,
  ],
  ["health", asked("/api/health", () => ({})), undefined],
])("%s", async (_name, ask, want) => {
  const { records, secrets } = await recordedAfter(ask);
  expect(records.length).toBe(want === undefined ? 0 : 1);
  if (want !== undefined) expect(records[0]).toMatchObject(want);
  const text = JSON.stringify(records);
  expect(text).not.toMatch(new RegExp(`${secrets}|[0-9a-f]{64}`));
  expect(text).not.toContain("in the open"); // of what was found
});

test("requests for a history are recorded, with the requested file", async () => {
  const files = { "a.txt": "one\n" };
  const clone = { name: "acme/clone", files, gitFolder: makeClone(files).folder };
  const engine = await openEngine([clone]);
  onTestFinished(() => engine.close());
  const audits = memoryAuditStore();
  const handler = createHandler(engine, { anonymous: "all", audits });
  const paths = ["blame?path=a.txt&", "commits?path=a.txt&", "diff?base=HEAD&head=HEAD&"];
  for (const path of paths) await (await clientOf(handler)(`/api/${path}repo=acme/clone`)).text();
  const { records } = await audits.list({ skip: 0, limit: 10 });
  const told = records.map(({ action, targetId, metadata }) => [action, targetId, metadata]);
  expect(told).toMatchObject([
    ["history.read", "acme/clone", { base: "HEAD", head: "HEAD" }],
    ["history.read", "acme/clone", { path: "a.txt" }],
    ["history.read", "acme/clone", { path: "a.txt" }],
  ]);
});

test("a search whose answer is made while it is read is recorded at its end, with its counts", async () => {
  const line = `needle ${"x".repeat(300)}\n`;
  const file = (n: number) => [`${n}.txt`, line.repeat(1_000)] as const;
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, n) => file(n)));
  const engine = await openEngine([{ name: "acme/long", files }]);
  onTestFinished(() => engine.close());
  const audits = memoryAuditStore();
  const client = clientOf(createHandler(engine, { anonymous: "all", audits, maxMatches: 30_000 }));
  const recorded = async () => (await audits.list({ skip: 0, limit: 10 })).records;
  const response = await client("/api/search", post({ query: "needle", matches: 30_000 }));
  expect(await recorded()).toEqual([]);
  const { files: found } = (await response.json()) as { files: { webUrl: string }[] };
  expect(found.map(({ webUrl }) => webUrl.slice(0, 12))).toEqual(found.map(() => "http://host/"));
  const counts = { totalMatchCount: 20_000, fileCount: 20, isSearchExhaustive: true };
  expect(await recorded()).toMatchObject([{ action: "search.performed", metadata: counts }]);
  const left = await client("/api/search", post({ query: "needle", matches: 30_000 }));
  await left.body!.cancel();
  expect(await recorded()).toMatchObject([{ metadata: { query: "needle" } }, {}]);
});

test("a long request is truncated, and a store that fails is reported and does no harm", async () => {
  const { records } = await recordedAfter(
    asked("/api/search", ({ keys }) =>
      post({ query: `x ${"y".repeat(100_000)}`, matches: 1 }, bearer(keys.ada)),
    ),
  );
  expect(JSON.stringify(records).length).toBeLessThan(4_000);
  const audits = { ...memoryAuditStore(), append: async () => Promise.reject(new Error("full")) };
  const service = await startService({ audits });
  const response = await clientOf(service.handler)(
    "/api/search",
    post(needle, bearer(service.keys.ada)),
  );
  expect(response.status).toBe(200);
  await response.text();
  expect(service.events).toContainEqual(
    expect.objectContaining({ action: "recordAudit", outcome: "failed" }),
  );
});

// ── addresses ──

test.each<[string, object, string]>([
  ["the request's own origin", {}, "http://host/browse/acme/secret@HEAD/-/tree/"],
  [
    "publicUrl",
    { publicUrl: "https://code.example.com/" },
    "https://code.example.com/browse/acme/secret@HEAD/-/tree/",
  ],
  [
    "publicUrl with a path, and basePath",
    { publicUrl: "https://example.com/x", basePath: "/code" },
    "https://example.com/x/code/browse/acme/secret@HEAD/-/tree/",
  ],
])("addresses begin at %s", async (_name, options, webUrl) => {
  const { engine } = await startService();
  const client = clientOf(createHandler(engine, { anonymous: "all", ...options }));
  const base = "basePath" in options ? "/code" : "";
  const repos = await client(`${base}/api/repos?query=secret`);
  expect(await repos.json()).toMatchObject([{ repoName: "acme/secret", webUrl }]);
  const origin = webUrl.slice(0, webUrl.indexOf("/browse/"));
  const search = await client(`${base}/api/search`, post({ query: "ours", matches: 1 }));
  const stream = await client(`${base}/api/stream_search`, post({ query: "ours", matches: 1 }));
  const source = await client(`${base}/api/source?repo=acme/secret&path=plan.md`);
  for (const response of [search, stream, source])
    expect(await response.text()).toContain(
      `"webUrl":"${origin}/browse/acme/secret@HEAD/-/blob/plan.md"`,
    );
  const paged = await client(`${base}/api/repos?perPage=1`);
  expect(paged.headers.get("link")).toContain(`<${origin}/api/repos?perPage=1&page=2>; rel="next"`);
});

test.each(["code.example.com", "ftp://example.com", "https://a:b@example.com", "https://x/?y"])(
  "publicUrl: %s is refused",
  async (publicUrl) => {
    const { engine } = await startService();
    expect(() => createHandler(engine, { anonymous: "all", publicUrl })).toThrow(/publicUrl/);
  },
);

test("connections are shown only to callers who see one of their repositories", async () => {
  const service = await startService();
  service.visible.set("ada", new Set([service.ids["acme/other"]!]));
  const response = await clientOf(service.handler)("/api/connections", {
    headers: bearer(service.keys.ada),
  });
  expect(await response.json()).toEqual([]);
});
