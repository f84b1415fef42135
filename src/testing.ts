/**
 * Provides conformance suites for stores that a host implements. The suites work with any test framework. Pass a
 * suite the `test` function of your framework, and a function that opens a store. The store need not be empty,
 * because each suite uses ids of its own.
 *
 *     import { test } from "node:test";
 *     tokenStoreSuite({ test: (name, run) => void test(name, run) }, async () => myStore());
 *
 * If a store has a method [Symbol.asyncDispose], the suite calls it after each test.
 */

import { randomBytes } from "node:crypto";
import { isDeepStrictEqual, inspect } from "node:util";
import type { AuditRecord, AuditStore } from "./auth/audit-store.ts";
import type { TokenRecord, TokenStore } from "./auth/token-store.ts";
import type { User, UserStore } from "./auth/user-store.ts";
import type { SegmentStore } from "./cluster/objects/segment-store.ts";

/**
 * The part of a test runner that the suites need. The `test` function of node:test or vitest can register the tests,
 * and so can the `it` function of jest or mocha.
 *
 * @example
 * import { test } from "node:test";
 * const runner: Runner = { test: (name, run) => void test(name, run) };
 */
export interface Runner {
  /**
   * Registers a test that fails if `run` rejects.
   *
   * @example
   * const runner: Runner = { test: async (name, run) => console.log(name, await run()) };
   */
  test(name: string, run: () => Promise<void>): void;
}

type Cases<Store> = Readonly<Record<string, (store: Store) => Promise<void>>>;

/**
 * Tests that a TokenStore fulfils its contract. Calls `open` once for each test.
 *
 * @example
 * import { test } from "node:test";
 * tokenStoreSuite({ test: (name, run) => void test(name, run) }, async () => memoryTokenStore());
 */
export function tokenStoreSuite(runner: Runner, open: () => Promise<TokenStore>): void {
  runAll(runner, open, TOKEN_CASES);
}

/**
 * Tests that a UserStore fulfils its contract. Calls `open` once for each test.
 *
 * @example
 * import { test } from "node:test";
 * userStoreSuite({ test: (name, run) => void test(name, run) }, async () => memoryUserStore());
 */
export function userStoreSuite(runner: Runner, open: () => Promise<UserStore>): void {
  runAll(runner, open, USER_CASES);
}

/**
 * Tests that an AuditStore fulfils its contract. Calls `open` once for each test. The suite appends records from the
 * last five hours. The store may drop older records.
 *
 * @example
 * import { test } from "node:test";
 * auditStoreSuite({ test: (name, run) => void test(name, run) }, async () => memoryAuditStore());
 */
export function auditStoreSuite(runner: Runner, open: () => Promise<AuditStore>): void {
  runAll(runner, open, AUDIT_CASES);
}

/**
 * Tests that a SegmentStore fulfils its contract. Calls `open` once for each test. The suite removes the objects that
 * it stores.
 *
 * @example
 * import { test } from "node:test";
 * import { directorySegments } from "quern/cluster";
 * const open = async () => directorySegments("./objects");
 * segmentStoreSuite({ test: (name, run) => void test(name, run) }, open);
 */
export function segmentStoreSuite(runner: Runner, open: () => Promise<SegmentStore>): void {
  runAll(runner, open, SEGMENT_CASES);
}

function runAll<Store extends object>(
  runner: Runner,
  open: () => Promise<Store>,
  cases: Cases<Store>,
): void {
  for (const [name, run] of Object.entries(cases))
    runner.test(name, async () => {
      const store = await open();
      try {
        await run(store);
      } finally {
        if (Symbol.asyncDispose in store) await (store as AsyncDisposable)[Symbol.asyncDispose]();
      }
    });
}

// strings that every store must handle correctly, because clients of the HTTP interface may send any of them
const ABSURD = ["", "\0", "../..", "__proto__", "é\u{1f600}", "\ud800", "%00", "x".repeat(100_000)];

const random = (): string => randomBytes(16).toString("hex");
const day = (n: number): Date => new Date(Date.UTC(2024, 0, n, 12, 34, 56, 789));

const record = (fields: Partial<TokenRecord> = {}): TokenRecord => ({
  id: random(),
  kind: "api-key",
  hash: random() + random(),
  ownerId: random(),
  createdAt: day(1),
  ...fields,
});

