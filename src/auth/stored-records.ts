/**
 * Converts tokens and users to stored records and back. A stored record is plain data, with dates in milliseconds.
 * Also creates the keys by which the stores sort their records.
 */

import { createHash } from "node:crypto";
import { QuernError } from "../base/errors.ts";
import type { TokenRecord } from "./token-store.ts";
import type { User } from "./user-store.ts";

const MOST_TEXT = 512; // in code units, which take 1 024 of the 1 978 bytes that a key of LMDB may have

export type Stored<T> = { [Name in keyof T]: T[Name] extends Date ? number : unknown };

/** Converts a record to plain data. Dates become milliseconds, and undefined fields are left out. */
export function flatten<T extends object>(record: T): Stored<T> {
  const fields = Object.entries(record).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [[name, value instanceof Date ? milliseconds(value, name) : value]],
  );
  return Object.fromEntries(fields) as Stored<T>;
}

export const restoreToken = (stored: Stored<TokenRecord>) =>
  restore<TokenRecord>(stored, ["createdAt", "expiresAt", "revokedAt", "lastUsedAt"]);

export const restoreUser = (stored: Stored<User>) =>
  restore<User>(stored, ["suspendedAt", "createdAt", "updatedAt", "lastActivityAt"]);

function restore<T>(stored: object, dates: readonly (keyof T & string)[]): T {
  const record: Record<string, unknown> = { ...stored };
  for (const name of dates) {
    const value = record[name];
    if (typeof value === "number") record[name] = new Date(value);
  }
  return record as T;
}

/** Returns a date as milliseconds. `name` is what an error message calls the date. */
export function milliseconds(date: Date, name = "a date of the record"): number {
  const time = date.getTime();
  if (Number.isNaN(time))
    throw new QuernError("INVALID_REQUEST", `${name} must be a valid date, got ${String(date)}`);
  return time;
}

export function checked(id: string): string {
  if (id.length === 0 || id.length > MOST_TEXT)
    throw new QuernError(
      "INVALID_REQUEST",
      `an id or hash must have 1 to ${MOST_TEXT} characters, got ${id.length}`,
    );
  return id;
}

/** Converts an id to a key. Keys are sorted as JavaScript sorts strings, by UTF-16 code units. */
export const text = (id: string): Uint8Array => Buffer.from(id, "utf16le").swap16();

/** Returns a key of fixed length for an id of any length. */
export const digest = (ownerId: string): Uint8Array =>
  createHash("sha256").update(Buffer.from(ownerId, "utf16le")).digest();
