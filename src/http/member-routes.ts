/** Serves the members of the organization and the audit records to the owners of the organization. */

import { isSuspended } from "../auth/principal.ts";
import type { AuditStore } from "../auth/audit-store.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { User, UserStore } from "../auth/user-store.ts";
import { forbidden } from "./gate.ts";
import { jsonResponse } from "./json-body.ts";
import * as schemas from "./member-schemas.ts";
import { pageHeaders, PAGE_HEADERS } from "./pages.ts";
import { Refusal } from "./refusal.ts";
import { plain, withQuery, type Call, type Route } from "./route.ts";

const common = { tag: "Enterprise (EE)", access: "owner" } as const;
const USER_PATH = "/api/ee/user";

export function userRoutes(users: UserStore, tokens: TokenStore | undefined): Route[] {
  const remove = removing(users, tokens);
  return [
    plain(
      {
        ...common,
        method: "get",
        path: "/api/ee/users",
        action: "listUsers",
        summary: "List the members of the organization",
        answers: {
          status: 200,
          description: "The members, by date of creation, then id",
          schema: schemas.userList,
        },
      },
      async ({ confirm }) => {
        const members = [];
        for await (const user of users.list()) members.push(describe(user));
        return jsonResponse(members, { confirm });
      },
    ),
    withQuery(
      {
        ...common,
        method: "get",
        path: USER_PATH,
        action: "readUser",
        summary: "Read one member",
        query: schemas.userQuery,
        answers: { status: 200, description: "The member", schema: schemas.user },
        refusals: ["NOT_FOUND"],
      },
      async ({ confirm }, { userId }) => {
        const user = await users.get(userId);
        if (user === undefined) throw noSuchUser();
        return jsonResponse(describe(user), { confirm });
      },
    ),
    withQuery(
      {
        ...common,
        method: "delete",
        path: USER_PATH,
        action: "removeUser",
        audit: "user.removed",
        summary: "Remove a member",
        description:
          "Invalidates the member's keys and scoped tokens immediately. The last active owner cannot be removed.",
        changes: true,
        outlivesCaller: true,
        query: schemas.userQuery,
        answers: { status: 200, description: "The member is removed", schema: schemas.removedUser },
        refusals: ["NOT_FOUND"],
      },
      async (_call, { userId }) => {
        await remove(userId);
        return jsonResponse({ success: true, message: "the member was removed" });
      },
    ),
  ];
}

const noSuchUser = (): Refusal => new Refusal("NOT_FOUND", "there is no such member");

/**
 * Returns a function that removes users one after another. If two owners remove each other at the same time, one of
 * them remains.
 */
function removing(
  users: UserStore,
  tokens: TokenStore | undefined,
): (userId: string) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return (userId) => {
    const removal = last.then(() => removeUser(userId, users, tokens));
    last = removal.catch(() => undefined);
    return removal;
  };
}

async function removeUser(
  userId: string,
  users: UserStore,
  tokens: TokenStore | undefined,
): Promise<void> {
  const user = await users.get(userId);
  if (users.remove === undefined || user === undefined) throw noSuchUser();
  if (isActiveOwner(user) && !(await hasOtherOwner(user, users)))
    throw forbidden("the last active owner of the organization cannot be removed");
  if (!(await users.remove(userId))) throw noSuchUser();
  // a token is invalid without its owner, and must stay invalid if a user with the same id is created later
  if (tokens) for await (const { id } of tokens.list(userId)) await tokens.revoke(id, new Date());
}

const isActiveOwner = (user: User): boolean => user.role === "OWNER" && !isSuspended(user);

async function hasOtherOwner({ id }: User, users: UserStore): Promise<boolean> {
  for await (const other of users.list()) if (other.id !== id && isActiveOwner(other)) return true;
  return false;
}

/** Returns the JSON of a user. Every field is present, and null stands for a missing value. */
function describe(user: User) {
  const { id, name, email, role, suspendedAt, createdAt, updatedAt, lastActivityAt } = user;
  return {
    id,
    name: name ?? null,
    email,
    role,
    suspendedAt: suspendedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    lastActivityAt: lastActivityAt?.toISOString() ?? null,
  };
}

export function auditRoutes(audits: AuditStore): Route[] {
  return [
    withQuery(
      {
        ...common,
        method: "get",
        path: "/api/ee/audit",
        action: "listAudit",
        summary: "List audit records",
        query: schemas.auditQuery,
        answers: {
          status: 200,
          description: "One page of records, newest first",
          schema: schemas.auditList,
          headers: PAGE_HEADERS,
        },
      },
      (call, query) => listAudit(call, audits, query),
    ),
  ];
}

interface AuditQuery {
  since?: Date | undefined;
  until?: Date | undefined;
  page?: number | undefined;
  perPage?: number | undefined;
}

async function listAudit(
  call: Call,
  audits: AuditStore,
  { since, until, page = 1, perPage = 50 }: AuditQuery,
): Promise<Response> {
  const { records, total } = await audits.list({
    ...(since && { since }),
    ...(until && { until }),
    skip: (page - 1) * perPage,
    limit: perPage,
  });
  const shown = records.map((record) => ({
    ...record,
    timestamp: record.timestamp.toISOString(),
    metadata: record.metadata ?? null,
  }));
  const headers = pageHeaders(call, { page, perPage, total });
  return jsonResponse(shown, { headers, confirm: call.confirm });
}
