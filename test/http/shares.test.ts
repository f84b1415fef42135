/** One client cannot use up what all callers share: each client has a share, which limits it while others wait. */

import { createServer, request as connect, type IncomingMessage } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { createApiKey } from "../../src/auth/secrets.ts";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import { forwardedAddress } from "../../src/cli/forwarded-address.ts";
import { keyOf } from "../../src/http/client-key.ts";
import { createHandler } from "../../src/http/handler.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import type { HandlerOptions } from "../../src/http/options.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { listen } from "./mounts.ts";
import { chunkEvent, emptyResponse, scriptedEngine } from "./scripted.ts";
import { bearer, clientOf, post } from "./service.ts";

const MIB = 2 ** 20;
const [file] = (chunkEvent() as { files: FileResult[] }).files;

/** Returns a client of a handler whose answers have this many bytes. */
function serve(bytes: number, options: Partial<HandlerOptions> = {}) {
  const files = [{ ...file!, content: "x".repeat(bytes) }];
  const engine = scriptedEngine({ search: async () => ({ ...emptyResponse(), files }) });
  const clientKey = ({ headers }: Request) => headers.get("x-client") ?? undefined;
  const handler = createHandler(engine, { anonymous: "all", clientKey, maxWaiting: 0, ...options });
  const client = clientOf(handler);
  return (name: string, headers: Record<string, string> = {}) =>
    client("/api/search", post({ query: "x", matches: 1 }, { "x-client": name, ...headers }));
}

/** Sends a request, and begins to read its answer. Resolves to whether it was accepted. */
async function isAccepted(asked: Promise<Response>): Promise<boolean> {
  const { status, body } = await asked;
  if (status === 503) return false;
  expect(status).toBe(200);
  try {
    await body!.getReader().read();
    return true;
  } catch {
    return false;
  }
}

function useFakeTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

const begin = async (ask: ReturnType<typeof serve>, name: string, count: number) => {
  let accepted = 0;
  for (let n = 0; n < count; n++) if (await isAccepted(ask(name))) accepted++;
  return accepted;
};

test("80 unread answers of one client leave every other client its share", async () => {
  useFakeTime();
  const ask = serve(100_000);
  expect(await begin(ask, "greedy", 80)).toBe(64);
  expect(await begin(ask, "ada", 1)).toBe(0); // nobody is a second behind yet
  vi.advanceTimersByTime(1_500);
  expect(await begin(ask, "ada", 40)).toBe(32);
  expect(await begin(ask, "bob", 40)).toBe(11); // what the greedy client has above a third
  vi.advanceTimersByTime(1_500);
  expect(await begin(ask, "bob", 40)).toBe(10);
});

test("without others, a client may use everything; while another waits, it gets no more than its share", async () => {
  useFakeTime();
  const ask = serve(100_000, { maxConcurrent: 4, maxWaiting: 0 });
  const bodies: Response[] = [];
  for (let n = 0; n < 4; n++) bodies.push(await ask("greedy"));
  expect((await ask("ada")).status).toBe(503);
  await bodies.pop()!.body!.cancel();
  expect((await ask("greedy")).status).toBe(503); // the free slot is for the one who waits
  const served = await ask("ada");
  expect(served.status).toBe(200);
  await served.body!.cancel();
  expect((await ask("greedy")).status).toBe(200);
});

test("a client that waits and does not come back is forgotten after five seconds", async () => {
  useFakeTime();
  const ask = serve(100_000, { maxConcurrent: 2, maxWaiting: 0 });
  const bodies = [await ask("greedy"), await ask("greedy")];
  expect((await ask("ada")).status).toBe(503);
  await bodies[0]!.body!.cancel();
  expect((await ask("greedy")).status).toBe(503);
  vi.advanceTimersByTime(5_001);
  expect((await ask("greedy")).status).toBe(200);
});

test("the memory of unread answers is shared in the same way", async () => {
  useFakeTime();
  const ask = serve(40 * MIB);
  expect(await begin(ask, "greedy", 10)).toBe(6);
  vi.advanceTimersByTime(1_500);
  expect(await begin(ask, "ada", 3)).toBe(3);
  expect(await begin(ask, "ada", 3)).toBe(0);
});

test("a client within its share loses nothing to a client that wants more", async () => {
  useFakeTime();
  const ask = serve(100_000, { maxConcurrent: 4, maxWaiting: 0 });
  const bodies = [await ask("ada"), await ask("ada")];
  expect(await begin(ask, "greedy", 9)).toBe(2);
  vi.advanceTimersByTime(5_000);
  expect(await begin(ask, "greedy", 9)).toBe(0);
  for (const { body } of bodies) expect((await body!.getReader().read()).done).toBe(false);
});

test("all credentials of one user are one client", async () => {
  useFakeTime();
  const tokens = memoryTokenStore();
  const keyOfUser = async (ownerId: string) =>
    bearer((await createApiKey(tokens, { ownerId })).secret);
  const [first, second, bob] = [
    await keyOfUser("ada"),
    await keyOfUser("ada"),
    await keyOfUser("bob"),
  ];
  const ask = serve(100_000, { tokens, maxConcurrent: 4, maxWaiting: 0 });
  for (const headers of [first, second, first, second])
    expect(await isAccepted(ask("", headers))).toBe(true);
  vi.advanceTimersByTime(1_500);
  expect(await isAccepted(ask("", bob))).toBe(true);
  expect(await isAccepted(ask("", bob))).toBe(true);
  expect(await isAccepted(ask("", bob))).toBe(false);
});

test("clients of the listener are told apart by their addresses", async () => {
  const files = [{ ...file!, content: "x".repeat(8 * MIB) }];
  const engine = scriptedEngine({ search: async () => ({ ...emptyResponse(), files }) });
  const handler = createHandler(engine, { anonymous: "all", maxConcurrent: 6, maxWaiting: 0 });
  await using server = await listen(createServer(toNodeListener(handler)));
  const { port } = new URL(server.origin);
  const ask = (localAddress: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asked = connect(
        { port, host: "127.0.0.1", localAddress, path: "/api/search", method: "POST" },
        resolve,
      );
      onTestFinished(() => void asked.destroy());
      asked.on("error", reject).end(JSON.stringify({ query: "x", matches: 1 }));
    });
  const unread = await Promise.all(Array.from({ length: 6 }, () => ask("127.0.0.1")));
  for (const { statusCode } of unread) expect(statusCode).toBe(200);
  expect((await ask("127.0.0.2")).statusCode).toBe(503);
  unread[0]!.on("error", () => {}).destroy();
  await expect.poll(async () => (await ask("127.0.0.2")).statusCode).toBe(200);
  unread[1]!.on("error", () => {}).destroy();
  expect((await ask("127.0.0.2")).statusCode).toBe(200);
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:0db8:0001:2::9", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["a socket", "a socket"],
])("the key of %s is %s", (address, key) => expect(keyOf(address)).toBe(key));

test.each([
  [{}, undefined],
  [{ "x-forwarded-for": "" }, undefined],
  [{ "x-forwarded-for": "198.51.100.1" }, "198.51.100.1"],
  [{ "x-forwarded-for": "invented, 198.51.100.1" }, "198.51.100.1"],
])("%j: the forwarded address is %s", (headers: Record<string, string>, address) =>
  expect(forwardedAddress(new Request("http://x", { headers }))).toBe(address),
);
