/** Keeps users in PostgreSQL. */

import { checked, flatten, milliseconds, restoreUser, text } from "../../auth/stored-records.ts";
import type { User, UserStore } from "../../auth/user-store.ts";
import type { PostgresPool } from "./pool.ts";
import { inPages, plain } from "./rows.ts";
import { openTables, type PostgresPlace } from "./schema.ts";

/**
 * Returns a store that keeps users in PostgreSQL. Any number of processes on any number of machines may use the
 * store. `migrateCluster()` creates its tables.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const users = postgresUserStore(pool, { schema: "search" });
 * for await (const { email, role } of users.list()) console.log(email, role);
 */
export function postgresUserStore(pool: PostgresPool, place: PostgresPlace = {}): UserStore {
  const tables = openTables(pool, place);
  const users = tables.name("quern_user");
  return {
    async get(id) {
      const select = `select record::text as record from ${users} where id = $1`;
      const { rows } = await tables.query(select, [text(id)]);
      return rows[0] && userOf(rows[0]);
    },
    list: () =>
      inPages(tables, {
        select: `select id, created_at, record::text as record from ${users} where id <> $1 and`,
        value: new Uint8Array(), // no user has this id
        read: userOf,
      }),
    async put(user) {
      await tables.query(
        `insert into ${users} (id, created_at, record) values ($1, $2, $3)
         on conflict (id) do update set created_at = excluded.created_at, record = excluded.record`,
        [
          text(checked(user.id)),
          milliseconds(user.createdAt, "createdAt"),
          JSON.stringify(flatten(user)),
        ],
      );
    },
    async remove(id) {
      const { changed } = await tables.query(`delete from ${users} where id = $1`, [text(id)]);
      return changed === 1;
    },
  };
}

const userOf = (row: Record<string, unknown>): User => restoreUser(plain<User>(row.record));
