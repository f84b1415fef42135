/**
 * Opens the stores of keys, members and audit records for `quern serve`, `quern keys` and `quern users`. All three
 * stores are in one folder of the data directory.
 *
 * Someone who uses quern alone needs no members. As long as there are no members, the owner of any key counts as an
 * owner of the organization.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AuditStore } from "../auth/audit-store.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { User, UserStore } from "../auth/user-store.ts";
import type { OpenedFile } from "./cluster-file.ts";
import type { Io } from "./io.ts";
import { QuernError } from "../base/errors.ts";

/**
 * Returns the folder of the stores. Its name begins with a dot, so that the data directory still counts as empty before
 * the first index run.
 */
const accountFolder = (db: string): string => join(db, ".keys");

export interface Accounts extends AsyncDisposable {
  readonly tokens: TokenStore;
  readonly users: UserStore;
  readonly audits: AuditStore;
  /** Whether a key was ever made. Always true for a cluster, whose database is not asked. */
  readonly hasKeys: () => Promise<boolean>;
}

/** Opens the stores. Creates the folder if it does not exist. */
export async function openAccounts(db: string): Promise<Accounts> {
  const { lmdbUserStore, openTokens } = await import("../auth/lmdb-stores.ts");
  const { lmdbAuditStore } = await import("../auth/lmdb-audit-store.ts");
  const folder = accountFolder(db);
  const [tokens, users, audits] = [
    openTokens(folder),
    lmdbUserStore(folder),
    lmdbAuditStore(folder),
  ];
  return {
    tokens,
    users,
    audits,
    hasKeys: tokens.hasAny,
    async [Symbol.asyncDispose]() {
      for (const store of [tokens, users, audits]) await store[Symbol.asyncDispose]();
    },
  };
}

/** Opens the stores. Throws INDEX_NOT_FOUND if they do not exist, so that a mistyped path does not create them. */
export async function openExistingAccounts(db: string): Promise<Accounts> {
  if (!existsSync(accountFolder(db)))
    throw new QuernError("INDEX_NOT_FOUND", `there is no key and no member in ${db}`);
  return openAccounts(db);
}

/** Opens the stores of a cluster, which are in its PostgreSQL database. */
export async function openClusterAccounts({
  catalog,
}: Pick<OpenedFile, "catalog">): Promise<Accounts> {
  const { postgresTokenStore } = await import("../cluster/postgres/token-store.ts");
  const { postgresUserStore } = await import("../cluster/postgres/user-store.ts");
  const { postgresAuditStore } = await import("../cluster/postgres/audit-store.ts");
  const { pool, place } = catalog;
  return {
    tokens: postgresTokenStore(pool, place),
    users: postgresUserStore(pool, place),
    audits: postgresAuditStore(pool, place),
    hasKeys: async () => true,
    [Symbol.asyncDispose]: async () => {}, // whoever opened the cluster file closes the connections
  };
}

/** Opens the stores of a directory or a cluster, calls `use` with them, and closes them. */
export async function withAccounts(
  open: typeof openAccounts,
  { db, cluster }: { readonly db: string; readonly cluster?: string },
  env: Io["env"],
  use: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  if (cluster !== undefined) {
    const { openClusterFile } = await import("./cluster-file.ts");
    await using opened = await openClusterFile(cluster, env);
    await use(await openClusterAccounts(opened));
    return;
  }
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

/** Returns the user store for a handler. As long as there are no members, every id stands for an owner. */
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
