/** Who is admitted and who is not, that nobody can tell why, and that revocation takes effect at once. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lmdbTokenStore, lmdbUserStore } from "../../src/auth/lmdb-stores.ts";
import { createApiKey, hashSecret } from "../../src/auth/secrets.ts";
import type { Principal } from "../../src/auth/principal.ts";
import { createHandler } from "../../src/http/handler.ts";
import type { HandlerOptions } from "../../src/http/options.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "./engine.ts";
import {
  bearer,
  clientOf,
  FIXTURES,
  mint,
  NOW,
  person,
  post,
  startService,
  type Service,
} from "./service.ts";

const engine = await openEngine(FIXTURES);
const start = (options: Partial<HandlerOptions> = {}) => startService(options, engine);
const needle = { query: "needle", matches: 100 };
const search = (service: Service, headers: Record<string, string>) =>
  clientOf(service.handler)("/api/search", post(needle, headers));

interface Found {
  files: { repository: string }[];
  stats: { totalMatchCount: number };
}
async function seenBy(service: Service, headers: Record<string, string>): Promise<string[]> {
  const { files } = (await (await search(service, headers)).json()) as Found;
  return [...new Set(files.map(({ repository }) => repository))].sort();
}

// ── forms of a credential ──

type Headers_ = (service: Service) => Record<string, string> | Promise<Record<string, string>>;

const GOOD: Record<string, Headers_> = {
  bearer: ({ keys }) => bearer(keys.ada),
  "the scheme in another case": ({ keys }) => ({ authorization: `bEARER ${keys.ada}` }),
  "several blanks": ({ keys }) => ({ authorization: `Bearer   ${keys.ada}` }),
  "the key's own header": ({ keys }) => ({ "x-quern-api-key": keys.ada }),
  "both, equal": ({ keys }) => ({ ...bearer(keys.ada), "x-quern-api-key": keys.ada }),
  "a scoped token in the key's header": async (service) => ({
    "x-quern-api-key": (await mint(service, service.keys.ada, [service.ids["acme/open"]!])).token,
  }),
};

test.each(Object.entries(GOOD))("accepted: %s", async (_name, headers) => {
  const service = await start();
  expect((await search(service, await headers(service))).status).toBe(200);
});

const key = async (service: Service, options: { ownerId?: string; expiresAt?: Date } = {}) =>
  createApiKey(service.tokens, { ownerId: "ada", ...options });

const BAD: Record<string, Headers_> = {
  "an unknown key": () => bearer(`qrn_${"0".repeat(64)}`),
  "an unknown scoped token": () => bearer(`qst_${"0".repeat(64)}`),
  "an expired key": async (service) =>
    bearer((await key(service, { expiresAt: new Date(Date.now() - 1) })).secret),
  "a revoked key": async (service) => {
    const { id, secret } = await key(service);
    await service.tokens.revoke(id, NOW);
    return bearer(secret);
  },
  "a key of nobody": async (service) => bearer((await key(service, { ownerId: "nobody" })).secret),
  "a key of a suspended user": async (service) => {
    await service.users.put(person("ada", { suspendedAt: NOW }));
    return bearer(service.keys.ada);
  },
  "a scoped token of a suspended user": async (service) => {
    const { token } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
    await service.users.put(person("ada", { suspendedAt: NOW }));
    return bearer(token);
  },
  "a revoked scoped token": async (service) => {
    const { id, token } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
    const headers = bearer(service.keys.ada);
    await clientOf(service.handler)(`/api/ee/scoped_access_token/${id}`, {
      method: "DELETE",
      headers,
    });
    return bearer(token);
  },
  "a scoped token whose key was revoked": async (service) => {
    const { id, secret } = await key(service);
    const { token } = await mint(service, secret, [service.ids["acme/open"]!]);
    await service.tokens.revoke(id, NOW);
    return bearer(token);
  },
  "an expired scoped token": async (service) => {
    const { tokens, users } = service;
    const handler = createHandler(engine, { tokens, users, scopedTokenTtlMs: 1 });
    const { token } = await mint({ ...service, handler }, service.keys.ada, []);
    await new Promise((done) => setTimeout(done, 5));
    return bearer(token);
  },
  "a scoped token that says it is a key": async (service) =>
    bearer(
      (await mint(service, service.keys.ada, [service.ids["acme/open"]!])).token.replace(
        "qst_",
        "qrn_",
      ),
    ),
  "a key that says it is a scoped token": ({ keys }) => bearer(keys.ada.replace("qrn_", "qst_")),
  "the record's hash": ({ keys }) => bearer(`qrn_${hashSecret(keys.ada)}`),
  "the record's id": async (service) => bearer((await key(service)).id),
  "a key too short": ({ keys }) => bearer(keys.ada.slice(0, -1)),
  "a key too long": ({ keys }) => bearer(`${keys.ada}0`),
  "a key in capitals": ({ keys }) => bearer(keys.ada.toUpperCase()),
  "a key without its prefix": ({ keys }) => bearer(keys.ada.slice(4)),
  "no token": () => ({ authorization: "Bearer" }),
  "an empty header": () => ({ authorization: "" }),
  "an empty key header": () => ({ "x-quern-api-key": "" }),
  "another scheme": ({ keys }) => ({ authorization: `Basic ${btoa(`ada:${keys.ada}`)}` }),
  "no scheme": ({ keys }) => ({ authorization: keys.ada }),
  "two tokens": ({ keys }) => bearer(`${keys.ada}, ${keys.ada}`),
  "a good token and a bad key": ({ keys }) => ({ ...bearer(keys.ada), "x-quern-api-key": "x" }),
  "a bad token and a good key": ({ keys }) => ({ ...bearer("x"), "x-quern-api-key": keys.ada }),
  "two good ones that differ": ({ keys }) => ({
    ...bearer(keys.ada),
    "x-quern-api-key": keys.ada2,
  }),
  "another scheme together with a good key": ({ keys }) => ({
    authorization: "Basic eDp5",
    "x-quern-api-key": keys.ada,
  }),
};

test.each(Object.entries(BAD))(
  "rejected, and never treated as anonymous: %s",
  async (_name, headers) => {
    const answers = [];
    for (const anonymous of [false, "public", "all"] as const) {
      const service = await start({ anonymous });
      const shown = await headers(service);
      const response = await search(service, shown);
      answers.push([response.status, await response.text(), [...response.headers]]);
      for (const path of ["/api/repos", "/api/ee/users", "/api/health", "/api/version"])
        expect((await clientOf(service.handler)(path, { headers: shown })).status, path).toBe(401);
    }
    const body = JSON.stringify({
      statusCode: 401,
      errorCode: "NOT_AUTHENTICATED",
      message: "a valid credential is required",
    });
    const headersOut = [
      ["cache-control", "no-store"],
      ["content-type", "application/json"],
      ["www-authenticate", "Bearer"],
      ["x-content-type-options", "nosniff"],
    ];
    expect(answers).toEqual(Array(3).fill([401, body, headersOut]));
  },
);

test.each<["public" | "all" | false, string[] | undefined]>([
  [false, undefined],
  ["public", ["acme/open"]],
  ["all", ["acme/open", "acme/other", "acme/secret"]],
])("anonymous: %s", async (anonymous, want) => {
  const service = await start({ anonymous });
  const response = await search(service, {});
  expect(response.status).toBe(want === undefined ? 401 : 200);
  if (want !== undefined) expect(await seenBy(service, {})).toEqual(want);
  for (const init of [{ headers: {} }, post({ repoIds: [1] })]) {
    const path = "method" in init ? "/api/ee/scoped_access_token" : "/api/ee/users";
    expect((await clientOf(service.handler)(path, init)).status, path).toBe(401);
  }
});

test("authentication comes before the body", async () => {
  const service = await start();
  let read = 0;
  const body = new ReadableStream({ pull: () => void read++ }, { highWaterMark: 0 });
  const init = { method: "POST", body, duplex: "half", headers: bearer("qrn_no") } as RequestInit;
  for (const path of ["/api/search", "/api/ee/scoped_access_token"])
    expect((await clientOf(service.handler)(path, { ...init, body })).status, path).toBe(401);
  expect(read).toBe(0);
});

// ── scope ──

test("a scoped token sees those of its repositories that its creator sees now", async () => {
  const service = await start();
  const { ids, visible, keys } = service;
  const [open, secret, other] = [ids["acme/open"]!, ids["acme/secret"]!, ids["acme/other"]!];
  const token = bearer((await mint(service, keys.ada, [open, secret])).token);
  expect(await seenBy(service, token)).toEqual(["acme/open", "acme/secret"]);
  visible.set("ada", new Set([secret, other]));
  expect(await seenBy(service, token)).toEqual(["acme/secret"]);
  expect(await seenBy(service, bearer(keys.ada))).toEqual(["acme/other", "acme/secret"]);
  visible.set("ada", new Set());
  expect(await seenBy(service, token)).toEqual([]);
  visible.delete("ada");
  expect(await seenBy(service, token)).toEqual(["acme/open", "acme/secret"]);
});

test("a removed repository leaves a token's scope, and a later one does not enter it", async () => {
  const own = await openEngine(FIXTURES);
  const service = await startService({}, own);
  const [open, secret] = [service.ids["acme/open"]!, service.ids["acme/secret"]!];
  const token = bearer((await mint(service, service.keys.ada, [open, secret])).token);
  await own.remove("acme/secret");
  expect(await seenBy(service, token)).toEqual(["acme/open"]);
  for (const name of ["acme/secret", "acme/new"])
    await own.index(documents({ name, files: [{ path: "a", content: "needle" }] }));
  expect(await seenBy(service, token)).toEqual(["acme/open"]);
  await own.close();
});

test("minting fails as a whole, and does not distinguish hidden repositories from missing ones", async () => {
  const service = await start();
  const [open, secret] = [service.ids["acme/open"]!, service.ids["acme/secret"]!];
  service.visible.set("ada", new Set([open]));
  const before = await count(service);
  const answers = new Set<string>();
  for (const repoIds of [[secret], [open, secret], [secret, open], [999], [open, 999]]) {
    const init = post({ repoIds }, bearer(service.keys.ada));
    const response = await clientOf(service.handler)("/api/ee/scoped_access_token", init);
    answers.add(`${response.status} ${await response.text()}`);
  }
  expect([...answers]).toEqual([expect.stringMatching(/^400 .*INVALID_REPOSITORY_SCOPE/)]);
  expect(await count(service)).toBe(before);
});

async function count({ tokens }: Service): Promise<number> {
  let records = 0;
  for await (const _ of tokens.list("ada")) records++;
  return records;
}

test("unknown, foreign, invalid and revoked ids, and ids of keys, get the same 404", async () => {
  const service = await start();
  const { id } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
  const other = await mint(service, service.keys.bob, [service.ids["acme/open"]!]);
  const { id: keyId } = await key(service);
  const revoke = async (tokenId: string) => {
    const init = { method: "DELETE", headers: bearer(service.keys.ada) };
    const response = await clientOf(service.handler)(
      `/api/ee/scoped_access_token/${tokenId}`,
      init,
    );
    return `${response.status} ${await response.text()}`;
  };
  expect(await revoke(id)).toBe("204 ");
  const answers = new Set<string>();
  for (const tokenId of [
    id,
    other.id,
    keyId,
    "x",
    "%00",
    "%ff",
    "%2e%2e%2f",
    "a%2fb",
    "x".repeat(5000),
  ])
    answers.add(await revoke(tokenId));
  expect([...answers]).toEqual([expect.stringMatching(/^404 .*SCOPED_ACCESS_TOKEN_NOT_FOUND/)]);
  expect((await search(service, bearer(other.token))).status).toBe(200);
  expect((await search(service, bearer((await key(service)).secret))).status).toBe(200);
});

test("a scoped token ends with the key that minted it", async () => {
  const service = await start();
  const expiresAt = new Date(Date.now() + 60_000);
  const { secret } = await key(service, { expiresAt });
  expect((await mint(service, secret, [service.ids["acme/open"]!])).expiresAt).toBe(
    expiresAt.toISOString(),
  );
});

// ── hosts' own credentials ──

const session = (fields: Partial<Principal> = {}): Principal => ({
  kind: "session",
  user: person("zoe", { role: "OWNER" }),
  repositoryIds: "all",
  ...fields,
});

test.each<[string, () => Promise<Principal | undefined>, [number, number, number]]>([
  ["an owner's session", async () => session(), [200, 200, 403]],
  [
    "a session without a user",
    async () => ({ kind: "session", repositoryIds: "all" }),
    [200, 403, 403],
  ],
  [
    "a suspended user's",
    async () => session({ user: person("z", { suspendedAt: NOW }) }),
    [401, 401, 401],
  ],
  ["one that throws", () => Promise.reject(new Error("bad cookie")), [401, 401, 401]],
  ["not mine", async () => undefined, [401, 401, 401]],
  ["anonymous", async () => ({ kind: "anonymous", repositoryIds: "all" }), [401, 401, 401]],
  ["a key of the host's own", async () => session({ kind: "api-key" }), [200, 200, 403]],
])("authenticate: %s", async (_name, authenticate, [searches, lists, mints]) => {
  const service = await start({ authenticate });
  const client = clientOf(service.handler);
  expect((await search(service, {})).status).toBe(searches);
  expect((await client("/api/ee/users")).status).toBe(lists);
  const init = post({ repoIds: [1] });
  expect((await client("/api/ee/scoped_access_token", init)).status).toBe(mints);
});

test("authenticate runs first, and its result is used", async () => {
  const { ids } = await start();
  const repositoryIds = new Set([ids["acme/other"]!]);
  const service = await start({ authenticate: async () => session({ repositoryIds }) });
  expect(await seenBy(service, bearer(service.keys.ada))).toEqual(["acme/other"]);
  const open = await start({ authenticate: async () => session({ repositoryIds: "public" }) });
  expect(await seenBy(open, {})).toEqual(["acme/open"]);
});

// ── on the disk and in logs ──

test("a secret occurs nowhere on the disk, in the log, or in any answer except the first", async () => {
  const path = mkdtempSync(join(tmpdir(), "quern-secrets-"));
  try {
    await using tokens = lmdbTokenStore(path);
    await using users = lmdbUserStore(path);
    const service = await start({ tokens, users });
    const minted = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
    const secrets = [...Object.values(service.keys), minted.token];
    let said = "";
    for (const secret of secrets)
      for (const [url, init] of [
        ["/api/search", post({ ...needle, query: "file:(" }, bearer(secret))],
        ["/api/search", post(needle, bearer(secret))],
        ["/api/ee/users", { headers: bearer(secret) }],
        ["/api/search", post(needle, bearer(`${secret}0`))],
      ] as const)
        said += await (await clientOf(service.handler)(url, init)).text();
    said += JSON.stringify(service.events);
    await new Promise((done) => setTimeout(done, 50)); // lastUsedAt is written later
    const files = readdirSync(path).map((name) => readFileSync(join(path, name)));
    for (const secret of secrets) {
      const body = secret.slice(4);
      for (const form of [body, Buffer.from(body, "hex"), Buffer.from(body, "utf16le")])
        expect(files.some((bytes) => bytes.includes(form))).toBe(false);
      expect(said).not.toContain(body);
    }
    expect(files.some((bytes) => bytes.includes(hashSecret(service.keys.ada)))).toBe(true);
    expect(service.events.length).toBeGreaterThan(10);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});

test("a token's last use is recorded, at most once a minute", async () => {
  const service = await start();
  const touched: string[] = [];
  const touch = async (id: string, at: Date) => {
    touched.push(id);
    await service.tokens.touch?.(id, at);
  };
  const handler = createHandler(engine, {
    users: service.users,
    tokens: { ...service.tokens, touch },
  });
  for (let n = 0; n < 3; n++)
    expect((await search({ ...service, handler }, bearer(service.keys.ada))).status).toBe(200);
  expect(touched.length).toBe(1);
});

test("what the log receives", async () => {
  const service = await start();
  await search(service, bearer(service.keys.ada));
  await search(service, bearer("qrn_no"));
  await clientOf(service.handler)("/api/ee/users", { headers: bearer(service.keys.ada) });
  await clientOf(service.handler)("/api/health");
  const shown = service.events.map(({ action, outcome, status, userId }) => [
    action,
    outcome,
    status,
    userId,
  ]);
  expect(shown).toEqual([
    ["search", "ok", 200, "ada"],
    ["search", "denied", 401, undefined],
    ["listUsers", "denied", 403, "ada"],
  ]);
});
