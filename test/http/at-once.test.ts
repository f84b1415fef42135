/** If a caller loses a right while a search runs, nothing that it covered is sent. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { lmdbTokenStore } from "../../src/auth/lmdb-stores.ts";
import { events } from "./interface.ts";
import { chunkEvent, emptyResponse, finalEvent, gate, scriptedEngine } from "./scripted.ts";
import {
  bearer,
  clientOf,
  mint,
  NOW,
  person,
  post,
  startService,
  type Service,
} from "./service.ts";

const needle = { query: "needle", matches: 100 };

type TakeAway = (service: Service, tokenId: string) => Promise<unknown>;
const TAKE_AWAY: Record<string, TakeAway> = {
  "the token is revoked": ({ tokens }, id) => tokens.revoke(id, NOW),
  "its key is revoked": async ({ tokens }, id) =>
    tokens.revoke((await tokens.get(id))!.mintedBy!, NOW),
  "its owner is suspended": ({ users }) => users.put(person("ada", { suspendedAt: NOW })),
  "its owner revokes it over HTTP": ({ handler, keys }, id) => {
    const init = { method: "DELETE", headers: bearer(keys.ada2) };
    return clientOf(handler)(`/api/ee/scoped_access_token/${id}`, init);
  },
  "it expires": async ({ tokens }, id) => {
    const { expiresAt } = (await tokens.get(id))!;
    vi.setSystemTime(expiresAt!);
  },
};

afterEach(() => void vi.useRealTimers());

test.each(Object.entries(TAKE_AWAY))(
  "a running search is rejected if %s",
  async (_name, takeAway) => {
    const began = gate();
    const goOn = gate();
    const search = async () => (began.open(), await goOn.opened, emptyResponse());
    const service = await startService({}, scriptedEngine({ search }));
    const { id, token } = await mint(service, service.keys.ada, [1]);
    const answer = clientOf(service.handler)("/api/search", post(needle, bearer(token)));
    await began.opened;
    await takeAway(service, id);
    goOn.open();
    expect((await answer).status).toBe(401);
  },
);

test.each(Object.entries(TAKE_AWAY))("a running stream ends if %s", async (_name, takeAway) => {
  const goOn = gate();
  let signal: AbortSignal | undefined;
  async function* stream(options: { signal?: AbortSignal }) {
    signal = options.signal;
    yield chunkEvent("first");
    await goOn.opened;
    yield chunkEvent("second");
    yield finalEvent();
  }
  const service = await startService({}, scriptedEngine({ stream }));
  const { id, token } = await mint(service, service.keys.ada, [1]);
  const response = await clientOf(service.handler)(
    "/api/stream_search",
    post(needle, bearer(token)),
  );
  const reader = response.body!.getReader();
  expect(Buffer.from((await reader.read()).value!).toString()).toContain("first");
  await takeAway(service, id);
  goOn.open();
  const rest = Buffer.from((await reader.read()).value!).toString();
  expect(events(rest)).toEqual([
    {
      type: "error",
      error: expect.objectContaining({ statusCode: 401, errorCode: "NOT_AUTHENTICATED" }),
    },
  ]);
  expect((await reader.read()).done).toBe(true);
  expect(signal?.aborted).toBe(true);
  expect(service.events.at(-1)).toMatchObject({
    action: "streamSearch",
    status: 401,
    outcome: "denied",
  });
});

test.each(["memory", "LMDB"])("a stream of a revoked API key ends: %s store", async (store) => {
  const path = mkdtempSync(join(tmpdir(), "quern-revoked-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  await using tokens = lmdbTokenStore(path);
  async function* stream() {
    yield chunkEvent("first");
    for await (const { id } of service.tokens.list("ada")) await service.tokens.revoke(id, NOW);
    yield chunkEvent("second");
  }
  const options = store === "LMDB" ? { tokens } : {};
  const service = await startService(options, scriptedEngine({ stream }));
  const asked = post(needle, bearer(service.keys.ada));
  const text = await (await clientOf(service.handler)("/api/stream_search", asked)).text();
  expect(text).not.toContain("second");
  expect(events(text).at(-1)).toMatchObject({ error: { errorCode: "NOT_AUTHENTICATED" } });
});

test("if the caller sees less at the end of a search, the search runs again on what is left", async () => {
  const viewers: number[][] = [];
  const search = async ({ viewer }: { viewer?: { repositoryIds: ReadonlySet<number> } }) => {
    viewers.push([...(viewer?.repositoryIds ?? [])]);
    service.visible.set("ada", new Set([1]));
    return emptyResponse();
  };
  const service = await startService({}, scriptedEngine({ search }));
  service.visible.set("ada", new Set([1, 2]));
  const response = await clientOf(service.handler)(
    "/api/search",
    post(needle, bearer(service.keys.ada)),
  );
  expect([response.status, viewers]).toEqual([200, [[1, 2], [1]]]);
});

test("a stream ends if its caller sees less before it is over", async () => {
  async function* stream() {
    yield chunkEvent("first");
    service.visible.set("ada", new Set([2]));
    yield chunkEvent("second");
  }
  const service = await startService({}, scriptedEngine({ stream }));
  const response = await clientOf(service.handler)(
    "/api/stream_search",
    post(needle, bearer(service.keys.ada)),
  );
  const text = await response.text();
  expect(text).not.toContain("second");
  expect(events(text).at(-1)).toMatchObject({ error: { errorCode: "INSUFFICIENT_PERMISSIONS" } });
});
