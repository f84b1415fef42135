/** Each of quern's stores keeps its contract, and the suites that check this can fail. */

import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lmdbTokenStore, lmdbUserStore } from "../../src/auth/lmdb-stores.ts";
import { createApiKey } from "../../src/auth/secrets.ts";
import { memoryTokenStore, type TokenRecord, type TokenStore } from "../../src/auth/token-store.ts";
import { memoryUserStore, type User, type UserStore } from "../../src/auth/user-store.ts";
import { tokenStoreSuite, userStoreSuite } from "../../src/testing.ts";
import { bundledPrograms } from "../programs.ts";

const base = mkdtempSync(join(tmpdir(), "quern-stores-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let opened = 0;
const fresh = () => join(base, `store.${++opened}`); // a name with a dot is a directory, too

describe("memoryTokenStore", () => tokenStoreSuite({ test }, async () => memoryTokenStore()));
describe("memoryUserStore", () => userStoreSuite({ test }, async () => memoryUserStore()));
describe("lmdbTokenStore", () => tokenStoreSuite({ test }, async () => lmdbTokenStore(fresh())));
describe("lmdbUserStore", () => userStoreSuite({ test }, async () => lmdbUserStore(fresh())));

const shared = fresh();
describe("lmdbTokenStore in one directory, reopened for every case", () =>
  tokenStoreSuite({ test }, async () => lmdbTokenStore(shared)));
describe("lmdbUserStore in the tokens' directory, reopened for every case", () =>
  userStoreSuite({ test }, async () => lmdbUserStore(shared)));

// ── faults that the suites must notice ──

type Fault<Store> = (store: Store) => Partial<Store>;

const TOKEN_FAULTS: Record<string, Fault<TokenStore>> = {
  "create forgets the check": (store) => {
    const all: TokenRecord[] = [];
    return {
      create: async (record) => void all.push(record),
      get: async (id) => all.findLast((record) => record.id === id),
      findByHash: async (hash) => all.findLast((record) => record.hash === hash),
      list: (ownerId) => store.list(ownerId),
    };
  },
  "create checks the id alone": (store) => {
    const twins: TokenRecord[] = [];
    return {
      create: async (record) =>
        store.create(record).catch(async (error: unknown) => {
          if ((await store.get(record.id)) !== undefined) throw error;
          twins.push(record);
        }),
    };
  },
  "create fails without a code": (store) => ({
    create: (record) =>
      store.create(record).catch(() => {
        throw new Error("duplicate");
      }),
  }),
  "findByHash hides what is revoked": (store) => ({
    async findByHash(hash) {
      const record = await store.findByHash(hash);
      return record?.revokedAt ? undefined : record;
    },
  }),
  "findByHash takes an id": (store) => ({
    findByHash: async (hash) => (await store.findByHash(hash)) ?? store.get(hash),
  }),
  "get throws for what is not there": (store) => ({
    async get(id) {
      const record = await store.get(id);
      if (record === undefined) throw new Error("no such token");
      return record;
    },
  }),
  "dates come back as text": (store) => ({
    get: async (id) => JSON.parse(JSON.stringify(await store.get(id)) ?? "null") ?? undefined,
  }),
  "an empty scope is lost": (store) => ({
    async get(id) {
      const record = await store.get(id);
      if (record?.repositoryIds?.length === 0) delete record.repositoryIds;
      return record;
    },
  }),
  "the list is unordered": (store) => ({
    async *list(ownerId) {
      const all = [];
      for await (const record of store.list(ownerId)) all.unshift(record);
      yield* all;
    },
  }),
  "the list stops at 100": (store) => ({
    async *list(ownerId) {
      let left = 100;
      for await (const record of store.list(ownerId)) if (left-- > 0) yield record;
    },
  }),
  "the list hides what is expired": (store) => ({
    async *list(ownerId) {
      for await (const record of store.list(ownerId)) if (!record.expiresAt) yield record;
    },
  }),
  "revoke is always true": (store) => ({
    revoke: async (id, at) => (await store.revoke(id, at), true),
  }),
  "revoke reads, waits and writes": (store) => ({
    async revoke(id, at) {
      const record = await store.get(id);
      if (record === undefined || record.revokedAt) return false;
      await new Promise((done) => setTimeout(done, 1));
      await store.revoke(id, at);
      return true;
    },
  }),
  "touch forgets the revocation": (store) => {
    const touched = new Map<string, Date>();
    return {
      touch: async (id, at) => void touched.set(id, at),
      async get(id) {
        const record = await store.get(id);
        const at = touched.get(id);
        if (record && at) delete record.revokedAt;
        return record && at ? { ...record, lastUsedAt: at } : record;
      },
    };
  },
  "records are shared": () => {
    const all = new Map<string, TokenRecord>();
    return {
      create: async (record) => void all.set(record.id, record),
      get: async (id) => all.get(id),
    };
  },
};

const USER_FAULTS: Record<string, Fault<UserStore>> = {
  "put keeps what was there": (store) => ({
    put: async (user) => {
      if ((await store.get(user.id)) === undefined) await store.put(user);
    },
  }),
  "the list is in the order of putting": (store) => {
    const all = new Map<string, User>();
    return {
      put: async (user) => {
        all.set(user.id, user);
        await store.put(user);
      },
      async *list() {
        yield* all.values();
      },
    };
  },
  "null is lost": (store) => ({
    async get(id) {
      const user = await store.get(id);
      return user && ({ ...user, name: user.name ?? "" } as User);
    },
  }),
  "users are shared": () => {
    const all = new Map<string, User>();
    return { put: async (user) => void all.set(user.id, user), get: async (id) => all.get(id) };
  },
  "what may be seen is forgotten": () => ({
    visibleRepositories: async () => undefined as unknown as "all",
  }),
};

/** Resolves to the cases of a suite that fail for a store. */
async function failures(suite: (add: (run: () => Promise<void>) => void) => void): Promise<number> {
  const runs: (() => Promise<void>)[] = [];
  suite((run) => void runs.push(run));
  const settled = await Promise.allSettled(runs.map((run) => run()));
  return settled.filter(({ status }) => status === "rejected").length;
}

test.each(Object.entries(TOKEN_FAULTS))("the token suite notices: %s", async (_name, fault) => {
  const open = async () => {
    const store = memoryTokenStore();
    return { ...store, ...fault(store) };
  };
  const suite = (add: (run: () => Promise<void>) => void) =>
    tokenStoreSuite({ test: (_case, run) => add(run) }, open);
  expect(await failures(suite)).toBeGreaterThan(0);
});

test.each(Object.entries(USER_FAULTS))("the user suite notices: %s", async (_name, fault) => {
  const open = async () => {
    const store = memoryUserStore();
    return { ...store, ...fault(store) };
  };
  const suite = (add: (run: () => Promise<void>) => void) =>
    userStoreSuite({ test: (_case, run) => add(run) }, open);
  expect(await failures(suite)).toBeGreaterThan(0);
});

// ── several processes, damage, closing ──

let script: string;
beforeAll(async () => {
  [script] = (await bundledPrograms(["test/auth/store-process.ts"])) as [string];
});

interface Child {
  ask(command: string, ...parts: unknown[]): Promise<unknown>;
  stop(): void;
}

async function startChild(path: string): Promise<Child> {
  const child = fork(script, [path], { execArgv: [] });
  await once(child, "message");
  return {
    async ask(...message) {
      child.send(message);
      const [answer] = await once(child, "message");
      return (answer as { answer: unknown }).answer;
    },
    stop: () => child.kill(),
  };
}

test("other processes see a write at their next call", async () => {
  const path = fresh();
  await using store = lmdbTokenStore(path);
  const children = await Promise.all([startChild(path), startChild(path)]);
  try {
    const { id } = await createApiKey(store, { ownerId: "ada" });
    const { hash } = (await store.get(id))!;
    for (const child of children) expect(await child.ask("isRevoked", hash)).toBe(false);
    expect(await children[0]!.ask("revoke", id)).toBe(true);
    expect((await store.findByHash(hash))?.revokedAt).toBeInstanceOf(Date);
    expect(await children[1]!.ask("isRevoked", hash)).toBe(true);
    expect(await children[1]!.ask("create", id, "another hash")).toBe("DUPLICATE_ID");
    expect(await children[1]!.ask("create", "another id", hash)).toBe("DUPLICATE_ID");
  } finally {
    for (const child of children) child.stop();
  }
});

test("a read sees what another process wrote earlier in the same turn of the event loop", async () => {
  const path = fresh();
  await using store = lmdbTokenStore(path);
  const { id } = await createApiKey(store, { ownerId: "ada" });
  const before = store.get(id);
  execFileSync(process.execPath, [script, path, "revoke", id]);
  const after = store.get(id); // nothing has been awaited since the previous read
  expect([(await before)?.revokedAt, (await after)?.revokedAt]).toEqual([
    undefined,
    expect.any(Date),
  ]);
});

test("if several processes create the same id or revoke the same record, one succeeds", async () => {
  const path = fresh();
  const children = await Promise.all([1, 2, 3].map(() => startChild(path)));
  try {
    for (let round = 0; round < 20; round++) {
      const id = `id${round}`;
      const created = await Promise.all(
        children.map((child, n) => child.ask("create", id, `${id}.${n}`)),
      );
      expect(created.filter((answer) => answer === "ok").length, id).toBe(1);
      const revoked = await Promise.all(children.map((child) => child.ask("revoke", id)));
      expect(revoked.filter(Boolean).length, id).toBe(1);
    }
  } finally {
    for (const child of children) child.stop();
  }
});

test("a key works in the next process, and its secret is nowhere on the disk", async () => {
  const path = fresh();
  const { id, secret } = await (async () => {
    await using store = lmdbTokenStore(path);
    return createApiKey(store, { ownerId: "ada", name: "laptop" });
  })();
  await using again = lmdbTokenStore(path);
  expect(await again.get(id)).toMatchObject({ ownerId: "ada", name: "laptop", kind: "api-key" });
  for (const file of readdirSync(path)) {
    const bytes = readFileSync(join(path, file));
    expect(bytes.includes(secret.slice(4)), file).toBe(false);
    expect(bytes.includes(Buffer.from(secret.slice(4), "hex")), `${file}, as bytes`).toBe(false);
  }
});

test("a record with changed bytes is INDEX_CORRUPT, and never another record", async () => {
  const path = fresh();
  {
    await using store = lmdbTokenStore(path);
    await createApiKey(store, { ownerId: "an owner to find on the disk" });
  }
  const file = join(path, "data.mdb");
  const bytes = readFileSync(file);
  const mark = Buffer.from("an owner to find");
  let changed = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1), changed++)
    bytes.write("AN", at);
  expect(changed).toBeGreaterThan(0);
  writeFileSync(file, bytes);
  await using store = lmdbTokenStore(path);
  const read = async () => {
    for await (const record of store.list("an owner to find on the disk"))
      expect(record).toBe("unread");
  };
  await expect(read()).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
});

