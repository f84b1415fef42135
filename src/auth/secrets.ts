/**
 * Creates and hashes the secrets of tokens.
 *
 *     secret := prefix hex{64}        32 random bytes; the prefix is qrn_ for an API key, qst_ for a scoped token
 *     hash   := SHA-256(secret), or HMAC-SHA-256 if the host program has a key; in hex
 *
 * Only the hash is stored. A plain hash protects against a stolen store, because 256 random bits cannot be guessed. A
 * keyed hash also protects against an attacker who can write to the store. Without the key, the attacker cannot add a
 * record that matches a known secret.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { QuernError } from "../base/errors.ts";
import { mustBe } from "../base/must-be.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import type { TokenRecord, TokenStore } from "./token-store.ts";

/**
 * The prefixes of secrets, by the kind of token. They must differ, and consist of visible ASCII without commas.
 *
 * @example
 * const prefixes: TokenPrefixes = { apiKey: "acme_", scoped: "acmes_" };
 * const handler = createHandler(engine, { tokens, tokenPrefixes: prefixes });
 * await createApiKey(tokens, { ownerId: "ada", prefix: prefixes.apiKey });
 */
export interface TokenPrefixes {
  /** The prefix of API keys. */
  apiKey: string;
  /** The prefix of scoped tokens. */
  scoped: string;
}

export const DEFAULT_PREFIXES: TokenPrefixes = { apiKey: "qrn_", scoped: "qst_" };

/** The prefixes of secrets, and the key with which secrets are hashed. */
export interface SecretFormat {
  readonly prefixes: TokenPrefixes;
  readonly hmacKey?: string | Uint8Array;
}

const BODY = /^[0-9a-f]{64}$/;

export function newSecret(prefix: string): string {
  return prefix + randomBytes(32).toString("hex");
}

/** Returns 128 random bits in hex. */
export function newId(): string {
  return randomBytes(16).toString("hex");
}

/** Returns the kind of token that a secret belongs to, or undefined if the text does not have the form of a secret. */
export function kindOf(secret: string, prefixes: TokenPrefixes): TokenRecord["kind"] | undefined {
  const has = (prefix: string): boolean =>
    secret.startsWith(prefix) && BODY.test(secret.slice(prefix.length));
  if (has(prefixes.apiKey)) return "api-key";
  return has(prefixes.scoped) ? "scoped" : undefined;
}

export function hashSecret(secret: string, hmacKey?: string | Uint8Array): string {
  const hash = hmacKey === undefined ? createHash("sha256") : createHmac("sha256", hmacKey);
  return hash.update(secret, "utf8").digest("hex");
}

/** Compares hashes, in a time that depends only on their length. */
export function equalHashes(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Options of createApiKey(). The handler must have the same prefix and the same `hmacKey`.
 *
 * @example
 * const expiresAt = new Date(Date.now() + 90 * 86_400_000);
 * const options: ApiKeyOptions = { ownerId: "ada", name: "laptop", expiresAt };
 * const { secret } = await createApiKey(tokens, options);
 */
export interface ApiKeyOptions {
  /** The id of the user that the key stands for, as in User.id. It must not be empty. */
  ownerId: string;
  /** A name by which people recognize the key. */
  name?: string;
  /** When the key expires. May be in the past. Default: never. */
  expiresAt?: Date;
  /** The handler's `tokenPrefixes.apiKey`. Default 'qrn_'. */
  prefix?: string;
  /** The handler's `hmacKey`. By default, there is no key, and the plain SHA-256 of the secret is stored. */
  hmacKey?: string | Uint8Array;
}

const API_KEY_OPTIONS: KeysOf<ApiKeyOptions> = {
  ownerId: true,
  name: true,
  expiresAt: true,
  prefix: true,
  hmacKey: true,
};

/**
 * Creates an API key for a user. Resolves to the id and the secret of the key. Only a hash of the secret is stored.
 *
 * @example
 * const { id, secret } = await createApiKey(tokens, { ownerId: "ada", name: "laptop" });
 * console.log(`Authorization: Bearer ${secret}`); // tokens.revoke(id, new Date()) ends it
 */
export async function createApiKey(
  tokens: TokenStore,
  options: ApiKeyOptions,
): Promise<{
  /** The id of the key, as in TokenRecord.id, for revoke(). */
  id: string;
  /** The secret that the client sends. */
  secret: string;
}> {
  checkKeys({ call: "createApiKey", what: "option" }, options, API_KEY_OPTIONS);
  const { ownerId, name, expiresAt, prefix = DEFAULT_PREFIXES.apiKey, hmacKey } = options;
  if (typeof ownerId !== "string" || ownerId === "")
    throw new QuernError(
      "INVALID_REQUEST",
      `createApiKey: ${mustBe("ownerId", "a non-empty string", ownerId)}`,
    );
  if (expiresAt !== undefined && Number.isNaN(expiresAt.getTime()))
    throw new QuernError(
      "INVALID_REQUEST",
      `createApiKey: expiresAt must be a valid date, got ${String(expiresAt)}`,
    );
  const secret = newSecret(prefix);
  const id = newId();
  await tokens.create({
    id,
    kind: "api-key",
    hash: hashSecret(secret, hmacKey),
    ownerId,
    ...(name !== undefined && { name }),
    createdAt: new Date(),
    ...(expiresAt !== undefined && { expiresAt }),
  });
  return { id, secret };
}
