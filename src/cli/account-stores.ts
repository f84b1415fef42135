/**
 * The stores of `quern serve`, `quern keys` and `quern users`: keys, members and what was done, in one
 * folder of the data directory.
 *
 * A machine of one's own needs no members: as long as there are none, whoever owns a key counts as an
 * owner of the organization.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AuditStore } from "../auth/audit-store.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { User, UserStore } from "../auth/user-store.ts";
import { QuernError } from "../base/errors.ts";

/** Its name begins with a dot, so that the data directory still counts as empty before the first index run. */
export const accountFolder = (db: string): string => join(db, ".keys");

export interface Accounts extends AsyncDisposable {
  readonly tokens: TokenStore;
  readonly users: UserStore;
  readonly audits: AuditStore;
}

/** Opens them, creating the folder when it is missing. */
export async function openAccounts(db: string): Promise<Accounts> {
  const { lmdbTokenStore, lmdbUserStore } = await import("../auth/lmdb-stores.ts");
  const { lmdbAuditStore } = await import("../auth/lmdb-audit-store.ts");
  const folder = accountFolder(db);
  const [tokens, users, audits] = [
    lmdbTokenStore(folder),
    lmdbUserStore(folder),
    lmdbAuditStore(folder),
  ];
  return {
    tokens,
    users,
    audits,
    async [Symbol.asyncDispose]() {
      for (const store of [tokens, users, audits]) await store[Symbol.asyncDispose]();
    },
  };
}

/** Makes no stores for one that mistyped the directory. */
export async function openExistingAccounts(db: string): Promise<Accounts> {
  if (!existsSync(accountFolder(db)))
    throw new QuernError("INDEX_NOT_FOUND", `no key or member was ever made in ${db}`);
  return openAccounts(db);
}

/** Lets `use` work with the stores of a directory, and closes them. */
export async function withAccounts(
  open: typeof openAccounts,
  { db }: { db: string },
  use: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  const accounts = await open(db);
  try {
    await use(accounts);
  } finally {
    await accounts[Symbol.asyncDispose]();
  }
}

export async function hasUsers(users: UserStore): Promise<boolean> {
  for await (const _ of users.list()) return true;
  return false;
}

/** The members for a handler; while there are none, anybody who is asked for is an owner. */
export const membersOrAnybody = (users: UserStore): UserStore => ({
  ...users,
  get: async (id) => (await users.get(id)) ?? ((await hasUsers(users)) ? undefined : owner(id)),
});

const owner = (id: string): User => ({
  id,
  name: null,
  email: "",
  role: "OWNER",
  suspendedAt: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  lastActivityAt: null,
});
