/** Tests calls from a front to a node, and their answers, over real connections. */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { nodeClient, NodeFailed, type NodeClient } from "../../src/cluster/front/node-client.ts";
import { fetchHandler } from "../../src/base/direct-handlers.ts";
import { nodeHandler, type NodeOptions } from "../../src/cluster/node/node-handler.ts";
import { STREAM, type SentStep } from "../../src/cluster/wire/calls.ts";
import { decode, decodeFrames, encode, frameOf } from "../../src/cluster/wire/codec.ts";
import { Holder } from "../../src/cluster/node/holder.ts";
import {
  frameSigner,
  isBodyOf,
  isSigned,
  sign,
  signAnswer,
} from "../../src/cluster/wire/signature.ts";
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

/** Starts a node that holds generation 4 of shard 1 and always answers with the same heads. */
async function serve(changes: Partial<NodeOptions> = {}) {
  const released = { count: 0 };
  const handler = fetchHandler(
    nodeHandler({
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
                originOf: (segment) => [1, segment],
                release: () => void released.count++,
              }
            : undefined,
        ),
      ...changes,
    }),
  );
  const server = createServer(toNodeListener(handler)).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const client = nodeClient(SECRET);
  onTestFinished(async () => {
    client.close();
    await new Promise((done) => server.close(done));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, client, released, handler };
}

const callOf = (headers: Record<string, unknown>) => String(headers["x-quern-node-signature"]);

const asked = { slices: [[1, 4, 0]] as const, request: { query: "x", matches: 5 } };

test("columns, names and maps arrive unchanged", async () => {
  const { url, client, released } = await serve();
  expect(await client.ask(url, "/v1/search", asked)).toEqual(heads);
  expect(decode(encode(heads))).toEqual(heads);
  expect(released.count).toBe(1);
});

test("a QuernError of a node arrives as a QuernError, with its position", async () => {
  const { url, client, released } = await serve();
  await expect(client.ask(url, "/v1/show", { ...asked, files: [] })).rejects.toMatchObject({
    name: "QuernError",
    code: "QUERY_SYNTAX",
    message: "no",
    position: 2,
  });
  expect(released.count).toBe(1);
});

test("a node that is not ready, overloaded, unreachable or damaged fails with a NodeFailed", async () => {
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

test("an abort by the caller ends the node's search", async () => {
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

test.each([true, false])(
  "a caller without the secret learns nothing (fetch: %s)",
  async (isFetch) => {
    const { url, client, handler } = await serve();
    const body = encode(asked);
    const path = "/v1/search";
    const post = async (headers: Record<string, string>, sent = body, to = path) => {
      const init = { method: "POST", headers, body: sent };
      const response = await (isFetch
        ? handler(new Request(url + to, init))
        : fetch(url + to, init));
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
      ["an old signature with a new time", { ...old, "x-quern-node-time": String(Date.now()) }],
      ["another body", signed, encode({ ...asked, request: { query: "y", matches: 5 } })],
      ["another call", signed, body, "/v1/show"],
      ["half a signature", { ...signed, "x-quern-node-signature": "00" }],
      ["two signatures", { ...signed, "x-quern-node-signature": `${callOf(signed)}, x` }],
      ["a query after the path", signed, body, "/v1/search?x=1"],
      ["no time", { ...signed, "x-quern-node-time": "soon" }],
      ["an unknown call", {}, body, "/v1/nothing"],
    ];
    for (const [what, headers, sent, to] of rows)
      expect(await post(headers, sent ?? body, to ?? path), what).toEqual(nothing);
    const stranger = nodeClient("another");
    onTestFinished(() => stranger.close());
    await expect(stranger.ask(url, path, asked)).rejects.toMatchObject({ why: "unknown" });
    expect(await client.ask(url, path, asked)).toEqual(heads);
  },
);

test("an unknown call is answered with 404 if the caller knows the secret", async () => {
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
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  expect([isBodyOf(headers, sha256("body")), isBodyOf(headers, sha256("Body"))]).toEqual([
    true,
    false,
  ]);
});

/** The most processor time of a refusal, including the client's part. Decoding millionsOfMaps() takes 5 700 ms. */
const LITTLE_MS = 2_000;

/** Returns 20 MB of maps. Decoding them takes a gigabyte and several seconds. */
const millionsOfMaps = (): Buffer =>
  Buffer.concat([Buffer.from("dd01312d00", "hex"), Buffer.alloc(20_000_000, 0x80)]);

/**
 * Calls that somebody who knows the secret could send. Fronts never send these, so they are refused, at little cost.
 */
const HOSTILE_CALLS: [what: string, body: () => Uint8Array][] = [
  ["nothing", () => new Uint8Array(0)],
  ["nested lists", () => Buffer.concat([Buffer.alloc(2 ** 20, 0x91), Buffer.of(0xc0)])],
  ["a list of four billion", () => Buffer.from("ddffffffff", "hex")],
  ["a map of four billion", () => Buffer.from("dfffffffff", "hex")],
  ["a text of four billion", () => Buffer.from("dbffffffff", "hex")],
  ["millions of empty maps", () => millionsOfMaps()],
  ["null", () => encode(null)],
  ["slices that are not a list", () => encode({ ...asked, slices: "x" })],
  ["no slices", () => encode({ request: asked.request })],
  ["a slice of billions", () => encode({ ...asked, slices: [[1e9, 1e9, 1e9]] })],
  ["a megabyte of slices", () => encode({ ...asked, slices: Array(100_000).fill([1, 5, 0]) })],
];

test.each(HOSTILE_CALLS)("a signed call with %s is rejected at little cost", async (_, body) => {
  const { url } = await serve();
  const given = Buffer.from(body());
  const path = "/v1/search";
  const headers = sign(SECRET, { method: "POST", path, body: given });
  const before = process.cpuUsage();
  const response = await fetch(url + path, { method: "POST", headers, body: given });
  expect([400, 409, 422]).toContain(response.status);
  await response.arrayBuffer();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(LITTLE_MS);
});

test("captured headers do not admit a body that is longer than the call", async () => {
  const handler = fetchHandler(
    nodeHandler({
      secret: SECRET,
      maxConcurrent: 1,
      answers: { "/v1/search": () => Promise.resolve(heads) },
      hold: () => Promise.resolve(undefined),
    }),
  );
  const path = "/v1/search";
  const headers = sign(SECRET, { method: "POST", path, body: encode(asked) });
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(2 ** 20));
      if (++sent > 200) controller.close();
    },
  });
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  expect((await handler(new Request(`http://node${path}`, init))).status).toBe(401);
  expect(sent).toBeLessThan(80); // MiB, of which 64 are taken
});

