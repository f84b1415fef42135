/**
 * The time of a check of a webhook's proof does not depend on how much of the proof is right. Times on a busy machine
 * say little, so this counts what is compared: always 32 bytes, by timingSafeEqual(), and as often for a proof that
 * differs in the first character as for one that differs in the last.
 */

import { createHmac } from "node:crypto";
import type * as Crypto from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import type { ConnectionType } from "../../src/sync/index.ts";
import { isGenuine } from "../../src/sync/webhooks.ts";

const { compared } = vi.hoisted(() => ({ compared: [] as number[] }));
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof Crypto>();
  const timingSafeEqual = (a: Uint8Array, b: Uint8Array): boolean => {
    compared.push(a.length, b.length);
    return crypto.timingSafeEqual(a, b);
  };
  return { ...crypto, default: { ...crypto, timingSafeEqual }, timingSafeEqual };
});
beforeEach(() => void compared.splice(0));

const SECRET = "webhook-secret-0123";
const KEY = Buffer.from("0123456789abcdef0123456789abcdef");
const SIGNING = `whsec_${KEY.toString("base64")}`;
const NOW = Date.parse("2026-01-01T00:00:00Z");
const BODY = Buffer.from(`{"a":1}`);
const hex = createHmac("sha256", SECRET).update(BODY).digest("hex");
const mac = createHmac("sha256", KEY)
  .update(`m1.${NOW / 1_000}.`)
  .update(BODY)
  .digest("base64");
const basic = `Basic ${Buffer.from(`quern:${SECRET}`).toString("base64")}`;

const PROOFS: readonly [ConnectionType, secret: string, header: string, proof: string][] = [
  ["github", SECRET, "x-hub-signature-256", `sha256=${hex}`],
  ["bitbucket", SECRET, "x-hub-signature", `sha256=${hex}`],
  ["gitea", SECRET, "x-gitea-signature", hex],
  ["gitlab", SECRET, "x-gitlab-token", SECRET],
  ["gitlab", SIGNING, "webhook-signature", `v1,${mac}`],
  ["azuredevops", SECRET, "authorization", basic],
];

/** The proof with another character at `at`. */
const changed = (proof: string, at: number): string =>
  proof.slice(0, at) + (proof[at] === "A" ? "B" : "A") + proof.slice(at + 1);

test.each(PROOFS)("%s with the secret %s", async (type, secret, header, proof) => {
  const check = async (given: string) => {
    compared.splice(0);
    const headers = new Headers({ "webhook-id": "m1", "webhook-timestamp": String(NOW / 1_000) });
    headers.set(header, given);
    const told = { secret, username: "quern" };
    return [await isGenuine(type, { headers, body: BODY }, told, NOW), ...compared];
  };
  const [isRight, ...lengths] = await check(proof);
  expect(isRight).toBe(true);
  expect(lengths.length).toBeGreaterThan(0);
  const [isWrong, ...first] = await check(changed(proof, 0));
  expect(isWrong).toBe(false);
  expect(new Set(first)).toEqual(new Set([32]));
  for (const given of [
    ...Array.from(proof, (_, at) => changed(proof, at)),
    "",
    proof.slice(0, -1),
    `${proof}A`,
    "A".repeat(10_000),
  ])
    expect(await check(given), given.slice(0, 80)).toEqual([false, ...first]);
});
