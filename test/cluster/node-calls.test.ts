/** What crosses between a front and a node, over real connections. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { nodeClient, NodeFailed } from "../../src/cluster/front/node-client.ts";
import { nodeHandler, type NodeOptions } from "../../src/cluster/node/node-handler.ts";
import { decode, encode } from "../../src/cluster/wire/codec.ts";
import { isBodyOf, isSigned, sign } from "../../src/cluster/wire/signature.ts";
import { QuernError } from "../../src/base/errors.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { zeroStats } from "../../src/search/messages/stats.ts";
import type { Heads } from "../../src/search/caller/heads.ts";
import { viewOf } from "../../src/store/catalog/view.ts";
import type { Catalog } from "../../src/store/catalog/catalog.ts";

const SECRET = "a secret of the machines";

const heads: Heads = {
  stats: { ...zeroStats(), totalMatchCount: 3 },
  ends: [[7, "shardsScanned"]],
  files: {
    names: ["acme/api", "ünïcode"],
    scores: Int32Array.of(900, -5),
    segments: Uint32Array.of(7, 7),
    files: Uint32Array.of(0, 4_000_000_000),
    counts: Uint32Array.of(1, 2),
    repositories: Uint32Array.of(0, 1),
    pathStarts: Uint32Array.of(0, 1, 3),
    paths: Uint8Array.of(97, 98, 255),
    hashes: new Uint8Array(40).fill(9),
  },
  facets: {
    repositories: new Map([["acme/api", 1]]),
    languages: new Map([["TypeScript", 2]]),
    folders: new Map(),
  },
};

/** A node that holds generation 4 of shard 1 and answers with the same heads. */
async function serve(changes: Partial<NodeOptions> = {}) {
  const released = { count: 0 };
  const handler = nodeHandler({
    secret: SECRET,
    maxConcurrent: 4,
    answers: {
      "/v1/search": () => Promise.resolve(heads),
      "/v1/show": () => Promise.reject(new QuernError("QUERY_SYNTAX", "no", { position: 2 })),
    },
    hold: (slices) =>
      Promise.resolve(
        slices.every(([shard, generation]) => shard === 1 && generation === 4)
          ? {
              view: viewOf({} as Catalog),
              viewer: undefined,
              release: () => void released.count++,
            }
          : undefined,
      ),
    ...changes,
  });
  const server = createServer(toNodeListener(handler)).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const client = nodeClient(SECRET);
  onTestFinished(async () => {
    client.close();
    await new Promise((done) => server.close(done));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, client, released };
}

const asked = { slices: [[1, 4, 0]] as const, request: { query: "x", matches: 5 } };

test("columns, names and maps arrive as what they were", async () => {
  const { url, client, released } = await serve();
  expect(await client.ask(url, "/v1/search", asked)).toEqual(heads);
  expect(decode(encode(heads))).toEqual(heads);
  expect(released.count).toBe(1);
});

test("a refusal is the QuernError that it was, with its position", async () => {
  const { url, client, released } = await serve();
  await expect(client.ask(url, "/v1/show", { ...asked, files: [] })).rejects.toMatchObject({
    name: "QuernError",
    code: "QUERY_SYNTAX",
    message: "no",
    position: 2,
  });
  expect(released.count).toBe(1);
});

test("another replica may have it: not ready, overloaded, unreachable, its own damage", async () => {
  const { url, client } = await serve();
  const why = async (...call: Parameters<typeof client.ask>) => {
    const error: unknown = await client.ask(...call).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NodeFailed);
    return (error as NodeFailed).why;
  };
  expect(await why(url, "/v1/search", { ...asked, slices: [[1, 5, 0]] })).toBe("not-ready");
  expect(await why("http://127.0.0.1:1", "/v1/search", asked)).toBe("unreachable");
  const full = await serve({ maxConcurrent: 0 });
  expect(await why(full.url, "/v1/search", asked)).toBe("overloaded");
  const damaged = await serve({ hold: () => Promise.reject(new QuernError("INDEX_CORRUPT", "!")) });
  expect(await why(damaged.url, "/v1/search", asked)).toBe("unreachable");
});

test("an abort of the caller ends the search of the node", async () => {
  let hear = (): void => undefined;
  const heard = new Promise<void>((resolve) => (hear = resolve));
  const { url, client, released } = await serve({
    answers: {
      "/v1/search": (_asked, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            hear();
            reject(new QuernError("ABORTED", "aborted"));
          }),
        ),
    },
  });
  const stop = new AbortController();
  const answer = client.ask(url, "/v1/search", asked, stop.signal);
  setTimeout(() => stop.abort(), 50);
  await expect(answer).rejects.toMatchObject({ code: "ABORTED" });
  await heard;
  await expect.poll(() => released.count).toBe(1);
});

test("nobody without the secret learns anything, nor with what he has recorded", async () => {
  const { url, client } = await serve();
  const body = encode(asked);
  const path = "/v1/search";
  const post = async (headers: Record<string, string>, sent = body, to = path) => {
    const response = await fetch(url + to, { method: "POST", headers, body: sent });
    return [response.status, (await response.arrayBuffer()).byteLength > 0] as const;
  };
  const signed = sign(SECRET, { method: "POST", path, body });
  const nothing = [401, false];
  expect(await post(signed)).toEqual([200, true]);
  const old = sign(SECRET, { method: "POST", path, body }, Date.now() - 61_000);
  const early = sign(SECRET, { method: "POST", path, body }, Date.now() + 61_000);
  const rows: readonly [
    what: string,
    headers: Record<string, string>,
    sent?: Uint8Array,
    to?: string,
  ][] = [
    ["no headers", {}],
    ["another secret", sign("another", { method: "POST", path, body })],
    ["a minute later", old],
    ["a minute before", early],
    ["an old one with a new time", { ...old, "x-quern-node-time": String(Date.now()) }],
    ["another body", signed, encode({ ...asked, request: { query: "y", matches: 5 } })],
    ["another call", signed, body, "/v1/show"],
    ["half a signature", { ...signed, "x-quern-node-signature": "00" }],
    ["no time", { ...signed, "x-quern-node-time": "soon" }],
    ["a call that is not there", {}, body, "/v1/nothing"],
  ];
  for (const [what, headers, sent, to] of rows)
    expect(await post(headers, sent ?? body, to ?? path), what).toEqual(nothing);
  const stranger = nodeClient("another");
  onTestFinished(() => stranger.close());
  await expect(stranger.ask(url, path, asked)).rejects.toMatchObject({ why: "unknown" });
  expect(await client.ask(url, path, asked)).toEqual(heads);
});

test("a call that is not there is 404 for those who know the secret", async () => {
  const { url } = await serve();
  for (const path of ["/v1/nothing", "/v1/constructor", "/toString"]) {
    const body = new Uint8Array();
    const headers = sign(SECRET, { method: "POST", path, body });
    expect((await fetch(url + path, { method: "POST", headers })).status).toBe(404);
  }
});

test("a signature is for one method, path, time and body", () => {
  const body = Buffer.from("body");
  const request = { method: "POST", path: "/v1/search", body };
  const headers = new Headers(sign(SECRET, request, 1_000_000));
  const at = (now: number) => isSigned(SECRET, { ...request, headers }, now);
  expect([at(1_000_000), at(1_060_000), at(1_060_001), at(939_999)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(isSigned(SECRET, { ...request, method: "GET", headers }, 1_000_000)).toBe(false);
  expect([isBodyOf(headers, body), isBodyOf(headers, Buffer.from("Body"))]).toEqual([true, false]);
});
