/** A secret is looked up by its hash, compared in constant time, and never revealed. */

import type * as Crypto from "node:crypto";
import { inspect } from "node:util";
import { beforeEach, expect, test, vi } from "vitest";
import { createApiKey, equalHashes, hashSecret } from "../../src/auth/secrets.ts";
import { identify } from "../../src/auth/principal.ts";
import { memoryTokenStore, type TokenStore } from "../../src/auth/token-store.ts";
import { DEFAULT_PREFIXES } from "../../src/auth/secrets.ts";
import type { Engine } from "../../src/engine.ts";
import { bearer, clientOf, post, startService } from "../http/service.ts";
import { scriptedEngine } from "../http/scripted.ts";

const compared = vi.hoisted(() => [] as [number, number][]);
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof Crypto>();
  const timingSafeEqual: typeof crypto.timingSafeEqual = (a, b) => {
    compared.push([a.byteLength, b.byteLength]);
    return crypto.timingSafeEqual(a, b);
  };
  return { ...crypto, timingSafeEqual };
});
beforeEach(() => void compared.splice(0));

const secrets = { prefixes: DEFAULT_PREFIXES };

/** Returns a store that records its lookups. */
function watched(tokens: TokenStore): { store: TokenStore; asked: string[] } {
  const asked: string[] = [];
  const findByHash = async (hash: string) => {
    asked.push(hash);
    return tokens.findByHash(hash);
  };
  return { store: { ...tokens, findByHash }, asked };
}

const flip = (secret: string, at: number): string =>
  secret.slice(0, at) + (secret[at] === "0" ? "1" : "0") + secret.slice(at + 1);

test("the hashes that a store is asked for reveal nothing about how much of a secret was right", async () => {
  const tokens = memoryTokenStore();
  const { secret } = await createApiKey(tokens, { ownerId: "ada" });
  const { store, asked } = watched(tokens);
  expect(await identify(secret, { tokens: store, secrets })).toBeDefined();
  const wrong = [4, 5, 30, 66, 67].map((at) => flip(secret, at));
  for (const guess of wrong)
    expect(await identify(guess, { tokens: store, secrets })).toBeUndefined();
  expect(asked).toEqual([secret, ...wrong].map((one) => hashSecret(one)));
  expect(asked.join()).not.toContain(secret.slice(4, 12));
  const common = (hash: string) => hash.split("").findIndex((digit, i) => digit !== asked[0]![i]);
  for (const hash of asked.slice(1)) expect(common(hash)).toBeLessThan(8);
});

test("a record from a store is compared as a whole, by timingSafeEqual()", async () => {
  const tokens = memoryTokenStore();
  const { secret } = await createApiKey(tokens, { ownerId: "ada" });
  const record = (await tokens.findByHash(hashSecret(secret)))!;
  // a store that ignores case, compares a prefix, or accepts anything
  const careless = { ...tokens, findByHash: async () => structuredClone(record) };
  expect(await identify(secret, { tokens: careless, secrets })).toBeDefined();
  for (const at of [4, 40, 67])
    expect(await identify(flip(secret, at), { tokens: careless, secrets })).toBeUndefined();
  expect(compared).toEqual(Array(4).fill([64, 64]));
});

test("equalHashes", () => {
  const hash = hashSecret("x");
  expect(equalHashes(hash, hash)).toBe(true);
  for (const at of [0, 31, 63]) expect(equalHashes(hash, flip(hash, at))).toBe(false);
  expect(equalHashes(hash, hash.slice(1))).toBe(false);
  expect(equalHashes("", "")).toBe(true);
});

const broken = (): Engine => {
  const fail = (): Promise<never> => Promise.reject(new Error("the disk is on fire"));
  const stream = async function* (): AsyncGenerator<never> {
    yield await fail();
  };
  return scriptedEngine({ search: fail, stream });
};

test("no secret is in the log, on the console or in the answer, whatever fails", async () => {
  const said: string[] = [];
  for (const name of ["log", "error", "warn", "info", "debug"] as const)
    vi.spyOn(console, name).mockImplementation((...args) => void said.push(inspect(args)));
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((part) => (said.push(String(part)), true));
  try {
    for (const engine of [undefined, broken()]) {
      const service = await startService({}, engine);
      const secret = service.keys.ada;
      const inits: [string, RequestInit][] = [
        ["/api/search", post({ query: "needle", matches: 1 }, bearer(secret))],
        ["/api/stream_search", post({ query: "needle", matches: 1 }, bearer(secret))],
        ["/api/search", post(`{"query":"${secret}`, bearer(secret))],
        [`/api/repos?key=${secret}`, { headers: bearer(secret) }],
        ["/api/repos", { headers: { Authorization: `Basic ${secret}` } }],
        ["/api/repos", { headers: bearer(`${secret}0`) }],
        [`/api/ee/scoped_access_token/${secret}`, { method: "DELETE", headers: bearer(secret) }],
        [`/${secret}`, { headers: bearer(secret) }],
      ];
      for (const [path, init] of inits)
        said.push(await (await clientOf(service.handler)(path, init)).text());
      expect(service.events.length).toBeGreaterThan(5);
      said.push(inspect(service.events, { depth: Infinity, showHidden: true }));
      for (const line of said) expect(line.includes(secret.slice(4))).toBe(false);
    }
  } finally {
    vi.restoreAllMocks();
  }
});
