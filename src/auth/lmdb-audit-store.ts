/**
 * Implements a durable audit store, which several processes may use at the same time. It may share its directory with
 * the stores of lmdb-stores.ts. This is version 1 of the audit store's format, which uses the tables of key-value.ts:
 *
 *     audits           time text(id)         -> record, its timestamp as milliseconds
 *     audits.count     "count"               -> the number of records
 *
 * lmdb-stores.ts defines `time` and `text`. Keys are thus ordered by time, then by id. Each append also deletes a few
 * records if there are records beyond the maximum age or number.
 */

import { QuernError } from "../base/errors.ts";
import { openKeyValue } from "../store/lmdb/key-value.ts";
import type { AuditRecord, AuditStore } from "./audit-store.ts";
import { timeAndId } from "./lmdb-stores.ts";
import { checked } from "./stored-records.ts";

const DAY_MS = 86_400_000;
const MAX_AGE_MS = 90 * DAY_MS;
const MAX_RECORDS = 1_000_000;
/** The maximum number of records that one append deletes, so that no append takes long. */
const DELETED_AT_ONCE = 100;
const COUNT = Buffer.from("count");

type Stored = Omit<AuditRecord, "timestamp"> & { timestamp: number };

/**
 * Opens a durable store, which several processes may use at the same time. The directory is created if it does not
 * exist. The directory may be shared with lmdbTokenStore(), but not with an index. By default, the store keeps up to
 * a million records for up to 90 days.
 *
 * @example
 * await using audits = lmdbAuditStore("./accounts", { maxRecords: 100_000 });
 * const handler = createHandler(engine, { tokens, audits });
 */
export function lmdbAuditStore(
  path: string,
  options: {
    /** The age at which a record is deleted, in milliseconds. Default: 90 days. */
    maxAgeMs?: number;
    /** The maximum number of records to keep. Default: 1 000 000. */
    maxRecords?: number;
  } = {},
): AuditStore & AsyncDisposable {
  const maxAgeMs = positive("maxAgeMs", options.maxAgeMs ?? MAX_AGE_MS);
  const maxRecords = positive("maxRecords", options.maxRecords ?? MAX_RECORDS);
  const store = openKeyValue(path);
  const audits = store.table<Stored>("audits");
  const counts = store.table<number>("audits.count");
  /**
   * Deletes the oldest records beyond the limits, up to DELETED_AT_ONCE. Returns the number of records that are left.
   * REQUIRES: a write transaction is open.
   */
  const drop = (count: number): number => {
    const oldest = timeAndId(new Date(Date.now() - maxAgeMs), "");
    let left = count;
    for (const { key } of audits.range(new Uint8Array(), undefined, DELETED_AT_ONCE)) {
      if (left <= maxRecords && Buffer.compare(key, oldest) >= 0) break;
      audits.remove(key);
      left--;
    }
    return left;
  };
  return {
    append: (record) =>
      store.write(() => {
        const key = timeAndId(record.timestamp, checked(record.id));
        const isNew = audits.get(key) === undefined;
        audits.put(key, { ...record, timestamp: record.timestamp.getTime() });
        counts.put(COUNT, drop((counts.get(COUNT) ?? 0) + (isNew ? 1 : 0)));
      }),
    async list({ since, until, skip, limit }) {
      const from = since && timeAndId(since, "");
      // `to` is excluded, and the keys of all records at `until` are less than `to`
      const to = until && timeAndId(new Date(until.getTime() + 1), "");
      const total = from || to ? audits.count(from, to) : (counts.get(COUNT) ?? 0);
      const found = audits.latest({ from, to, skip, limit });
      return {
        total,
        records: found.map(({ value }) => ({ ...value, timestamp: new Date(value.timestamp) })),
      };
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function positive(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new QuernError(
    "INVALID_REQUEST",
    `lmdbAuditStore: ${name} must be an integer of 1 or more, got ${value}`,
  );
}
