/**
 * Defines stores of tokens. A host program uses its own store or one of quern's stores. `tokenStoreSuite` of
 * quern/testing tests whether a store fulfils this contract. A store never sees a secret, only its hash.
 */

import { compareText } from "../base/compare.ts";
import { QuernError } from "../base/errors.ts";

/**
 * A token, without its secret.
 *
 * @example
 * const live = ({ revokedAt, expiresAt }: TokenRecord): boolean =>
 *   revokedAt === undefined && (expiresAt === undefined || expiresAt > new Date());
 */
export interface TokenRecord {
  /** A random id of 128 bits or more. */
  id: string;
  /** An API key belongs to a user. A scoped token is minted with an API key, and permits less than the key. */
  kind: "api-key" | "scoped";
  /** The hash of the secret, in 64 hex digits. */
  hash: string;
  /** The id of the user that the token belongs to. */
  ownerId: string;
  /** A name by which people recognize the key. */
  name?: string;
  /** The ids of the repositories that a scoped token may search, as in Repository.id. Absent for an API key. */
  repositoryIds?: number[];
  /** The id of the API key that minted a scoped token. If the key is invalid, the token is invalid as well. */
  mintedBy?: string;
  /** When the token was created. Lists are sorted by this date. */
  createdAt: Date;
  /** When the token expires. Default: never. */
  expiresAt?: Date;
  /** When the token was revoked. Absent if it was not revoked. */
  revokedAt?: Date;
  /** When the token was last used, with a precision of a minute. See touch(). */
  lastUsedAt?: Date;
}

/**
 * A store in which a handler looks up tokens.
 *
 * Records are copied when they are written and read, so callers may change their own copies. Every call, in any
 * process, sees what was written by calls that resolved before it.
 *
 * @example
 * const store: TokenStore = lmdbTokenStore("./accounts");
 * for await (const { id, name } of store.list("ada")) console.log(id, name);
 */
export interface TokenStore {
  /**
   * Adds a token. Rejects with DUPLICATE_ID, and writes nothing, if its id or hash is already in the store.
   *
   * @example
   * declare const record: TokenRecord;
   * await tokens.create(record);
   */
  create(record: TokenRecord): Promise<void>;
  /**
   * Finds a token by the hash of its secret, even if it is expired or revoked. Resolves to undefined if there is
   * none.
   *
   * @example
   * const record = await tokens.findByHash("9f86d081884c7d65".repeat(4));
   */
  findByHash(hash: string): Promise<TokenRecord | undefined>;
  /**
   * Finds a token by its id, which may be any string. Resolves to undefined if there is none.
   *
   * @example
   * const isRevoked = (await tokens.get("5f0c"))?.revokedAt !== undefined;
   */
  get(id: string): Promise<TokenRecord | undefined>;
  /**
   * Lists the tokens of one owner, by createdAt, then id.
   *
   * @example
   * for await (const { id, name } of tokens.list("ada")) console.log(id, name);
   */
  list(ownerId: string): AsyncIterable<TokenRecord>;
  /**
   * Revokes a token. Resolves to true if this call revoked it. Resolves to false if the id is unknown or the token was
   * already revoked. An earlier revocation keeps its date.
   *
   * @example
   * for await (const { id } of tokens.list("ada")) await tokens.revoke(id, new Date());
   */
  revoke(id: string, at: Date): Promise<boolean>;
  /**
   * Sets lastUsedAt. Ignores an unknown id.
   *
   * @example
   * await tokens.touch?.("5f0c", new Date());
   */
  touch?(id: string, at: Date): Promise<void>;
}

/**
 * Creates a store in memory, for tests and small programs. Its content is lost when the process ends.
 *
 * @example
 * const handler = createHandler(engine, { tokens: memoryTokenStore() });
 */
export function memoryTokenStore(): TokenStore {
  const byId = new Map<string, TokenRecord>();
  const byHash = new Map<string, TokenRecord>();
  const copy = (record: TokenRecord | undefined) => record && structuredClone(record);
  return {
    async create(record) {
      if (byId.has(record.id) || byHash.has(record.hash)) throw duplicate();
      const own = structuredClone(record);
      byId.set(own.id, own);
      byHash.set(own.hash, own);
    },
    findByHash: async (hash) => copy(byHash.get(hash)),
    get: async (id) => copy(byId.get(id)),
    async *list(ownerId) {
      const own = [...byId.values()].filter((record) => record.ownerId === ownerId);
      yield* own.sort(byCreation).map((record) => structuredClone(record));
    },
    async revoke(id, at) {
      const record = byId.get(id);
      if (record === undefined || record.revokedAt !== undefined) return false;
      record.revokedAt = new Date(at);
      return true;
    },
    async touch(id, at) {
      const record = byId.get(id);
      if (record !== undefined) record.lastUsedAt = new Date(at);
    },
  };
}

export function duplicate(): QuernError {
  return new QuernError("DUPLICATE_ID", "a token with this id or hash already exists");
}

/** Compares records by creation date, then by id in UTF-16 code units. All lists have this order. */
export function byCreation(
  a: { createdAt: Date; id: string },
  b: { createdAt: Date; id: string },
): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || compareText(a.id, b.id);
}