const full = (): TokenRecord =>
  record({
    kind: "scoped",
    name: "ünïcode \u{1f511}",
    repositoryIds: [3, 1, 4_294_967_295],
    mintedBy: random(),
    expiresAt: day(2),
    lastUsedAt: day(3),
  });

const TOKEN_CASES: Cases<TokenStore> = {
  "a record is returned unchanged, found by id and by hash": async (store) => {
    for (const made of [
      record(),
      full(),
      record({ revokedAt: day(4) }),
      record({ createdAt: new Date(-1) }),
    ]) {
      await store.create(structuredClone(made));
      same(await store.get(made.id), made, "get");
      same(await store.findByHash(made.hash), made, "findByHash");
    }
  },
  "a scope of no repositories stays a scope": async (store) => {
    const made = record({ kind: "scoped", repositoryIds: [] });
    await store.create(made);
    same((await store.get(made.id))?.repositoryIds, [], "repositoryIds");
  },
  "a record that does not exist is undefined": async (store) => {
    await store.create(full());
    for (const key of [random(), ...ABSURD]) {
      same(await store.get(key), undefined, `get ${show(key)}`);
      same(await store.findByHash(key), undefined, `findByHash ${show(key)}`);
      // a case below creates records of the owner "", and an earlier run of the suite may have done so in the same
      // store
      if (key !== "") same(await collect(store.list(key)), [], `list ${show(key)}`);
    }
  },
  "an id is not a hash, nor a hash an id": async (store) => {
    const made = record();
    await store.create(made);
    same(await store.get(made.hash), undefined, "get of a hash");
    same(await store.findByHash(made.id), undefined, "findByHash of an id");
  },
  "a taken id or hash is DUPLICATE_ID and changes nothing": async (store) => {
    const made = record();
    await store.create(made);
    const sameId = record({ id: made.id });
    const sameHash = record({ hash: made.hash });
    for (const second of [sameId, sameHash, made])
      await rejects(store.create(second), "DUPLICATE_ID");
    same(await store.get(made.id), made, "the first record");
    same(await store.findByHash(made.hash), made, "the first record by hash");
    same(await store.findByHash(sameId.hash), undefined, "the refused hash");
    same(await store.get(sameHash.id), undefined, "the refused id");
    same(await collect(store.list(sameId.ownerId)), [], "the refused owner's list");
  },
  "of many that create one id at once, one does": async (store) => {
    const made = record();
    const tries = Array.from({ length: 8 }, () => store.create({ ...made, hash: random() }));
    const settled = await Promise.allSettled(tries);
    same(settled.filter(({ status }) => status === "fulfilled").length, 1, "creations");
  },
  "a list contains one owner's records by createdAt, then id": async (store) => {
    const ownerId = random();
    const at = (n: number, id: string) => record({ ownerId, createdAt: day(n), id: id + random() });
    const ordered = [
      record({ ownerId, createdAt: new Date(-5) }),
      at(1, "B"),
      at(1, "a"),
      at(2, "A"),
      record({ ownerId, createdAt: day(3), revokedAt: day(3) }),
      record({ ownerId, createdAt: day(4), expiresAt: day(4) }),
    ];
    for (const made of [3, 0, 5, 2, 1, 4].map((i) => ordered[i]!)) await store.create(made);
    for (const other of [`${ownerId}x`, ownerId.slice(0, -1), ""])
      await store.create(record({ ownerId: other }));
    same(await collect(store.list(ownerId)), ordered, "the list");
  },
  "a long list is whole": async (store) => {
    const ownerId = random();
    const ids = Array.from({ length: 250 }, (_, n) => `${String(n).padStart(3, "0")}${random()}`);
    for (const id of ids) await store.create(record({ id, ownerId }));
    same(
      (await collect(store.list(ownerId))).map(({ id }) => id),
      ids,
      "the ids",
    );
  },
  "revoking is true once, and keeps its date": async (store) => {
    const made = full();
    await store.create(made);
    same(await store.revoke(made.id, day(5)), true, "the first time");
    same(await store.revoke(made.id, day(6)), false, "the second time");
    const revoked = { ...made, revokedAt: day(5) };
    same(await store.get(made.id), revoked, "get");
    same(await store.findByHash(made.hash), revoked, "findByHash");
    same(await collect(store.list(made.ownerId)), [revoked], "list");
  },
  "of many that revoke one record at once, one does": async (store) => {
    const made = record();
    await store.create(made);
    const tries = Array.from({ length: 8 }, (_, n) => store.revoke(made.id, day(n + 1)));
    same((await Promise.all(tries)).filter(Boolean).length, 1, "revocations");
  },
  "revoking touches no other record, and an unknown id is false": async (store) => {
    const [one, other] = [record(), record()];
    await store.create(one);
    await store.create(other);
    await store.revoke(one.id, day(5));
    for (const key of [random(), one.hash, ...ABSURD])
      same(await store.revoke(key, day(5)), false, show(key));
    same(await store.get(other.id), other, "the other record");
  },
  "a touched record is as before but for lastUsedAt": async (store) => {
    if (store.touch === undefined) return;
    const made = record();
    await store.create(made);
    await store.revoke(made.id, day(5));
    await store.touch(made.id, day(7));
    await store.touch(random(), day(7));
    same(await store.get(made.id), { ...made, revokedAt: day(5), lastUsedAt: day(7) }, "get");
  },
  "records handed in and out are copies": async (store) => {
    const made = full();
    const before = structuredClone(made);
    await store.create(made);
    spoil(made);
    const out = await store.get(before.id);
    same(out, before, "get after the one handed in was changed");
    if (out) spoil(out);
    same(
      await store.findByHash(before.hash),
      before,
      "findByHash after the one handed out was changed",
    );
  },
};

