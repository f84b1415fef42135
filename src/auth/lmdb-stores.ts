/**
 * Implements durable token and user stores, which several processes may use at the same time. Both stores may share a
 * directory. This is version 1 of their format, which uses the tables of store/lmdb/key-value.ts:
 *
 *     tokens           text(id)                              -> record
 *     tokens.hash      text(hash)                            -> id
 *     tokens.owner     sha256(ownerId) time text(id)         -> id
 *     users            text(id)                              -> record
 *     users.created    time text(id)                         -> id
 *
 *     text := UTF-16 code units, big-endian: keys compare as JavaScript compares strings
 *     time := milliseconds since 1970 plus 2^54, 8 bytes, big-endian: dates before 1970 come first
 *
 * A record stores its dates as milliseconds. A key in tokens.owner contains the hash of the owner's id, because the
 * id itself may have any length. Ids and hashes may have up to 512 code units.
 */

import { type KeyValueStore, openKeyValue, type Table } from "../store/lmdb/key-value.ts";
import {
  checked,
  digest,
  flatten,
  milliseconds,
  restoreToken,
  restoreUser,
  text,
  type Stored,
} from "./stored-records.ts";
import { duplicate, type TokenRecord, type TokenStore } from "./token-store.ts";
import type { User, UserStore } from "./user-store.ts";

// the number of records that are read at once; even if the reader is slow, no transaction is open between two batches
const BATCH = 100;

/**
 * Opens a durable store of tokens, which several processes may use at the same time. The directory is created if it
 * does not exist. The directory may be shared with lmdbUserStore(), but not with an index.
 *
 * @example
 * await using tokens = lmdbTokenStore("./accounts");
 * const { secret } = await createApiKey(tokens, { ownerId: "ada" });
 */
export function lmdbTokenStore(path: string): TokenStore & AsyncDisposable {
  return openTokens(path);
}

/** The store that lmdbTokenStore() returns, and whether it has any token, whoever owns it. */
export interface OpenedTokens extends TokenStore, AsyncDisposable {
  readonly hasAny: () => Promise<boolean>;
}

export function openTokens(path: string): OpenedTokens {
  const store = openKeyValue(path);
  const tokens = store.table<Stored<TokenRecord>>("tokens");
  const ids = store.table<string>("tokens.hash");
  const owned = store.table<string>("tokens.owner");
  const get = (id: string): TokenRecord | undefined => {
    const stored = tokens.get(text(id));
    return stored && restoreToken(stored);
  };
  const change = (id: string, edit: (record: TokenRecord) => boolean): Promise<boolean> =>
    store.write(() => {
      const record = get(id);
      const changed = record !== undefined && edit(record);
      if (changed) tokens.put(text(id), flatten(record));
      return changed;
    });
  return {
    create: (record) =>
      store.write(() => {
        const stored = flatten(record);
        const keys = [text(checked(record.id)), text(checked(record.hash))] as const;
        const place = ownerKey(record);
        if (tokens.get(keys[0]) !== undefined || ids.get(keys[1]) !== undefined) throw duplicate();
        tokens.put(keys[0], stored);
        ids.put(keys[1], record.id);
        owned.put(place, record.id);
      }),
    get: async (id) => get(id),
    async findByHash(hash) {
      const id = ids.get(text(hash));
      return id === undefined ? undefined : get(id);
    },
    list: (ownerId) => inOrder(owned, digest(ownerId), get),
    revoke: (id, at) =>
      change(id, (record) => {
        if (record.revokedAt !== undefined) return false;
        record.revokedAt = at;
        return true;
      }),
    async touch(id, at) {
      await change(id, (record) => ((record.lastUsedAt = at), true));
    },
    async hasAny() {
      for await (const _ of inOrder(owned, new Uint8Array(), get)) return true;
      return false;
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/**
 * Opens a durable store of users, which several processes may use at the same time. The directory is created if it
 * does not exist. The directory may be shared with lmdbTokenStore(), but not with an index.
 *
 * @example
 * await using users = lmdbUserStore("./accounts");
 * for await (const { email, role } of users.list()) console.log(email, role);
 */
export function lmdbUserStore(path: string): UserStore & AsyncDisposable {
  const store: KeyValueStore = openKeyValue(path);
  const users = store.table<Stored<User>>("users");
  const created = store.table<string>("users.created");
  const get = (id: string): User | undefined => {
    const stored = users.get(text(id));
    return stored && restoreUser(stored);
  };
  return {
    get: async (id) => get(id),
    list: () => inOrder(created, new Uint8Array(), get),
    put: (user) =>
      store.write(() => {
        const stored = flatten(user);
        const key = text(checked(user.id));
        const place = creationKey(user);
        const before = get(user.id);
        if (before !== undefined) created.remove(creationKey(before));
        users.put(key, stored);
        created.put(place, user.id);
      }),
    remove: (id) =>
      store.write(() => {
        const before = get(id);
        if (before === undefined) return false;
        created.remove(creationKey(before));
        users.remove(text(id));
        return true;
      }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/**
 * Yields the records whose ids are the values of the table `index`, in the order of its keys. The table is read in
 * batches. Records that are added between two batches may or may not be included.
 */
async function* inOrder<T>(
  index: Table<string>,
  prefix: Uint8Array,
  get: (id: string) => T | undefined,
): AsyncGenerator<T> {
  let after: Uint8Array | undefined;
  for (;;) {
    const batch = index.range(prefix, after, BATCH);
    for (const { value: id } of batch) {
      const record = get(id);
      if (record !== undefined) yield record;
    }
    if (batch.length < BATCH) return;
    after = batch.at(-1)?.key;
  }
}

const creationKey = ({ createdAt, id }: { createdAt: Date; id: string }): Uint8Array =>
  timeAndId(createdAt, id);

/** Returns a key for a date and an id. Keys are sorted by date, then by id. */
export function timeAndId(date: Date, id: string): Uint8Array {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(milliseconds(date)) + (1n << 54n));
  return Buffer.concat([time, text(id)]);
}

const ownerKey = (record: TokenRecord): Uint8Array =>
  Buffer.concat([digest(record.ownerId), creationKey(record)]);
