/** The members of the organization, and what each may see. `userStoreSuite` of quern/testing holds a store to this contract. */

import { byCreation } from "./token-store.ts";

/**
 * A member of the organization.
 *
 * @example
 * const now = new Date();
 * const ada: User = {
 *   id: "ada",
 *   name: "Ada",
 *   email: "ada@example.com",
 *   role: "OWNER",
 *   suspendedAt: null,
 *   createdAt: now,
 *   updatedAt: now,
 *   lastActivityAt: null,
 * };
 * await users.put(ada);
 */
export interface User {
  /** The ownerId of this user's tokens. */
  id: string;
  /** For people. */
  name: string | null;
  /** Shown to owners. */
  email: string;
  /** Owners may list the members. */
  role: "OWNER" | "MEMBER";
  /** Not null: none of this user's keys and tokens is good for anything. */
  suspendedAt: Date | null;
  /** Lists are in this order. */
  createdAt: Date;
  /** When this record changed last. */
  updatedAt: Date;
  /** Null: not known. */
  lastActivityAt: Date | null;
}

/**
 * Where a handler looks users up. Works on copies, and every call sees what was resolved before it,
 * as with TokenStore.
 *
 * @example
 * const visible = new Map([["ada", new Set([1, 4])]]);
 * const mine: UserStore = {
 *   ...memoryUserStore(),
 *   visibleRepositories: async ({ id }) => visible.get(id) ?? new Set(),
 * };
 */
export interface UserStore {
  /**
   * Any string may be asked for; undefined if no user has it.
   *
   * @example
   * const isOwner = (await users.get("ada"))?.role === "OWNER";
   */
  get(id: string): Promise<User | undefined>;
  /**
   * All users, by createdAt, then id.
   *
   * @example
   * for await (const { id, email } of users.list()) console.log(id, email);
   */
  list(): AsyncIterable<User>;
  /**
   * Creates or replaces the user with this id.
   *
   * @example
   * const ada = await users.get("ada");
   * if (ada) await users.put({ ...ada, suspendedAt: new Date(), updatedAt: new Date() });
   */
  put(user: User): Promise<void>;
  /**
   * Removes the user with this id. Resolves to whether there was one. Absent: this store removes nobody.
   *
   * @example
   * const wasThere = await users.remove?.("ada");
   */
  remove?(id: string): Promise<boolean>;
  /**
   * Ids of the repositories this user may see now. Absent: every user sees every repository.
   *
   * @example
   * const ada = await users.get("ada");
   * const seen = (ada && (await users.visibleRepositories?.(ada))) ?? "all";
   */
  visibleRepositories?(user: User): Promise<"all" | ReadonlySet<number>>;
}

/**
 * Gone when the process ends: for tests and small hosts.
 *
 * @example
 * const handler = createHandler(engine, { tokens, users: memoryUserStore() });
 */
export function memoryUserStore(users: Iterable<User> = []): UserStore {
  const byId = new Map<string, User>();
  for (const user of users) byId.set(user.id, structuredClone(user));
  return {
    async get(id) {
      const user = byId.get(id);
      return user && structuredClone(user);
    },
    async *list() {
      yield* [...byId.values()].sort(byCreation).map((user) => structuredClone(user));
    },
    async put(user) {
      byId.set(user.id, structuredClone(user));
    },
    remove: async (id) => byId.delete(id),
  };
}