function spoil(made: TokenRecord): void {
  made.repositoryIds?.push(9);
  made.createdAt.setTime(0);
  made.revokedAt = day(9);
  made.kind = "api-key";
}

const user = (fields: Partial<User> = {}): User => ({
  id: random(),
  name: "Ada \u{1f469}",
  email: "ada@example.com",
  role: "MEMBER",
  suspendedAt: null,
  createdAt: day(1),
  updatedAt: day(2),
  lastActivityAt: null,
  ...fields,
});

const USER_CASES: Cases<UserStore> = {
  "a user is returned unchanged": async (store) => {
    const owner = user({ role: "OWNER", name: null, suspendedAt: day(3), lastActivityAt: day(4) });
    for (const made of [user(), owner]) {
      await store.put(structuredClone(made));
      same(await store.get(made.id), made, "get");
    }
  },
  "a user who does not exist is undefined": async (store) => {
    await store.put(user());
    for (const id of [random(), ...ABSURD]) same(await store.get(id), undefined, `get ${show(id)}`);
  },
  "putting again replaces the whole user, listed once": async (store) => {
    const made = user({ suspendedAt: day(3) });
    const after = user({ id: made.id, createdAt: day(8), email: "b@example.com", role: "OWNER" });
    await store.put(made);
    await store.put(after);
    same(await store.get(made.id), after, "get");
    same(await listed(store, [made]), [after], "list");
  },
  "the list is by createdAt, then id": async (store) => {
    const at = (createdAt: Date, id: string) => user({ createdAt, id: id + random() });
    const ordered = [at(new Date(-5), "z"), at(day(1), "B"), at(day(1), "a"), at(day(2), "A")];
    for (const made of [2, 3, 0, 1].map((i) => ordered[i]!)) await store.put(made);
    same(await listed(store, ordered), ordered, "the list");
  },
  "a long list is whole": async (store) => {
    const users = Array.from({ length: 250 }, (_, n) =>
      user({ id: `${String(n).padStart(3, "0")}${random()}` }),
    );
    for (const made of users) await store.put(made);
    same(await listed(store, users), users, "the list");
  },
  "users handed in and out are copies": async (store) => {
    const made = user();
    const before = structuredClone(made);
    await store.put(made);
    made.createdAt.setTime(0);
    made.role = "OWNER";
    const out = await store.get(before.id);
    same(out, before, "get after the one handed in was changed");
    if (out) out.suspendedAt = day(9);
    same(await store.get(before.id), before, "get after the one handed out was changed");
  },
  "removing a user removes nobody else": async (store) => {
    if (store.remove === undefined) return;
    const [one, other] = [user(), user()];
    for (const made of [one, other]) await store.put(made);
    same(await store.remove(one.id), true, "the first time");
    same(await store.get(one.id), undefined, "get");
    same(await listed(store, [one, other]), [other], "list");
    for (const id of [one.id, random(), ...ABSURD])
      same(await store.remove(id), false, `remove ${show(id)}`);
    await store.put({ ...one, createdAt: day(9) });
    same(
      await listed(store, [one]),
      [{ ...one, createdAt: day(9) }],
      "list after the user was added again",
    );
  },
  "of many that remove one user at once, one does": async (store) => {
    if (store.remove === undefined) return;
    const made = user();
    await store.put(made);
    const tries = Array.from({ length: 8 }, () => store.remove!(made.id));
    same((await Promise.all(tries)).filter(Boolean).length, 1, "removals");
  },
  "what a user may see is all or a set of ids": async (store) => {
    const made = user();
    await store.put(made);
    if (store.visibleRepositories === undefined) return;
    const seen = await store.visibleRepositories(made);
    const ids = seen === "all" ? [] : [...seen]; // throws if the value is neither
    same(
      ids.filter((id) => !Number.isSafeInteger(id)),
      [],
      "an invalid id",
    );
  },
};

