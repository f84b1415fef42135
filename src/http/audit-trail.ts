/**
 * Creates audit records, which say who did what to which target. A record contains the validated input of the
 * request, and facts that the route adds, such as counts. It never contains a credential or any part of the response.
 */

import { newAuditId, type AuditRecord } from "../auth/audit-store.ts";
import type { Identity, Principal } from "../auth/principal.ts";
import type { Settings } from "./options.ts";
import { STATUS, type Refusal } from "./refusal.ts";
import { VERSION } from "../base/version.ts";

/** The name under which the calls of a route are recorded. */
export type AuditAction =
  | "search.performed"
  | "file.read"
  | "folder.read"
  | "history.read"
  | "token.minted"
  | "token.revoked"
  | "user.removed";

/**
 * For each action, the kind of its target, and the fields that may contain the target's name. The first such field
 * counts.
 */
const TARGETS: Readonly<Record<AuditAction, { type: string; fields: readonly string[] }>> = {
  "search.performed": { type: "repository", fields: ["repoName", "repository"] },
  "file.read": { type: "repository", fields: ["repo", "repository"] },
  "folder.read": { type: "repository", fields: ["repo", "repoName", "repository"] },
  "history.read": { type: "repository", fields: ["repo", "repository"] },
  "token.minted": { type: "scoped_access_token", fields: ["id"] },
  "token.revoked": { type: "scoped_access_token", fields: ["id"] },
  "user.removed": { type: "user", fields: ["userId"] },
};

const ACTOR_TYPES: Readonly<Record<Principal["kind"], string>> = {
  "api-key": "api_key",
  scoped: "scoped_token",
  oauth: "oauth",
  session: "session",
  anonymous: "anonymous",
};

/** A finished request. */
export interface Done {
  readonly at: Date;
  readonly action: AuditAction | undefined;
  readonly request: Request;
  /** The caller. Undefined if the request was rejected before the caller was known. */
  readonly identity: Identity | undefined;
  readonly noted: Readonly<Record<string, unknown>>;
  readonly refusal: Refusal | undefined;
}

/** Returns the audit record of a request, or undefined if such a request is not recorded. */
export function auditRecord(done: Done, settings: Settings): AuditRecord | undefined {
  const { at, refusal } = done;
  const base = { id: newAuditId(at), timestamp: at, version: VERSION };
  if (refusal?.code === "NOT_AUTHENTICATED") {
    if (!showsCredential(done.request, settings)) return undefined;
    const unknown = { actorId: "", actorType: "anonymous", targetId: "", targetType: "service" };
    const { pathname } = new URL(done.request.url);
    return {
      ...base,
      ...unknown,
      action: "credential.rejected",
      metadata: { path: cut(pathname) },
    };
  }
  const isRefused = refusal !== undefined && STATUS[refusal.code] === 403;
  if (done.action === undefined || (refusal !== undefined && !isRefused)) return undefined;
  const { type, fields } = TARGETS[done.action];
  const target = fields.map((name) => done.noted[name]).find((value) => typeof value === "string");
  return {
    ...base,
    action: done.action,
    ...actorOf(done.identity),
    targetId: cutText(withoutSecrets(target ?? "")),
    targetType: target === undefined ? "service" : type,
    metadata: cut({ ...done.noted, ...(isRefused && { refused: refusal.code }) }),
  };
}

const showsCredential = ({ headers }: Request, { apiKeyHeader }: Settings): boolean =>
  headers.has("authorization") || headers.has(apiKeyHeader);

function actorOf(identity: Identity | undefined): Pick<AuditRecord, "actorId" | "actorType"> {
  const { principal, token } = identity ?? {};
  return {
    actorId: principal?.user?.id ?? token?.ownerId ?? "",
    actorType: ACTOR_TYPES[principal?.kind ?? "anonymous"],
  };
}

const MOST_CHARACTERS = 2_000;
const MOST_ITEMS = 100;

/**
 * Replaces secrets that a client has sent in a wrong field, such as an API key in a query. The random part of every
 * secret consists of 64 hexadecimal digits.
 */
const withoutSecrets = (text: string): string => text.replace(/[0-9a-f]{64}/gi, "[redacted]");

const cutText = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

/**
 * Limits the length of texts and lists in a value, because a request may be a megabyte long. Also replaces secrets in
 * the texts.
 */
function cut(value: unknown): unknown {
  if (typeof value === "string") return cutText(withoutSecrets(value));
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map(cut);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, cut(field)]));
}
