/** The stores in PostgreSQL keep the contracts of all stores, and their errors say what is wrong with the database. */

import pg from "pg";
import { beforeAll, describe, expect } from "vitest";
import {
  migrateCluster,
  postgresAuditStore,
  postgresTokenStore,
  postgresUserStore,
  type PostgresPool,
} from "../../src/cluster/index.ts";
import {
  createApiKey,
  createHandler,
  memoryAuditStore,
  memoryUserStore,
} from "../../src/http/index.ts";
import { documents, open } from "../../src/index.ts";
import { auditStoreSuite, tokenStoreSuite, userStoreSuite } from "../../src/testing.ts";
import { chunkEvent, scriptedEngine } from "../http/scripted.ts";
import { person } from "../http/service.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { emptyDatabase, isThere, poolOn, postgresTest as test } from "./postgres.ts";

let database: string;
let pool: pg.Pool;
const place = { schema: 'quern "search"' };

beforeAll(async () => {
  if (!isThere) return;
  database = await emptyDatabase();
  pool = poolOn(database);
  await migrateCluster(pool);
  await migrateCluster(pool, place);
});

describe("postgresTokenStore", () =>
  tokenStoreSuite({ test }, async () => postgresTokenStore(pool)));
describe("postgresUserStore", () => userStoreSuite({ test }, async () => postgresUserStore(pool)));
describe("postgresAuditStore", () =>
  auditStoreSuite({ test }, async () => postgresAuditStore(pool)));

describe("in a schema of its own, over one connection", () => {
  let narrow: pg.Pool;
  beforeAll(() => void (isThere && (narrow = poolOn(database, { max: 1 }))));
  tokenStoreSuite({ test }, async () => postgresTokenStore(narrow, place));
  userStoreSuite({ test }, async () => postgresUserStore(narrow, place));
  auditStoreSuite({ test }, async () => postgresAuditStore(narrow, place));
});

describe("with a host's own parsers of types", () => {
  let odd: PostgresPool;
  beforeAll(() => {
    if (!isThere) return;
    const getTypeParser = (oid: number) =>
      oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid);
    odd = poolOn(database, { types: { getTypeParser } as pg.CustomTypesConfig });
  });
  tokenStoreSuite({ test }, async () => postgresTokenStore(odd));
  auditStoreSuite({ test }, async () => postgresAuditStore(odd));
});

test("two schemas of one database are independent", async () => {
  const [here, there] = [postgresTokenStore(pool), postgresTokenStore(pool, place)];
  const { id } = await createApiKey(here, { ownerId: "ada" });
  expect(await here.get(id)).toMatchObject({ id, ownerId: "ada" });
  expect(await there.get(id)).toBeUndefined();
});

test("only audit records that are too old are deleted", async () => {
  const own = poolOn(await emptyDatabase());
  await migrateCluster(own);
  const store = postgresAuditStore(own, { maxAgeMs: 3_600_000 });
  const fields = { action: "a", actorId: "", actorType: "anonymous", targetId: "", targetType: "" };
  const append = (id: string, minutesAgo: number) => {
    const timestamp = new Date(Date.now() - minutesAgo * 60_000);
    return store.append({ id, timestamp, ...fields, version: "1.0.0", metadata: {} });
  };
  for (let i = 0; i < 150; i++) await append(`old ${i}`, 90);
  for (const [id, age] of [
    ["young", 50],
    ["new", 0],
  ] as const)
    await append(id, age);
  const { records, total } = await store.list({ skip: 0, limit: 10 });
  expect([records.map(({ id }) => id), total]).toEqual([["new", "young"], 2]);
});

test("a key that one front revokes is rejected by the next call to another", async () => {
  using folder = temporaryFolder();
  await using engine = await open(folder.path, { workers: 0 });
  await engine.index(documents({ name: "shop", files: [{ path: "a.ts", content: "needle" }] }));
  const fronts = [pool, poolOn(database)].map((connections) => ({
    tokens: postgresTokenStore(connections),
    users: postgresUserStore(connections),
  }));
  const now = new Date();
  const ada = { id: "ada", name: null, email: "a@b.example", role: "OWNER" as const };
  const dates = { suspendedAt: null, createdAt: now, updatedAt: now, lastActivityAt: null };
  await fronts[0]!.users.put({ ...ada, ...dates });
  const { secret, id } = await createApiKey(fronts[0]!.tokens, { ownerId: "ada" });
  const handlers = fronts.map((stores) =>
    createHandler(engine, { ...stores, audits: memoryAuditStore() }),
  );
  const ask = async (handler: (request: Request) => Promise<Response>) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const body = JSON.stringify({ query: "needle", matches: 1 });
    return (await handler(new Request("http://x/api/search", { method: "POST", headers, body })))
      .status;
  };
  expect(await Promise.all(handlers.map(ask))).toEqual([200, 200]);
  await fronts[0]!.tokens.revoke(id, new Date());
  expect(await Promise.all(handlers.map(ask))).toEqual([401, 401]);
});

const REFUSED: readonly (readonly [string, () => unknown, string])[] = [
  ["maxAgeMs: 0", () => postgresAuditStore(pool, { maxAgeMs: 0 }), "integer of 1 or more, got 0"],
  ["maxAgeMs: 1.5", () => postgresAuditStore(pool, { maxAgeMs: 1.5 }), "got 1.5"],
  ["schema: ''", () => postgresTokenStore(pool, { schema: "" }), 'got ""'],
  ["schema with a NUL", () => postgresUserStore(pool, { schema: "a\0" }), 'got "a\\u0000"'],
];

test.each(REFUSED)("%s fails with INVALID_REQUEST", (_, make, words) => {
  expect(make).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
  expect(make).toThrow(words);
});

test("a running stream of one front ends when another front revokes its key", async () => {
  const fronts = [pool, poolOn(database)].map((connections) => postgresTokenStore(connections));
  const { secret, id } = await createApiKey(fronts[0]!, { ownerId: "ada" });
  const users = memoryUserStore();
  await users.put(person("ada"));
  let after = 0;
  async function* stream() {
    yield chunkEvent("first");
    await fronts[1]!.revoke(id, new Date());
    for (; after < 1000; after++) yield chunkEvent("later");
  }
  const handler = createHandler(scriptedEngine({ stream }), {
    tokens: fronts[0]!,
    users,
    audits: memoryAuditStore(),
  });
  const answer = await handler(
    new Request("http://x/api/stream_search", {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ query: "needle", matches: 100 }),
    }),
  );
  const text = await answer.text();
  expect(text).toContain("first");
  expect(text).not.toContain("later");
  expect(text).toContain("NOT_AUTHENTICATED");
  expect(after).toBe(0);
});
