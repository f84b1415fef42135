/** The members of the organization, and what each may see. `userStoreSuite` of quern/testing holds a store to this contract. */

import { byCreation } from "./token-store.ts";

export interface User {
  id: string;
  name: string | null;
  email: string;
  /** Owners may list the members. */
  role: "OWNER" | "MEMBER";
  /** Not null: none of this user's keys and tokens is good for anything. */
  suspendedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  lastActivityAt: Date | null;
}

/** Works on copies, and every call sees what was resolved before it, as with TokenStore. */
export interface UserStore {
  /** Any string may be asked for; undefined if no user has it. */
  get(id: string): Promise<User | undefined>;
  /** All users, by createdAt, then id. */
  list(): AsyncIterable<User>;
  /** Creates or replaces the user with this id. */
  put(user: User): Promise<void>;
  /** Ids of the repositories this user may see now. Absent: every user sees every repository. */
  visibleRepositories?(user: User): Promise<"all" | ReadonlySet<number>>;
}

/** Gone when the process ends: for tests and small hosts. */
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
  };
}
