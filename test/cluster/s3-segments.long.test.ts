/** A store of objects in an S3 service keeps the contract of every store, even if connections break and stall. */

import { createServer, request, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import {
  ListMultipartUploadsCommand,
  PutObjectCommand,
  type S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { s3Segments, type S3SegmentsOptions, type SegmentStore } from "../../src/cluster/index.ts";
import { segmentStoreSuite } from "../../src/testing.ts";
import { startFaultyProxy, type ServerFault } from "./faulty-proxy.ts";
import { openFront, startNodes } from "./fronts.ts";
import { code, found, newCluster } from "./machines.ts";
import { isThere as hasPostgres } from "./postgres.ts";
import {
  clientOn,
  emptyBucket,
  isSwift,
  isThere,
  s3Test,
  startS3,
  type S3Server,
} from "./s3-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { fill, searching } from "./under-load.ts";
import { someOf } from "../runs.ts";

const folder = temporaryFolder();
let server: S3Server;
let client: S3Client;
let bucket: string;

beforeAll(async () => {
  if (!isThere) return;
  server = await startS3(folder.path);
  client = clientOn(server.port);
  bucket = await emptyBucket(client);
});
afterAll(async () => {
  await server?.stop();
  folder[Symbol.dispose]();
});

describe("s3Segments", () => {
  // Swift takes a minute and a half for a thousand objects, so its own test below lists 50 at a time
  const run = (name: string, one: () => Promise<void>): void => {
    if (name !== "a long list is whole" || !isSwift) s3Test(name, one);
  };
  segmentStoreSuite({ test: run }, async () => s3Segments(client, { bucket, prefix: "a/suite" }));

  s3Test("a list of several pages is whole", async () => {
    const store = s3Segments(client, { bucket, prefix: "pages" });
    const keys = Array.from({ length: 101 }, (_, n) => `v1/${String(n).padStart(3, "0")}`);
    for (const key of keys) await store.put(key, inPieces(numbered(4)), 4);
    expect(await keysOf(store)).toEqual(keys);
  });
});

const MIB = 2 ** 20;

/** Returns bytes that depend on their position, so that a piece in the wrong place is noticed. */
function numbered(bytes: number): Buffer {
  const body = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) body.writeUInt32LE(at, at);
  return body;
}

async function* inPieces(body: Uint8Array, bytes = 700_001): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += bytes) yield body.subarray(at, at + bytes);
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function keysOf(store: ReturnType<typeof s3Segments>, prefix = ""): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

