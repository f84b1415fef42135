/**
 * Keeps tokens in PostgreSQL. No machine caches tokens, so a revocation takes effect everywhere with the next
 * look-up.
 */

import {
  checked,
  digest,
  flatten,
  milliseconds,
  restoreToken,
  text,
} from "../../auth/stored-records.ts";
import { duplicate, type TokenRecord, type TokenStore } from "../../auth/token-store.ts";
import type { PostgresPool } from "./pool.ts";
import { openTables, type PostgresPlace } from "./schema.ts";
import { inPages, plain } from "./rows.ts";

/**
 * Returns a store that keeps tokens in PostgreSQL. Any number of processes on any number of machines may use the
 * store. `migrateCluster()` creates its tables.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const tokens = postgresTokenStore(pool);
 * const { secret } = await createApiKey(tokens, { ownerId: "ada" });
 */
export function postgresTokenStore(pool: PostgresPool, place: PostgresPlace = {}): TokenStore {
  const tables = openTables(pool, place);
  const tokens = tables.name("quern_token");
  const find = async (column: "id" | "hash", key: string): Promise<TokenRecord | undefined> => {
    const { rows } = await tables.query(`select ${COLUMNS} from ${tokens} where ${column} = $1`, [
      text(key),
    ]);
    return rows[0] && tokenOf(rows[0]);
  };
  return {
    async create(record) {
      const { revokedAt, lastUsedAt, ...rest } = record;
      const { changed } = await tables.query(
        `insert into ${tokens} (id, hash, owner, created_at, revoked_at, last_used_at, record)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
        [
          text(checked(record.id)),
          text(checked(record.hash)),
          digest(record.ownerId),
          milliseconds(record.createdAt, "createdAt"),
          revokedAt === undefined ? null : milliseconds(revokedAt, "revokedAt"),
          lastUsedAt === undefined ? null : milliseconds(lastUsedAt, "lastUsedAt"),
          JSON.stringify(flatten(rest)),
        ],
      );
      if (changed === 0) throw duplicate();
    },
    findByHash: (hash) => find("hash", hash),
    get: (id) => find("id", id),
    list: (ownerId) =>
      inPages(tables, {
        select: `select ${COLUMNS} from ${tokens} where owner = $1 and`,
        value: digest(ownerId),
        read: tokenOf,
      }),
    async revoke(id, at) {
      const { changed } = await tables.query(
        `update ${tokens} set revoked_at = $2 where id = $1 and revoked_at is null`,
        [text(id), milliseconds(at)],
      );
      return changed === 1;
    },
    async touch(id, at) {
      const set = `update ${tokens} set last_used_at = $2 where id = $1`;
      await tables.query(set, [text(id), milliseconds(at)]);
    },
  };
}

const COLUMNS = "id, created_at, revoked_at, last_used_at, record::text as record";

function tokenOf(row: Record<string, unknown>): TokenRecord {
  return restoreToken({
    ...plain<TokenRecord>(row.record),
    ...(row.revoked_at !== null && { revokedAt: Number(row.revoked_at) }),
    ...(row.last_used_at !== null && { lastUsedAt: Number(row.last_used_at) }),
  });
}
