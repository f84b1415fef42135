/**
 * Defines stores of audit records, which say who did what over HTTP. `auditStoreSuite` of quern/testing tests whether
 * a store fulfils this contract.
 */

import { randomBytes } from "node:crypto";
import { compareText } from "../base/compare.ts";

/**
 * A record of one action that was performed or refused. A record contains no secrets and no file content.
 *
 * @example
 * const isSearch = ({ action }: AuditRecord): boolean => action === "search.performed";
 */
export interface AuditRecord {
  /** The id of the record. Ids are never reused. */
  id: string;
  /** When the action happened. */
  timestamp: Date;
  /** What was done, such as 'search.performed'. */
  action: string;
  /** The id of the user, or of the owner of the key; empty for an anonymous caller. */
  actorId: string;
  /** How the actor was identified: 'user', 'api_key', 'scoped_token', 'session', 'oauth' or 'anonymous'. */
  actorType: string;
  /** The id of the target; empty if the action has no single target. */
  targetId: string;
  /** The kind of the target, such as 'repository' or 'user'. */
  targetType: string;
  /** The version of quern that wrote the record. */
  version: string;
  /** Further facts about the action, as plain JSON data. */
  metadata: unknown;
}

/**
 * A store in which a handler records actions. Records are copied when they are written and read. Every call sees what
 * was written by calls that resolved before it.
 *
 * @example
 * const audits: AuditStore = lmdbAuditStore("./accounts", { maxAgeMs: 30 * 86_400_000 });
 * const { records } = await audits.list({ skip: 0, limit: 20 });
 */
export interface AuditStore {
  /**
   * Adds a record. The store may delete old records to make room.
   *
   * @example
   * declare const record: AuditRecord;
   * await audits.append(record);
   */
  append(record: AuditRecord): Promise<void>;
  /**
   * Lists the records of a period, newest first. They are sorted by timestamp, then by id. The period includes the
   * moments `since` and `until`.
   *
   * @example
   * const { records, total } = await audits.list({ since: new Date(0), skip: 0, limit: 100 });
   */
  list(options: {
    /** The first moment of the period. Default: no bound. */
    since?: Date;
    /** The last moment of the period. Default: no bound. */
    until?: Date;
    /** The number of newest records to skip. */
    skip: number;
    /** The maximum number of records to return. */
    limit: number;
  }): Promise<{
    /** The records of the page, newest first. */
    records: AuditRecord[];
    /** The number of all records in the period, on all pages. */
    total: number;
  }>;
}

/** Compares records by age, newest first. */
const byRecency = (a: AuditRecord, b: AuditRecord): number =>
  b.timestamp.getTime() - a.timestamp.getTime() || compareText(b.id, a.id);

let lastTime = 0;
let count = 0;

/**
 * Returns a unique id in hex, which consists of the time in milliseconds, a counter and 64 random bits. In one process,
 * ids with ascending times ascend as well.
 */
export function newAuditId(at: Date): string {
  const time = at.getTime();
  count = time === lastTime ? count + 1 : 0;
  lastTime = time;
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  return `${hex(time, 12)}${hex(count, 6)}${randomBytes(8).toString("hex")}`;
}

const MOST_IN_MEMORY = 100_000;

/**
 * Creates a store in memory, for tests and small programs. Its content is lost when the process ends. It keeps the
 * newest 100 000 records.
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