/** Returns the time `minutes` before this module was loaded. */
const ago = (minutes: number): Date => new Date(AUDIT_NOW - minutes * 60_000);
const AUDIT_NOW = Date.now();

const entry = (minutes: number, fields: Partial<AuditRecord> = {}): AuditRecord => ({
  id: random(),
  timestamp: ago(minutes),
  action: "search.performed",
  actorId: random(),
  actorType: "user",
  targetId: "",
  targetType: "organization",
  version: "1.2.3",
  metadata: { query: "ünïcode \u{1f511}", counts: [1, 2.5, null], nested: { is: true } },
  ...fields,
});

/**
 * Reads the store's list page by page, and returns the records that the test has appended. Throws if the length of a
 * page does not agree with the total.
 */
async function recorded(
  store: AuditStore,
  ours: readonly AuditRecord[],
  period: { since?: Date; until?: Date } = {},
): Promise<AuditRecord[]> {
  const ids = new Set(ours.map(({ id }) => id));
  const all: AuditRecord[] = [];
  for (let skip = 0; ; skip += 7) {
    const { records, total } = await store.list({ ...period, skip, limit: 7 });
    all.push(...records);
    same(records.length, Math.max(0, Math.min(7, total - skip)), "the length of a page");
    if (records.length < 7) return all.filter(({ id }) => ids.has(id));
  }
}

const AUDIT_CASES: Cases<AuditStore> = {
  "a record is returned unchanged": async (store) => {
    for (const made of [entry(1), entry(1, { metadata: {} }), entry(1, { metadata: null })]) {
      await store.append(structuredClone(made));
      same(await recorded(store, [made]), [made], "list");
    }
  },
  "the newest come first, those of one moment by id, last one first": async (store) => {
    const [a, b] = [random(), random()].sort() as [string, string];
    const ordered = [entry(1), entry(2, { id: b }), entry(2, { id: a }), entry(90), entry(300)];
    for (const made of [3, 1, 4, 0, 2].map((i) => ordered[i]!)) await store.append(made);
    same(await recorded(store, ordered), ordered, "list");
  },
  "a period includes its first and its last moment": async (store) => {
    const ordered = [10, 20, 30, 40, 50].map((minutes) => entry(minutes));
    for (const made of ordered) await store.append(made);
    for (const [since, until, want] of [
      [30, 30, [2]],
      [40, 20, [1, 2, 3]],
      [40, undefined, [0, 1, 2, 3]],
      [undefined, 20, [1, 2, 3, 4]],
      [25, 15, [1]],
      [10, 50, []],
      [5, 1, []],
    ] as const) {
      const period = {
        ...(since !== undefined && { since: ago(since) }),
        ...(until !== undefined && { until: ago(until) }),
      };
      const wanted = want.map((i) => ordered[i]!);
      same(await recorded(store, ordered, period), wanted, `${since} to ${until} minutes ago`);
    }
  },
  "pages and totals are those of the period": async (store) => {
    const at = entry(77);
    const before = await store.list({
      since: at.timestamp,
      until: at.timestamp,
      skip: 0,
      limit: 0,
    });
    const made = Array.from({ length: 25 }, () => entry(77));
    for (const one of made) await store.append(one);
    const period = { since: at.timestamp, until: at.timestamp };
    const { records, total } = await store.list({ ...period, skip: 10, limit: 10 });
    same([records.length, total - before.total], [10, 25], "length and total");
    same((await store.list({ ...period, skip: total, limit: 5 })).records, [], "behind the last");
  },
  "of many that are appended at once none is lost": async (store) => {
    const made = Array.from({ length: 50 }, (_, i) => entry(i));
    await Promise.all(made.map((one) => store.append(one)));
    same(await recorded(store, made), made, "list");
  },
  "records handed in and out are copies": async (store) => {
    const made = entry(3);
    const before = structuredClone(made);
    await store.append(made);
    made.timestamp.setTime(0);
    made.metadata = "changed";
    const [out] = await recorded(store, [before]);
    same(out, before, "list after the one handed in was changed");
    out?.timestamp.setTime(0);
    same(await recorded(store, [before]), [before], "list after the one handed out was changed");
  },
};

