/**
 * Authenticates and authorizes the caller of a request. The caller is checked when the request arrives, and again
 * before any part of the response is sent. Each check reads the stores again. A request with a wrong credential is
 * never treated as anonymous.
 */

import { identify, isSuspended, type Identity, type Principal } from "../auth/principal.ts";
import { internSet } from "../base/interned-sets.ts";
import { coreOf } from "../core-of.ts";
import type { Engine } from "../engine.ts";
import type { Viewer } from "../search/messages/request.ts";
import { addressOf, keyOf } from "./client-key.ts";
import type { Settings } from "./options.ts";
import { notAuthenticated, Refusal } from "./refusal.ts";

/** The access that a route requires. */
export type Access =
  | "anyone" // everybody, but if the caller sends a credential, it must be valid
  | "signed" // the route checks a signature; credentials are ignored, because a code host may send its own
  | "search" // callers with a credential, and everybody if anonymous searches are allowed
  | "api-key"
  | "owner"; // an owner of the organization

export interface Caller {
  readonly identity: Identity;
  /** The repositories that the caller may see. Undefined if the caller may see all of them. */
  readonly viewer: Viewer | undefined;
  /** Tells clients apart, so that each gets its share of the slots. */
  readonly client: string;
}

const NOBODY: Identity = { principal: { kind: "anonymous", repositoryIds: new Set() } };

/**
 * Resolves to the caller of a request. Rejects if the caller may not use a route that requires this access. Calls
 * `onIdentity` with the identity of the caller, even if the caller is then rejected.
 */
export async function admit(
  request: Request,
  access: Access,
  { engine, settings }: { engine: Engine; settings: Settings },
  onIdentity: (identity: Identity) => void = () => {},
): Promise<Caller> {
  const known = access === "signed" ? NOBODY : await recognize(request, settings);
  const identity = known ?? anonymous(settings);
  onIdentity(identity);
  authorize(identity.principal, access, settings);
  const viewer = await viewerOf(identity.principal, access, engine);
  return { identity, viewer, client: clientOf(identity, request, settings) };
}

/** Returns a key of the caller. A user has the same key with all credentials. */
function clientOf({ principal, token }: Identity, request: Request, settings: Settings): string {
  const known = principal.user?.id ?? token?.ownerId;
  if (known !== undefined) return `user ${known}`;
  const key = settings.clientKey?.(request);
  if (key !== undefined) return `key ${key}`;
  const address = addressOf(request);
  return address === undefined ? "" : `address ${keyOf(address)}`;
}

async function recognize(request: Request, settings: Settings): Promise<Identity | undefined> {
  const known = await askHost(request, settings);
  if (known !== undefined) return { principal: known };
  const secret = presentedSecret(request.headers, settings.apiKeyHeader);
  if (secret === undefined) return undefined;
  const identity = await identify(secret, settings);
  if (identity === undefined) throw notAuthenticated();
  return identity;
}

async function askHost(request: Request, settings: Settings): Promise<Principal | undefined> {
  let principal: Principal | undefined;
  try {
    principal = await settings.authenticate?.(request);
  } catch (error) {
    throw notAuthenticated(error);
  }
  if (principal?.user !== undefined && isSuspended(principal.user)) throw notAuthenticated();
  return principal && withOwnSet(principal);
}

// copies the set, because the host program may change it during a search, and the next check must notice the change
function withOwnSet(principal: Principal): Principal {
  const { repositoryIds } = principal;
  return typeof repositoryIds === "string"
    ? principal
    : { ...principal, repositoryIds: internSet(repositoryIds) };
}

/**
 * Returns the secret from the Authorization header or from the header for API keys, or undefined if there is none.
 * Throws if the headers contain two different secrets, or if Authorization contains no bearer token.
 */
function presentedSecret(headers: Headers, apiKeyHeader: string): string | undefined {
  const authorization = headers.get("authorization");
  const apiKey = headers.get(apiKeyHeader) ?? undefined;
  if (authorization === null) return apiKey;
  const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (bearer === undefined) throw notAuthenticated();
  if (apiKey !== undefined && apiKey !== bearer) throw notAuthenticated();
  return bearer;
}

function anonymous({ anonymous: shows }: Settings): Identity {
  return shows === false ? NOBODY : { principal: { kind: "anonymous", repositoryIds: shows } };
}

function authorize(principal: Principal, access: Access, settings: Settings): void {
  const isAnonymous = principal.kind === "anonymous";
  switch (access) {
    case "anyone":
    case "signed":
      return;
    case "search":
      if (isAnonymous && settings.anonymous === false) throw notAuthenticated();
      return;
    case "api-key":
      if (isAnonymous) throw notAuthenticated();
      if (principal.kind !== "api-key") throw forbidden("an API key is required");
      return;
    case "owner":
      if (isAnonymous) throw notAuthenticated();
      if (principal.kind === "scoped" || principal.user?.role !== "OWNER")
        throw forbidden("only owners of the organization may do this");
  }
}

export function forbidden(message: string): Refusal {
  return new Refusal("INSUFFICIENT_PERMISSIONS", message);
}

async function viewerOf(
  { repositoryIds }: Principal,
  access: Access,
  engine: Engine,
): Promise<Viewer | undefined> {
  if (repositoryIds === "all") return undefined;
  if (repositoryIds !== "public") return { repositoryIds };
  if (access === "anyone") return { repositoryIds: new Set() };
  return { repositoryIds: await coreOf(engine).repositories.publicIds() };
}

/** Whether `before` could see a repository that `after` cannot see. */
export function seesLess(before: Viewer | undefined, after: Viewer | undefined): boolean {
  if (after === undefined) return false;
  if (before === undefined) return true;
  if (before.repositoryIds === after.repositoryIds) return false;
  for (const id of before.repositoryIds) if (!after.repositoryIds.has(id)) return true;
  return false;
}
