/** What was done through the interface, by whom. `auditStoreSuite` of quern/testing holds a store to this contract. */

import { randomBytes } from "node:crypto";
import { compareText } from "../base/compare.ts";

/**
 * One thing that somebody did, or was refused. It holds no secret and nothing of a file's content.
 *
 * @example
 * const isSearch = ({ action }: AuditRecord): boolean => action === "search.performed";
 */
export interface AuditRecord {
  /** Names the record. Never used again. */
  id: string;
  /** When it happened. */
  timestamp: Date;
  /** What was done, such as 'search.performed'. */
  action: string;
  /** The id of the user, or of who owns the key; empty for an anonymous caller. */
  actorId: string;
  /** How the actor was known: 'user', 'api_key', 'scoped_token', 'session', 'oauth' or 'anonymous'. */
  actorType: string;
  /** What it was done to; empty where nothing single is meant. */
  targetId: string;
  /** What kind of thing that is, such as 'repository' or 'user'. */
  targetType: string;
  /** The version of quern that wrote the record. */
  version: string;
  /** What else is known: plain data, as JSON has it. */
  metadata: unknown;
}

/**
 * Where a handler puts what was done. Works on copies, and every call sees what was resolved before
 * it, as with TokenStore.
 *
 * @example
 * const audits: AuditStore = lmdbAuditStore("./accounts", { maxAgeMs: 30 * 86_400_000 });
 * const { records } = await audits.list({ skip: 0, limit: 20 });
 */
export interface AuditStore {
  /**
   * Adds a record. Old ones may be dropped for it.
   *
   * @example
   * declare const record: AuditRecord;
   * await audits.append(record);
   */
  append(record: AuditRecord): Promise<void>;
  /**
   * Lists records, newest first: by timestamp, then by id. `since` and `until` are dates that belong
   * to the period. `total` counts all records of the period.
   *
   * @example
   * const { records, total } = await audits.list({ since: new Date(0), skip: 0, limit: 100 });
   */
  list(options: {
    /** The first moment of the period. Default: no bound. */
    since?: Date;
    /** The last moment of the period. Default: no bound. */
    until?: Date;
    /** How many of the newest records are left out. */
    skip: number;
    /** How many records are returned at most. */
    limit: number;
  }): Promise<{
    /** The page: the newest first. */
    records: AuditRecord[];
    /** How many records there are in the period, on all pages. */
    total: number;
  }>;
}

/** Newest first. */
export const byRecency = (a: AuditRecord, b: AuditRecord): number =>
  b.timestamp.getTime() - a.timestamp.getTime() || compareText(b.id, a.id);

let lastTime = 0;
let count = 0;

/** An id that no other record has; those of one process are in order: milliseconds, a counter, 64 random bits, in hex. */
export function newAuditId(at: Date): string {
  const time = at.getTime();
  count = time === lastTime ? count + 1 : 0;
  lastTime = time;
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  return `${hex(time, 12)}${hex(count, 6)}${randomBytes(8).toString("hex")}`;
}

const MOST_IN_MEMORY = 100_000;

/**
 * Returns a store whose records are gone when the process ends, for tests and small hosts. It keeps
 * the newest 100 000.
 *
 * @example
 * const handler = createHandler(engine, { tokens, audits: memoryAuditStore() });
 */
export function memoryAuditStore(): AuditStore {
  let records: AuditRecord[] = [];
  return {
    async append(record) {
      records.push(structuredClone(record));
      if (records.length > 2 * MOST_IN_MEMORY)
        records = records.sort(byRecency).slice(0, MOST_IN_MEMORY);
    },
    async list({ since, until, skip, limit }) {
      const found = records
        .filter(
          ({ timestamp }) =>
            (since === undefined || timestamp >= since) &&
            (until === undefined || timestamp <= until),
        )
        .sort(byRecency)
        .slice(0, MOST_IN_MEMORY);
      return { records: structuredClone(found.slice(skip, skip + limit)), total: found.length };
    },
  };
}