/**
 * The content of a large object. It is larger than the chunks in which stores read and write. PIECES divides it into
 * pieces of odd lengths.
 */
const LARGE = randomBytes(2_500_001);
const PIECES = [0, 1, 70_000, 70_001, 1_048_576, 1_048_577, 2_097_152];

async function* inOddPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (const [i, from] of PIECES.entries()) yield bytes.subarray(from, PIECES[i + 1]);
}

/** Calls `run` with an unused key. After that, deletes every object whose key begins with this key. */
async function withKey(store: SegmentStore, run: (key: string) => Promise<void>): Promise<void> {
  const key = `suite/${random()}`;
  try {
    await run(key);
  } finally {
    for await (const one of store.list(key)) await store.delete(one.key);
  }
}

const putBytes = (store: SegmentStore, key: string, bytes: Uint8Array): Promise<void> =>
  store.put(key, inOddPieces(bytes), bytes.length);

const read = async (store: SegmentStore, ...asked: Parameters<SegmentStore["get"]>) =>
  Buffer.concat(await collect(await store.get(...asked)));

const keysOf = async (store: SegmentStore, prefix: string): Promise<string[]> =>
  (await collect(store.list(prefix))).map(({ key }) => key);

const SEGMENT_CASES: Cases<SegmentStore> = {
  "an object is returned unchanged": (store) =>
    withKey(store, async (key) => {
      for (const [name, bytes] of [
        ["large", LARGE],
        ["one", LARGE.subarray(0, 1)],
        ["mebibyte", LARGE.subarray(0, 2 ** 20)],
        ["empty", LARGE.subarray(0, 0)],
      ] as const) {
        await putBytes(store, `${key}/${name}`, bytes);
        const got = await read(store, `${key}/${name}`);
        same([got.length, got.equals(bytes)], [bytes.length, true], name);
      }
    }),
  "a range has its first byte and not its last": (store) =>
    withKey(store, async (key) => {
      await putBytes(store, key, LARGE);
      for (const [from, to] of [
        [0, 1],
        [0, 0],
        [5, 5],
        [1_048_575, 1_048_577],
        [1_048_576, 2_097_152],
        [2_500_000, 2_500_001],
        [2_500_000, 9_000_000],
        [2_500_001, 2_500_002],
        [9_000_000, 9_000_001],
      ] as const) {
        const got = await read(store, key, [from, to]);
        const wanted = LARGE.subarray(from, to);
        same([got.length, got.equals(wanted)], [wanted.length, true], `${from} to ${to}`);
      }
    }),
  "an object that does not exist is INDEX_NOT_FOUND, and may be deleted": (store) =>
    withKey(store, async (key) => {
      await rejects(read(store, key), "INDEX_NOT_FOUND");
      await rejects(read(store, key, [0, 1]), "INDEX_NOT_FOUND");
      await store.delete(key);
      await putBytes(store, key, LARGE);
      await store.delete(key);
      await rejects(read(store, key), "INDEX_NOT_FOUND");
    }),
  "putting again leaves one object and renews its date": (store) =>
    withKey(store, async (key) => {
      const dateOf = async () => (await collect(store.list(key))).map(({ at }) => at.getTime());
      await putBytes(store, key, LARGE);
      const [before] = await dateOf();
      await new Promise((resolve) => setTimeout(resolve, 1100)); // stores may round dates to whole seconds
      await putBytes(store, key, LARGE);
      const [after, ...more] = await dateOf();
      same([after! > before!, more.length], [true, 0], "a later date, and no second object");
      same((await read(store, key)).equals(LARGE), true, "the bytes");
    }),
  "of many that put one object at once, each leaves it whole": (store) =>
    withKey(store, async (key) => {
      await Promise.all(Array.from({ length: 4 }, () => putBytes(store, key, LARGE)));
      same((await read(store, key)).equals(LARGE), true, "the bytes");
      same(await keysOf(store, key), [key], "the list");
    }),
  "a body that is too short, too long or broken stores nothing": (store) =>
    withKey(store, async (key) => {
      const broken = (async function* () {
        yield LARGE.subarray(0, 1_500_000);
        throw Object.assign(new Error("broken"), { code: "ABORTED" });
      })();
      await rejects(store.put(key, inOddPieces(LARGE), LARGE.length + 1), "INVALID_REQUEST");
      await rejects(store.put(key, inOddPieces(LARGE), LARGE.length - 1), "INVALID_REQUEST");
      await rejects(store.put(key, broken, LARGE.length), "ABORTED");
      await rejects(read(store, key), "INDEX_NOT_FOUND");
      same(await keysOf(store, key), [], "the list");
    }),
  "a list contains the keys that begin with the prefix, in order": (store) =>
    withKey(store, async (key) => {
      const names = ["a/b", "a/c", "a0", "b", "ab/c/d"].map((name) => `${key}/${name}`);
      for (const name of names) await store.put(name, inOddPieces(LARGE.subarray(0, 3)), 3);
      const sorted = [...names].sort(compareText);
      same(await keysOf(store, key), sorted, "all");
      for (const prefix of ["/a/", "/a", "/ab/c/", "/b", "/c"]) {
        const wanted = sorted.filter((name) => name.startsWith(key + prefix));
        same(await keysOf(store, key + prefix), wanted, prefix);
      }
      const [at] = (await collect(store.list(key))).map((one) => one.at.getTime());
      same(Math.abs(at! - Date.now()) < 600_000, true, "a date of now");
    }),
  "a long list is whole": (store) =>
    withKey(store, async (key) => {
      const names = Array.from({ length: 1100 }, (_, n) => `${key}/${String(n).padStart(4, "0")}`);
      for (let i = 0; i < names.length; i += 50)
        await Promise.all(
          names.slice(i, i + 50).map((name) => store.put(name, inOddPieces(new Uint8Array()), 0)),
        );
      same(await keysOf(store, key), names, "the keys");
    }),
  "a key that is not a path of lower-case letters and digits is INVALID_REQUEST": async (store) => {
    for (const key of [
      "",
      "/",
      "a/",
      "/a",
      "a//b",
      "../a",
      "a/../b",
      "A",
      "a b",
      "a\\b",
      "é",
      "a\0",
    ]) {
      await rejects(putBytes(store, key, LARGE), "INVALID_REQUEST");
      await rejects(read(store, key), "INVALID_REQUEST");
      await rejects(store.delete(key), "INVALID_REQUEST");
    }
  },
  "an invalid range is INVALID_REQUEST": (store) =>
    withKey(store, async (key) => {
      await putBytes(store, key, LARGE);
      for (const range of [
        [-1, 2],
        [3, 2],
        [0.5, 2],
        [0, Infinity],
        [NaN, 1],
      ] as const)
        await rejects(read(store, key, range), "INVALID_REQUEST");
    }),
};

/** Lists the users that this test has added to the store. */
async function listed(store: UserStore, ours: readonly User[]): Promise<User[]> {
  const ids = new Set(ours.map(({ id }) => id));
  return (await collect(store.list())).filter(({ id }) => ids.has(id));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function same(got: unknown, want: unknown, what: string): void {
  if (!isDeepStrictEqual(got, want))
    throw new Error(`${what}: expected ${inspect(want)}, got ${inspect(got)}`);
}

async function rejects(promise: Promise<unknown>, code: string): Promise<void> {
  const error: unknown = await promise.then(
    () => new Error("it resolved"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error && "code" in error && error.code === code))
    throw new Error(`expected a rejection with code ${code}, got ${inspect(error)}`);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const show = (key: string): string => inspect(key.length > 40 ? `${key.slice(0, 40)}…` : key);