describe("large objects", () => {
  const BODY = numbered(37 * MIB + 5);

  s3Test("go up in parts and come back whole", async () => {
    const store = s3Segments(client, { bucket, prefix: "large" });
    await store.put("v1/whole", inPieces(BODY), BODY.length);
    expect((await readAll(await store.get("v1/whole"))).equals(BODY)).toBe(true);
    const range = [16 * MIB - 3, 32 * MIB + 3] as const;
    const part = await readAll(await store.get("v1/whole", range));
    expect(part.equals(BODY.subarray(...range))).toBe(true);
  });

  s3Test("that break leave neither an object nor parts", async () => {
    const store = s3Segments(client, { bucket, prefix: "broken" });
    const broken = async function* () {
      yield* inPieces(BODY.subarray(0, 36 * MIB));
      throw new Error("the disk is gone");
    };
    await expect(store.put("v1/a", broken(), BODY.length)).rejects.toThrow("the disk is gone");
    const short = inPieces(BODY.subarray(0, 20 * MIB));
    await expect(store.put("v1/a", short, BODY.length)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
    expect(await keysOf(store)).toEqual([]);
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    expect(Uploads).toEqual([]);
  });
});

s3Test("prefixes know nothing of each other, and foreign objects are left out", async () => {
  const one = s3Segments(client, { bucket, prefix: "one/" });
  const other = s3Segments(client, { bucket, prefix: "one/two" });
  await one.put("v1/a", inPieces(numbered(8)), 8);
  await other.put("v1/b", inPieces(numbered(8)), 8);
  const foreign = { Bucket: bucket, Key: "one/two/README.md", Body: "mine" };
  await client.send(new PutObjectCommand(foreign));
  expect(await keysOf(other)).toEqual(["v1/b"]);
  expect(await keysOf(one)).toEqual(["two/v1/b", "v1/a"]);
  await expect(other.get("v1/a")).rejects.toMatchObject({ code: "INDEX_NOT_FOUND" });
});

describe("errors", () => {
  const cases: [string, () => S3SegmentsOptions, S3ClientConfig, object][] = [
    [
      "a missing bucket",
      () => ({ bucket: "nobody-has-made-it" }),
      {},
      { code: "INVALID_REQUEST", message: expect.stringContaining("nobody-has-made-it") },
    ],
    [
      "credentials that are rejected",
      () => ({ bucket }),
      { credentials: { accessKeyId: "quern:test", secretAccessKey: "wrong" } },
      { code: "PERMISSION_DENIED", message: expect.stringContaining("s3:GetObject") },
    ],
  ];
  s3Test.each(cases)("%s: the error says what is wrong", async (_, options, config, error) => {
    const store = s3Segments(clientOn(server.port, config), options());
    await expect(store.put("a", inPieces(numbered(4)), 4)).rejects.toMatchObject(error);
    await expect(store.get("a")).rejects.toMatchObject(error);
    await expect(keysOf(store)).rejects.toMatchObject(error);
  });

  test.each<[object, string]>([
    [{ bucket: "" }, "bucket must be the name of a bucket"],
    [{}, "bucket must be the name of a bucket"],
    [{ bucket: "b", prefix: "/a" }, "prefix must be names"],
    [{ bucket: "b", prefix: "a//b" }, "prefix must be names"],
    [{ bucket: "b", timeoutMs: 0 }, "timeoutMs must be an integer"],
    [{ bucket: "b", region: "x" }, "unknown option"],
  ])("options %j are rejected", (options, message) => {
    const made = (): unknown => s3Segments(clientOn(1), options as S3SegmentsOptions);
    expect(made).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
    expect(made).toThrow(message);
  });

  test("a client that is not an S3Client is rejected", () => {
    const none = {} as unknown as S3Client;
    expect(() => s3Segments(none, { bucket: "b" })).toThrow("client must be an S3Client");
  });
});

// ── between the client and the service ──

type Spoil = (body: Buffer, response: ServerResponse, request: number) => void;

/** Returns a client whose downloads pass through `spoil`. Each download has a number, from 1. */
async function clientThrough(spoil: Spoil): Promise<S3Client> {
  let downloads = 0;
  const proxy = createServer((asked, answer) => {
    const { method, url: path, headers } = asked;
    const onward = request({ host: "127.0.0.1", port: server.port, method, path, headers });
    onward.on("response", (got) => {
      if (method !== "GET" || got.statusCode! >= 300) {
        answer.writeHead(got.statusCode!, got.headers);
        got.pipe(answer);
        return;
      }
      const number = ++downloads;
      void readAll(got).then((body) => {
        answer.writeHead(got.statusCode!, got.headers);
        spoil(body, answer, number);
      });
    });
    asked.pipe(onward);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return clientOn((proxy.address() as AddressInfo).port);
}

describe("on an unreliable connection", () => {
  const BODY = numbered(400_000);
  const put = (key: string) =>
    s3Segments(client, { bucket }).put(key, inPieces(BODY, 100_000), BODY.length);
  const cutAt = (body: Buffer, answer: ServerResponse, bytes: number): void => {
    answer.write(body.subarray(0, bytes), () => answer.destroy());
  };

  s3Test("a body that breaks off is resumed, whole or in a range", async () => {
    await put("cut");
    const cut = await clientThrough((body, answer, number) =>
      number % 3 === 0 ? answer.end(body) : cutAt(body, answer, 90_000),
    );
    const store = s3Segments(cut, { bucket });
    expect((await readAll(await store.get("cut"))).equals(BODY)).toBe(true);
    const range = [10_001, 399_000] as const;
    const part = await readAll(await store.get("cut", range));
    expect(part.equals(BODY.subarray(...range))).toBe(true);
  });

  s3Test("a body that cannot be resumed is given up", async () => {
    await put("gone");
    let downloads = 0;
    const gone = await clientThrough((body, answer, number) => {
      downloads = number;
      cutAt(body, answer, number === 1 ? 1000 : 0);
    });
    const store = s3Segments(gone, { bucket });
    await expect(store.get("gone").then(readAll)).rejects.toThrow();
    expect(downloads).toBeGreaterThan(2);
  });

  s3Test("wrong bytes are rejected if the service sends a checksum", async () => {
    const key = "v1/other";
    await put(key);
    const other = await clientThrough((body, answer) => {
      const copy = Buffer.from(body);
      copy[5]! ^= 1;
      answer.end(copy);
    });
    const read = s3Segments(other, { bucket }).get(key).then(readAll);
    // Swift sends no checksum, but readers of objects know their SHA-256
    const got = await read.catch((error: unknown) => error);
    if (Buffer.isBuffer(got)) expect(got.equals(BODY)).toBe(false);
    else expect(got).toMatchObject({ code: "INDEX_CORRUPT" });
  });

  s3Test(
    "a body that stalls is requested again, and one that always stalls is reported",
    async () => {
      await put("slow");
      const once = await clientThrough((body, answer, number) => {
        if (number === 1) answer.write(body.subarray(0, 1000));
        else answer.end(body);
      });
      const patient = s3Segments(once, { bucket, timeoutMs: 2_000 });
      expect((await readAll(await patient.get("slow"))).equals(BODY)).toBe(true);
      const always = await clientThrough((_, answer) => answer.flushHeaders());
      const store = s3Segments(always, { bucket, timeoutMs: 300 });
      await expect(store.get("slow").then(readAll)).rejects.toThrow("timeoutMs");
    },
  );

  s3Test("a service that does not answer is reported", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => {
      silent.close();
      silent.closeAllConnections();
    });
    const deaf = clientOn((silent.address() as AddressInfo).port);
    const store = s3Segments(deaf, { bucket: "b", timeoutMs: 300 });
    for (const call of [store.get("a"), keysOf(store), store.delete("a")])
      await expect(call).rejects.toMatchObject({
        name: "TimeoutError",
        message: expect.stringContaining("bucket b sent nothing for 300 ms"),
      });
  });

  s3Test("a signal ends running calls", async () => {
    await put("aborted");
    const stalled = await clientThrough((body, answer) => void answer.write(body.subarray(0, 9)));
    const store = s3Segments(stalled, { bucket });
    const stop = new AbortController();
    const reading = store.get("aborted", undefined, stop.signal).then(async (body) => {
      for await (const piece of body) if (piece.length > 0) stop.abort();
    });
    await expect(reading).rejects.toMatchObject({ code: "ABORTED" });
    const { signal } = stop;
    for (const call of [
      store.get("aborted", undefined, signal),
      store.put("aborted", inPieces(BODY), BODY.length, signal),
      store.delete("aborted", signal),
      store.list("", signal)[Symbol.asyncIterator]().next(),
    ])
      await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  });
});

test.runIf(isThere && hasPostgres)(
  "machines of a cluster find in S3 what each machine has published",
  async () => {
    const segments = s3Segments(client, { bucket, prefix: "cluster" });
    const cluster = await newCluster({ segments });
    const [one, other] = [await cluster.open(), await cluster.open()];
    await one.index(code("shop", "export function needle() {}\n"));
    await other.refresh();
    expect(await found(other, "sym:needle")).toEqual(["shop: export function needle() {}"]);
    expect(await other.check()).toMatchObject({ ok: true });
  },
);

test.runIf(isThere && hasPostgres)(
  "searches continue while the service is killed and comes back",
  async () => {
    using own = temporaryFolder();
    let service = await startS3(own.path);
    onTestFinished(() => service.stop());
    const place = { bucket: await emptyBucket(clientOn(service.port)) };
    const openStore = (maxAttempts: number) =>
      s3Segments(clientOn(service.port, { maxAttempts }), place);
    let now = openStore(1);
    const segments: SegmentStore = {
      ...now,
      put: (...given) => now.put(...given),
      get: (...given) => now.get(...given),
    };
    const cluster = await newCluster({ segments, shardBytes: 30, onWarning: () => undefined });
    await startNodes(cluster, 2);
    const front = await openFront(cluster);
    await front.index(code("shop", "needle old\n"));
    await service.stop();
    expect(await found(front, "needle")).toEqual(["shop: needle old"]);
    await expect(front.index(code("shop", "needle new\n"))).rejects.toThrow("ECONNREFUSED");
    expect(await found(front, "needle")).toEqual(["shop: needle old"]);
    service = await startS3(own.path);
    now = openStore(6);
    await front.index(code("shop", "needle new\n"));
    expect(await found(front, "needle")).toEqual(["shop: needle new"]);
    const late = await cluster.open();
    expect(await late.check()).toMatchObject({ ok: true });
  },
);

describe
  .runIf(isThere && hasPostgres)
  .each<ServerFault>(someOf(["hangs", "cuts its answers", "sends other bytes", "is gone"], 4))(
  "between machines of a cluster and a service that %s",
  (fault) => {
    /** Makes a cluster whose machines reach the service directly, and a store that reaches it through a proxy. */
    async function withProxy() {
      const proxy = await startFaultyProxy(server.port);
      const place = { bucket: await emptyBucket(client) };
      const warnings: string[] = [];
      const onWarning = ({ message }: { message: string }) => void warnings.push(message);
      const segments = s3Segments(client, place);
      const cluster = await newCluster({ segments, shardBytes: 30, onWarning });
      const through = s3Segments(clientOn(proxy.port, { maxAttempts: 1 }), place);
      return { proxy, cluster, warnings, through };
    }
    const isTold = fault !== "hangs"; // nothing is reported while calls wait

    test("searches continue, and see new content when the service recovers", async () => {
      const { proxy, cluster, warnings, through } = await withProxy();
      const writer = await cluster.open();
      await fill(writer);
      await startNodes(cluster, 2, { segments: through });
      const front = await openFront(cluster);
      const load = await searching(front);
      proxy.begin(fault);
      const told = warnings.length;
      await writer.index(code("shop", "needle anew\n"));
      if (isTold) await expect.poll(() => warnings.length).toBeGreaterThan(told);
      await load.goesOn(5);
      await load.stop(); // each answer was the first one
      proxy.end();
      await expect.poll(() => found(front, "anew")).toEqual(["shop: needle anew"]);
      expect(await found(front, "needle")).toEqual(await found(writer, "needle"));
    });

    test("a writer publishes when everything is stored", async () => {
      const { proxy, cluster, through } = await withProxy();
      const [other, writer] = [await cluster.open(), await cluster.open({ segments: through })];
      await fill(writer); // so that it has nothing to fetch below
      await other.refresh();
      const before = await found(other, "needle");
      const index = () => writer.index(code("shop", "needle anew\n"));
      proxy.begin(fault);
      const indexed = index().then(
        () => true,
        () => false,
      );
      if (isTold) await indexed;
      await other.refresh();
      expect([before, ["other: needle of another", "shop: needle anew"]]).toContainEqual(
        await found(other, "needle"), // an object may be stored even if the answer is damaged
      );
      proxy.end();
      if (!(await indexed)) await index();
      await other.refresh();
      expect(await found(other, "anew")).toEqual(["shop: needle anew"]);
      expect(await other.check()).toMatchObject({ ok: true });
    });
  },
);