test("an intact record under another key is INDEX_CORRUPT, and gives nobody else access", async () => {
  const path = fresh();
  const hashes: string[] = [];
  {
    await using store = lmdbTokenStore(path);
    for (const ownerId of ["a", "b"]) {
      const { id } = await createApiKey(store, { ownerId });
      hashes.push((await store.get(id))!.hash);
    }
  }
  const binary = { encoding: "binary", keyEncoding: "binary" } as const;
  const raw = open<Buffer, Buffer>({ path, noSubdir: false, maxDbs: 16, ...binary });
  const ids = raw.openDB<Buffer, Buffer>({ name: "tokens.hash", ...binary });
  const [one, two] = [...ids.getRange()].map(({ key, value }) => ({
    key: Buffer.from(key),
    value: Buffer.from(value),
  }));
  await ids.put(one!.key, two!.value);
  await ids.put(two!.key, one!.value);
  await raw.close();
  await using store = lmdbTokenStore(path);
  for (const hash of hashes)
    await expect(store.findByHash(hash)).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
});

test("a closed store says so, and may be closed twice", async () => {
  const store = lmdbTokenStore(fresh());
  await store[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  await expect(store.get("x")).rejects.toMatchObject({ code: "ENGINE_CLOSED" });
  await expect(store.revoke("x", new Date())).rejects.toMatchObject({ code: "ENGINE_CLOSED" });
});

test("a path that is a file is rejected with an error code", () => {
  const path = fresh();
  writeFileSync(path, "");
  expect(() => lmdbTokenStore(path)).toThrow(expect.objectContaining({ name: "QuernError" }));
});