/** What a faulty node that knows the secret could answer. */
const SICK_ANSWERS: [what: string, body: () => Uint8Array][] = [
  ["nested lists", () => Buffer.alloc(2 ** 20, 0x91)],
  ["a list of four billion", () => Buffer.from("ddffffffff", "hex")],
  ["millions of empty maps", () => millionsOfMaps()],
  ["null", () => encode(null)],
  ["a prototype", () => Buffer.from("82a95f5f70726f746f5f5f81a17801a57374617473c0", "hex")],
  ["other columns", () => encode({ ...heads, files: { ...heads.files, paths: [1, 2] } })],
  ["no counters", () => encode({ ...heads, stats: null })],
  ["a step without files", () => encode({ step: { event: { type: "chunk" }, files: [] } })],
  ["a last step without counters", () => encode({ step: { event: { type: "final" }, files: [] } })],
  ["a failure without a message", () => encode({ failure: 1 })],
];

test.each(SICK_ANSWERS)("an answer with %s counts as a failure of the node", async (_, body) => {
  const { url, client } = await answering((request, response) => {
    const given = Buffer.from(body());
    const call = callOf(request.headers);
    const isStream = request.url === STREAM;
    const digest = createHash("sha256").update(given).digest("hex");
    const whole = { body: { bytes: given.length, digest } };
    const headers = signAnswer(SECRET, { call, status: 200, ...(!isStream && whole) });
    const sent = isStream ? frameOf(given, frameSigner(SECRET, call)) : given;
    response.writeHead(200, headers).end(sent);
  });
  const before = process.cpuUsage();
  await expect(client.ask(url, "/v1/search", asked)).rejects.toMatchObject({ why: "unreachable" });
  await expect(stepsOf(client, url)).rejects.toMatchObject({ why: "unreachable" });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(LITTLE_MS);
});

// ── attackers in a node's place ──

async function stepsOf(client: NodeClient, url: string): Promise<SentStep[]> {
  const steps: SentStep[] = [];
  for await (const step of await client.stream(url, asked)) steps.push(step);
  return steps;
}

const chunk = (name: string): SentStep => ({
  event: {
    type: "chunk",
    stats: zeroStats(),
    files: [{ fileName: { text: name, matchRanges: [] }, repository: "r", chunks: [] }],
    repositoryInfo: [],
  } as unknown as SentStep["event"],
  files: [],
});
const final: SentStep = {
  event: { type: "final", accumulatedStats: zeroStats(), isSearchExhaustive: true },
  files: [],
};
const steps = [chunk("a"), chunk("b"), final];

