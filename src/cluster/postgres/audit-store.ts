/** Keeps audit records in PostgreSQL. */

import type { AuditRecord, AuditStore } from "../../auth/audit-store.ts";
import { checked, milliseconds, text } from "../../auth/stored-records.ts";
import { QuernError } from "../../base/errors.ts";
import type { PostgresPool } from "./pool.ts";
import { plain } from "./rows.ts";
import { openTables, type PostgresPlace } from "./schema.ts";

const MAX_AGE_MS = 90 * 86_400_000;
/** The maximum number of old records that one call of append() deletes, so that no call takes long. */
const DELETED_AT_ONCE = 100;

/**
 * Returns a store that keeps audit records in PostgreSQL. Any number of processes on any number of machines may use
 * the store. By default, it keeps records for 90 days. `migrateCluster()` creates its tables.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const audits = postgresAuditStore(pool, { maxAgeMs: 30 * 86_400_000 });
 * const { records, total } = await audits.list({ skip: 0, limit: 20 });
 */
export function postgresAuditStore(
  pool: PostgresPool,
  options: PostgresPlace & {
    /** The age in milliseconds at which a record is deleted. Default: 90 days. */
    maxAgeMs?: number;
  } = {},
): AuditStore {
  const { maxAgeMs = MAX_AGE_MS } = options;
  if (!Number.isSafeInteger(maxAgeMs) || maxAgeMs < 1)
    throw new QuernError(
      "INVALID_REQUEST",
      `postgresAuditStore: maxAgeMs must be an integer of 1 or more, got ${maxAgeMs}`,
    );
  const tables = openTables(pool, options);
  const audits = tables.name("quern_audit");
  return {
    async append(record) {
      const at = milliseconds(record.timestamp, "timestamp");
      const values = [text(checked(record.id)), at, JSON.stringify({ ...record, timestamp: at })];
      await tables.query(
        `with old as (
           delete from ${audits} where id in (
             select id from ${audits} where at < $4 order by at limit ${DELETED_AT_ONCE}
             for update skip locked))
         insert into ${audits} (id, at, record) values ($1, $2, $3)
         on conflict (id) do update set at = excluded.at, record = excluded.record`,
        [...values, Date.now() - maxAgeMs],
      );
    },
    async list({ since, until, skip, limit }) {
      const period = [
        since === undefined ? -(2 ** 53) : milliseconds(since, "since"),
        until === undefined ? 2 ** 53 : milliseconds(until, "until"),
      ];
      const within = `from ${audits} where at between $1 and $2`;
      const [counted, found] = await Promise.all([
        tables.query(`select count(*) as total ${within}`, period),
        tables.query(
          `select record::text as record ${within} order by at desc, id desc offset $3 limit $4`,
          [...period, skip, limit],
        ),
      ]);
      return { total: Number(counted.rows[0]?.total), records: found.rows.map(auditOf) };
    },
  };
}

function auditOf(row: Record<string, unknown>): AuditRecord {
  const { timestamp, ...rest } = plain<AuditRecord>(row.record);
  return { ...rest, timestamp: new Date(timestamp) } as AuditRecord;
}
