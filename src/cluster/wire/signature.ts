/**
 * What the machines of a cluster show each other instead of a credential. A request bears its time, the
 * SHA-256 of its body, and an HMAC-SHA-256 under the secret that they share:
 *
 *     X-Quern-Node-Time: 1767225600000
 *     X-Quern-Node-Digest: hex of SHA-256(body)
 *     X-Quern-Node-Signature: hex of HMAC(secret, method NUL path NUL time NUL digest)
 *
 * The secret itself never travels, nothing of a body is read before the signature is found right, and a
 * request that somebody recorded is worth nothing once it is a minute old. So the machines' clocks may
 * differ by no more than that.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const TIME = "x-quern-node-time";
const DIGEST = "x-quern-node-digest";
const SIGNATURE = "x-quern-node-signature";
const MOST_AGE_MS = 60_000;

const digestOf = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");

/** Returns the headers that prove knowledge of the secret. `now`: milliseconds since 1970. */
export function sign(
  secret: string,
  { method, path, body }: { method: string; path: string; body: Uint8Array },
  now = Date.now(),
): Record<string, string> {
  const [time, digest] = [String(now), digestOf(body)];
  const signature = hmac(secret, [method, path, time, digest]).toString("hex");
  return { [TIME]: time, [DIGEST]: digest, [SIGNATURE]: signature };
}

/** Whether somebody who knows the secret made these headers for this call within the last minute. */
export function isSigned(
  secret: string,
  { method, path, headers }: { method: string; path: string; headers: Headers },
  now = Date.now(),
): boolean {
  const time = headers.get(TIME) ?? "";
  if (!/^\d{1,15}$/.test(time) || Math.abs(now - Number(time)) > MOST_AGE_MS) return false;
  const given = Buffer.from(headers.get(SIGNATURE) ?? "", "hex");
  const right = hmac(secret, [method, path, time, headers.get(DIGEST) ?? ""]);
  return given.length === right.length && timingSafeEqual(given, right);
}

/** Whether the body is the one that was signed. REQUIRES: isSigned(). */
export const isBodyOf = (headers: Headers, body: Uint8Array): boolean =>
  headers.get(DIGEST) === digestOf(body);

const hmac = (secret: string, parts: readonly string[]): Buffer =>
  createHmac("sha256", secret).update(parts.join("\0")).digest();
