/**
 * Defines stores of users, which also say which repositories each user may see. `userStoreSuite` of quern/testing
 * tests whether a store fulfils this contract.
 */

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
  /** The user's id, as in TokenRecord.ownerId. */
  id: string;
  /** A name for people. */
  name: string | null;
  /** The e-mail address, visible to owners. */
  email: string;
  /** The role. Only owners may list and remove members, and read audit records. */
  role: "OWNER" | "MEMBER";
  /** When the user was suspended, or null. The keys and tokens of a suspended user are invalid. */
  suspendedAt: Date | null;
  /** When the user was created. Lists are sorted by this date. */
  createdAt: Date;
  /** When this record last changed. */
  updatedAt: Date;
  /** When the user was last active, or null if unknown. */
  lastActivityAt: Date | null;
}

/**
 * A store in which a handler looks up users. Records are copied when they are written and read. Every call sees what
 * was written by calls that resolved before it.
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
   * Finds a user by id, which may be any string. Resolves to undefined if there is none.
   *
   * @example
   * const isOwner = (await users.get("ada"))?.role === "OWNER";
   */
  get(id: string): Promise<User | undefined>;
  /**
   * Lists all users, by createdAt, then id.
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
   * Removes the user with this id. Resolves to true if there was such a user. A store without this method cannot
   * remove users.
   *
   * @example
   * const wasThere = await users.remove?.("ada");
   */
  remove?(id: string): Promise<boolean>;
  /**
   * Resolves to the ids of the repositories that the user may see now. If a store has no such method, every user
   * sees every repository.
   *
   * @example
   * const ada = await users.get("ada");
   * const seen = (ada && (await users.visibleRepositories?.(ada))) ?? "all";
   */
  visibleRepositories?(user: User): Promise<"all" | ReadonlySet<number>>;
}

/**
 * Creates a store in memory, for tests and small programs. Its content is lost when the process ends.
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