interface Sent {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Starts a proxy in front of a node. It alters the node's answers. */
async function altering(alter: (sent: Sent) => Sent) {
  const node = await serve({
    answers: {
      "/v1/search": () => Promise.resolve(heads),
      "/v1/stream": async function* () {
        yield* steps;
      },
    },
  });
  return answering((request, response, body) => {
    const init = { method: "POST", headers: request.headers as Record<string, string>, body };
    void fetch(node.url + request.url, init).then(async (answer) => {
      const headers = Object.fromEntries(answer.headers);
      delete headers["transfer-encoding"];
      const bytes = Buffer.from(await answer.arrayBuffer());
      const sent = alter({ status: answer.status, headers, body: bytes });
      response.writeHead(sent.status, sent.headers).end(sent.body);
    });
  });
}

const flipped = (body: Buffer, at: number): Buffer => {
  const other = Buffer.from(body);
  other[at]! ^= 1;
  return other;
};
const withHeaders = (headers: Record<string, string>) => (sent: Sent) => ({
  ...sent,
  headers: { ...sent.headers, ...headers },
});
const SIGNATURE = "x-quern-node-signature";

test("a proxy that alters nothing is accepted", async () => {
  const { url, client } = await altering((sent) => sent);
  expect(await client.ask(url, "/v1/search", asked)).toEqual(heads);
  expect(await stepsOf(client, url)).toEqual(steps);
});

test.each<[what: string, alter: (sent: Sent) => Sent]>([
  ["no signature", withHeaders({ [SIGNATURE]: "" })],
  ["another signature", withHeaders({ [SIGNATURE]: "0".repeat(64) })],
  [
    "a second signature",
    (sent) => withHeaders({ [SIGNATURE]: `${callOf(sent.headers)}, x` })(sent),
  ],
  ["another digest", withHeaders({ "x-quern-node-digest": "0".repeat(64) })],
  ["another status", (sent) => ({ ...sent, status: 422 })],
  ["the status of a node that is not ready", (sent) => ({ ...sent, status: 409 })],
  ["the status of an overloaded node", (sent) => ({ ...sent, status: 429 })],
])("an answer with %s is not accepted as a node's", async (_, alter) => {
  const { url, client } = await altering(alter);
  await expect(client.ask(url, "/v1/search", asked)).rejects.toMatchObject({ why: "unknown" });
  await expect(stepsOf(client, url)).rejects.toMatchObject({ why: "unknown" });
});

/** Positions in frames of a length, a digest, a signature, and a value. */
test.each([0, 3, 4, 35, 36, 67, 68, 100])("a change of byte %i is detected", async (at) => {
  const { url, client } = await altering((sent) => ({ ...sent, body: flipped(sent.body, at) }));
  await expect(client.ask(url, "/v1/search", asked)).rejects.toMatchObject({ name: "Error" });
  await expect(stepsOf(client, url)).rejects.toMatchObject({ why: "unreachable" });
});

test.each<[what: string, alter: (frames: Buffer[]) => Buffer[]]>([
  ["reordered", ([a, b, c]) => [b!, a!, c!]],
  ["repeated", ([a, b, c]) => [a!, a!, b!, c!]],
  ["omitted", ([a, , c]) => [a!, c!]],
  ["cut off", ([a]) => [a!.subarray(0, -1)]],
])("frames that are %s are detected", async (_, alter) => {
  const { url, client } = await altering((sent) => {
    const frames: Buffer[] = [];
    for (let rest = sent.body; rest.length > 0; rest = rest.subarray(frames.at(-1)!.length))
      frames.push(rest.subarray(0, 68 + rest.readUInt32LE()));
    expect(frames.length).toBe(steps.length);
    return { ...sent, body: Buffer.concat(alter(frames)) };
  });
  await expect(stepsOf(client, url)).rejects.toMatchObject({ why: "unreachable" });
});

test("a recorded answer to one call is not accepted for another", async () => {
  const recorded: Sent[] = [];
  const { url, client } = await altering((sent) => {
    recorded.push(sent);
    return recorded[0]!;
  });
  expect(await client.ask(url, "/v1/search", asked)).toEqual(heads);
  const other = { ...asked, request: { query: "y", matches: 5 } };
  await expect(client.ask(url, "/v1/search", other)).rejects.toMatchObject({ why: "unknown" });
});

test("an answer that is not signed is not read", async () => {
  let written = 0;
  const { url, client } = await answering((_request, response) => {
    const head = Buffer.from("dd01c9c380", "hex"); // a list of thirty million empty maps
    response.writeHead(200).write(head);
    const more = (): void => {
      if (response.destroyed || written > 30) return;
      response.write(Buffer.alloc(2 ** 20, 0x80), more);
      written++;
    };
    more();
  });
  const before = process.cpuUsage();
  await expect(client.ask(url, "/v1/search", asked)).rejects.toMatchObject({ why: "unknown" });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(LITTLE_MS);
  expect(written).toBeLessThan(20); // MiB, in buffers of the kernel
});

test("a frame of four gigabytes is rejected without waiting for it", async () => {
  let sent = 0;
  const head = Buffer.alloc(36, 0xff);
  const sign = () => frameSigner(SECRET, "call");
  const bytes = async function* () {
    yield Buffer.concat([head, sign()(head)]);
    for (; sent < 1_000; sent++) yield Buffer.alloc(1_000, 0xff);
  };
  const read = async () => {
    for await (const _ of decodeFrames(bytes(), sign()));
  };
  await expect(read()).rejects.toThrow("too long");
  expect(sent).toBe(0);
});

test("many slices are looked up in linear time", async () => {
  const before = process.cpuUsage();
  expect(await new Holder().hold(Array(50_000).fill([1, 5, 0]))).toBeUndefined();
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(300); // ms; a quadratic search takes seconds
});

/** Starts a server that only pretends to be a node. */
async function answering(
  answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void,
) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => answer(request, response, Buffer.concat(parts)));
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const client = nodeClient(SECRET);
  onTestFinished(async () => {
    client.close();
    await new Promise((done) => server.close(done));
  });
  return { client, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
