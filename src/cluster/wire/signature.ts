/**
 * Signs the messages between machines of a cluster. A call carries its time, the SHA-256 of its body, and an
 * HMAC-SHA-256 under the secret that the machines share:
 *
 *     X-Quern-Node-Time: 1767225600000
 *     X-Quern-Node-Digest: hex of SHA-256(body)
 *     X-Quern-Node-Signature: hex of HMAC(secret, method NUL path NUL time NUL digest)
 *
 * An answer carries its length, its digest, and a signature that is valid for this call only:
 *
 *     Content-Length: 1234
 *     X-Quern-Node-Digest: hex of SHA-256(body)
 *     X-Quern-Node-Signature: hex of HMAC(secret, "answer" NUL signature of the call NUL status NUL length NUL digest)
 *
 * A stream has "stream" in place of the length and the digest. Each of its frames is signed (codec.ts) with
 * HMAC(secret, "frame" NUL signature of the call NUL number of the frame NUL hex of its length and digest).
 *
 * The secret itself is never transmitted. No body is read before its signature is checked, and none is decoded before
 * its digest is checked. A recorded request expires after a minute, so the clocks of the machines may differ by a
 * minute at most.
 */

import type { IncomingHttpHeaders } from "node:http";
import { createHmac, hash, timingSafeEqual } from "node:crypto";

/** The headers of a message, either as fetch's Headers or as the result of headersIn(). */
export type ReadHeaders = Pick<Headers, "get">;

export const headersIn = (headers: IncomingHttpHeaders): ReadHeaders => ({
  get: (name) => headers[name]?.toString() ?? null,
});

const TIME = "x-quern-node-time";
const DIGEST = "x-quern-node-digest";
const SIGNATURE = "x-quern-node-signature";
const LENGTH = "content-length";
const MOST_AGE_MS = 60_000;
/** The text that takes the place of the length and the digest in the answer of a stream. */
const STREAMED = "stream";

const digestOf = (body: Uint8Array): string => hash("sha256", body, "hex");

/** Returns headers which prove that the caller knows the secret. `now` is in milliseconds since 1970. */
export function sign(
  secret: string,
  { method, path, body }: { method: string; path: string; body: Uint8Array },
  now = Date.now(),
): Record<string, string> {
  const [time, digest] = [String(now), digestOf(body)];
  const signature = hmac(secret, [method, path, time, digest]).toString("hex");
  return { [TIME]: time, [DIGEST]: digest, [SIGNATURE]: signature };
}

/** Returns whether the headers were made with the secret, for this call, within the last minute. */
export function isSigned(
  secret: string,
  { method, path, headers }: { method: string; path: string; headers: ReadHeaders },
  now = Date.now(),
): boolean {
  const time = headers.get(TIME) ?? "";
  if (!/^\d{1,15}$/.test(time) || Math.abs(now - Number(time)) > MOST_AGE_MS) return false;
  return isRight(headers, hmac(secret, [method, path, time, headers.get(DIGEST) ?? ""]));
}

/**
 * Returns the signature of a call. The answer to the call is signed together with this signature. REQUIRES:
 * isSigned() accepted the headers, or sign() made them.
 */
export const callOf = (headers: ReadHeaders): string => headers.get(SIGNATURE)!;

/**
 * Returns whether the body with this digest is the body that was signed. REQUIRES: isSigned() or lengthOfAnswer() has
 * accepted the headers.
 */
export const isBodyOf = (headers: ReadHeaders, digest: string): boolean =>
  headers.get(DIGEST) === digest;

/** Returns the headers of an answer to a call. If `body` is absent, the answer is a stream. */
export function signAnswer(
  secret: string,
  {
    call,
    status,
    body,
  }: { call: string; status: number; body?: { bytes: number; digest: string } },
): Record<string, string> {
  const [length, digest] = body ? [String(body.bytes), body.digest] : [STREAMED, STREAMED];
  const signature = hmac(secret, ["answer", call, String(status), length, digest]).toString("hex");
  return { ...(body && { [LENGTH]: length }), [DIGEST]: digest, [SIGNATURE]: signature };
}

/**
 * Returns the signed length of an answer to the call, or "stream" if the answer is a stream. Returns undefined if the
 * headers of the answer were not made with the secret.
 */
export function lengthOfAnswer(
  secret: string,
  { call, status, headers }: { call: string; status: number; headers: ReadHeaders },
): number | typeof STREAMED | undefined {
  const digest = headers.get(DIGEST) ?? "";
  const length = digest === STREAMED ? STREAMED : (headers.get(LENGTH) ?? "");
  const right = hmac(secret, ["answer", call, String(status), length, digest]);
  if (!isRight(headers, right)) return undefined;
  return length === STREAMED ? STREAMED : Number(length);
}

/** Signs the heads of frames. REQUIRES: it is called in the order in which the frames are sent. */
export type FrameSigner = (head: Uint8Array) => Buffer;

export function frameSigner(secret: string, call: string): FrameSigner {
  let number = 0;
  return (head) =>
    hmac(secret, ["frame", call, String(number++), Buffer.from(head).toString("hex")]);
}

/**
 * Returns whether the headers contain the right signature, in hex, and nothing else in its place. So two signature
 * headers are rejected.
 */
function isRight(headers: ReadHeaders, right: Buffer): boolean {
  const given = headers.get(SIGNATURE) ?? "";
  return /^[0-9a-f]{64}$/.test(given) && timingSafeEqual(Buffer.from(given, "hex"), right);
}

const hmac = (secret: string, parts: readonly string[]): Buffer =>
  createHmac("sha256", secret).update(parts.join("\0")).digest();
