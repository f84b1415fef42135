/**
 * Determines whom a credential identifies, and which repositories this caller may see. Nothing is cached. Each call
 * reads the stores again, so a revocation, a suspension or a lost permission takes effect immediately.
 */

import { internSet } from "../base/interned-sets.ts";
import { equalHashes, hashSecret, kindOf, newId, newSecret, type SecretFormat } from "./secrets.ts";
import type { TokenRecord, TokenStore } from "./token-store.ts";
import type { User, UserStore } from "./user-store.ts";

/**
 * The caller of a request, and the repositories that the caller may see.
 *
 * @example
 * const guest: Principal = { kind: "session", repositoryIds: "public" };
 * const handler = createHandler(engine, { authenticate: async () => guest });
 */
export interface Principal {
  /** The user, if the credential belongs to one. A suspended user may not do anything. */
  user?: User;
  /** The kind of credential. Only an 'api-key' may mint and revoke tokens. */
  kind: "api-key" | "scoped" | "oauth" | "session" | "anonymous";
  /**
   * The ids of the visible repositories, as in Repository.id. 'public' stands for the repositories that were indexed
   * with `public: true`.
   */
  repositoryIds: "all" | "public" | ReadonlySet<number>;
}

/** A principal, and the record of the token if a token identified the principal. */
export interface Identity {
  readonly principal: Principal;
  readonly token?: TokenRecord;
}

/** The stores in which tokens and users are looked up. */
export interface Directory {
  readonly tokens?: TokenStore;
  readonly users?: UserStore;
  readonly secrets: SecretFormat;
}

/**
 * Resolves to the principal that a secret identifies now. Resolves to undefined if the secret is malformed, unknown,
 * expired or revoked, or if its user is unknown or suspended. Callers cannot tell these cases apart. Rejects only if
 * a store rejects.
 */
export async function identify(
  secret: string,
  directory: Directory,
  now = new Date(),
): Promise<Identity | undefined> {
  const token = await findToken(secret, directory);
  if (token === undefined || !(await isGood(token, directory, now))) return undefined;
  const { users } = directory;
  const user = await users?.get(token.ownerId);
  if (users !== undefined && (user === undefined || isSuspended(user))) return undefined;
  const seen = user === undefined ? "all" : await visibleTo(user, users);
  const principal: Principal = {
    ...(user !== undefined && { user }),
    kind: token.kind,
    repositoryIds: token.kind === "scoped" ? within(token.repositoryIds ?? [], seen) : seen,
  };
  return { principal, token };
}

export function isSuspended(user: User): boolean {
  return (user.suspendedAt ?? null) !== null;
}

async function findToken(secret: string, directory: Directory): Promise<TokenRecord | undefined> {
  const { tokens, secrets } = directory;
  const kind = kindOf(secret, secrets.prefixes);
  if (tokens === undefined || kind === undefined) return undefined;
  const hash = hashSecret(secret, secrets.hmacKey);
  const token = await tokens.findByHash(hash);
  return token !== undefined && token.kind === kind && equalHashes(token.hash, hash)
    ? token
    : undefined;
}

/**
 * Resolves to true if a token is valid. Neither the token nor the API key that minted the token may be expired or
 * revoked.
 */
async function isGood(token: TokenRecord, directory: Directory, now: Date): Promise<boolean> {
  if (!isAlive(token, now)) return false;
  if (token.kind === "api-key" || token.mintedBy === undefined) return true;
  const minter = await directory.tokens?.get(token.mintedBy);
  return (
    minter !== undefined &&
    minter.kind === "api-key" &&
    minter.ownerId === token.ownerId &&
    isAlive(minter, now)
  );
}

// an invalid expiry date counts as past
function isAlive({ revokedAt, expiresAt }: TokenRecord, now: Date): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

/**
 * Resolves to the repositories that a user may see. The set is an interned copy, because the host program may change
 * its own set during a search.
 */
async function visibleTo(
  user: User,
  users: UserStore | undefined,
): Promise<"all" | ReadonlySet<number>> {
  if (users?.visibleRepositories === undefined) return "all";
  const seen = await users.visibleRepositories(user);
  // if the host program forgets to return a set, the caller sees nothing
  return seen === "all" ? seen : internSet(seen ?? []);
}

function within(scope: readonly number[], seen: "all" | ReadonlySet<number>): ReadonlySet<number> {
  return internSet(seen === "all" ? scope : scope.filter((id) => seen.has(id)));
}

/** Uses an API key to create a token for some repositories. The token never outlives the key. */
export async function mintScopedToken(
  tokens: TokenStore,
  minter: TokenRecord,
  options: { repositoryIds: readonly number[]; ttlMs: number; secrets: SecretFormat },
): Promise<{ record: TokenRecord & { expiresAt: Date }; secret: string }> {
  const { repositoryIds, ttlMs, secrets } = options;
  const secret = newSecret(secrets.prefixes.scoped);
  const createdAt = new Date();
  const ends = Math.min(createdAt.getTime() + ttlMs, minter.expiresAt?.getTime() ?? Infinity);
  const record = {
    id: newId(),
    kind: "scoped" as const,
    hash: hashSecret(secret, secrets.hmacKey),
    ownerId: minter.ownerId,
    repositoryIds: [...new Set(repositoryIds)],
    mintedBy: minter.id,
    createdAt,
    expiresAt: new Date(ends),
  };
  await tokens.create(record);
  return { record, secret };
}
